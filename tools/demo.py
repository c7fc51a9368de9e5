"""`make demo`: the service, a real small training run, imported public runs, the lineage of a model, its gate, and a
model registry that asks that gate.

Everything lies below build/demo and begins anew each time. ONCE=1 stops the service at the end.
"""

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.error import URLError
from urllib.request import urlopen

from demo_contracts import check_months, lay_out
from demo_gates import decide_releases, make_keys
from demo_mlflow import make_registry_key, move_the_champion, registry

ROOT: Final = Path(__file__).resolve().parent.parent
BIN: Final = Path(sys.executable).parent
FOLDER: Final = Path("build/demo")
PORT: Final = 8470
START_SECONDS: Final = 30
STOP_SECONDS: Final = 15

LOGS: Final = Path("tests/data/mlperf")
LORA: Final = "NVIDIA__results__eos_ngc24.04_nemo__llama2_70b_lora__result_{}.txt"
OTHERS: Final = (
    "NVIDIA__results__eos_n8_ngc24.04_mxnet__resnet__result_4.txt",
    "tinycorp__results__tinybox_green__resnet__result_0.txt",
)
PUBLISHED: Final = (
    "--repository", "https://github.com/mlcommons/training_results_v4.0",
    "--commit", "62f111b7690f163b269f32e4f93dcaaa13717c9c",
    "--release", "v4.0",
)  # fmt: skip


def main() -> int:
    # Like Ctrl-C at any time: what was started is stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.chdir(ROOT)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    port = free_port(PORT)
    url = f"http://127.0.0.1:{port}"
    began = time.monotonic()
    lay_out(FOLDER / "taxi")
    environ = {**os.environ, "SHIPWORTHY_URL": url, "SHIPWORTHY_DIR": str(FOLDER / "journal")}
    environ.pop("SHIPWORTHY_TOKEN", None)
    environ["PATH"] = f"{BIN}{os.pathsep}{environ.get('PATH', '')}"
    tokens = make_keys(call, FOLDER / "service", environ)
    guard = make_registry_key(call, FOLDER / "service", environ)
    # The registry first, which has the longest way to go.
    with service(port), registry(FOLDER / "mlflow", url, guard) as mlflow:
        tell(
            "Check taxi months against a contract: February keeps it, the lockdown and a tenth of February don't"
        )
        check_months(call, FOLDER, environ)
        tell("Train a small model on a real table, through the client")
        call(["python", "examples/scikit_learn.py", "--out", str(FOLDER / "out")], environ)
        tell("Import public MLPerf runs: three seeds of one configuration, one aborted, one without an end")
        lora = [str(LOGS / LORA.format(number)) for number in range(3)]
        machines = ["--system", str(LOGS / "NVIDIA__systems__eos_ngc24.04_nemo.json")]
        call(["shipworthy", "import", "mlperf", *lora, *machines, *PUBLISHED], environ)
        call(["shipworthy", "import", "mlperf", *(str(LOGS / name) for name in OTHERS)], environ)
        tell("Which runs are there?")
        call(["shipworthy", "runs"], environ)
        tell("What is the model made of?")
        call(["shipworthy", "lineage", "tumour-screening:1"], environ)
        tell("May a version ship? One may, after a review; one fails on a slice; one waits for somebody")
        decide_releases(call, FOLDER / "out", environ, tokens)
        move_the_champion(call, tell, mlflow, FOLDER / "out", environ)
        tell("Is every record, hash and signature in order?")
        call(["shipworthy-server", "fsck", "--data", str(FOLDER / "service")], environ)
        tell(f"Done in {time.monotonic() - began:.0f} s")
        if os.environ.get("ONCE"):
            return 0
        show_urls(url)
        wait_for_interrupt()
    return 0


@contextmanager
def service(port: int) -> Iterator[None]:
    """The service on SQLite without keys; stopped at the end of the block."""
    command = ["shipworthy-server", "serve", "--open", "--port", str(port), "--data", str(FOLDER / "service")]
    command += ["--root", f"taxi={FOLDER / 'taxi'}"]
    tell("Start the service on SQLite, open to this machine alone")
    show(command)
    log = FOLDER / "service.log"
    with log.open("wb") as output:
        # A session of its own: Ctrl-C is for the demo, which then stops the service.
        process = subprocess.Popen(
            [BIN / command[0], *command[1:]], stdout=output, stderr=output, start_new_session=True
        )
        try:
            wait_until_ready(process, port, log)
            yield
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_until_ready(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise SystemExit(f"The service did not start; {log} says:\n{log.read_text(errors='replace')}")


def call(
    command: list[str],
    environ: Mapping[str, str],
    *,
    expected: int = 0,
    capture: bool = False,
    secret: bool = False,
) -> "subprocess.CompletedProcess[str]":
    """Shows a command and runs it; ends the demo when its exit code is not the expected one. Of a `secret` one neither
    the command nor what it prints is shown."""
    if not secret:
        show(command)
    program = shutil.which(command[0], path=environ["PATH"])
    if program is None:
        raise SystemExit(f"{command[0]} is not installed; run `make install`")
    output = subprocess.PIPE if capture or secret else None
    messages = subprocess.PIPE if secret else None
    done = subprocess.run(
        [program, *command[1:]], env=environ, check=False, stdout=output, stderr=messages, text=True
    )
    if capture:
        print(done.stdout, end="", flush=True)
    if done.returncode != expected:
        said = f": {done.stderr}" if done.stderr else ""
        raise SystemExit(f"{shlex.join(command)} ended with {done.returncode}; the demo stops here{said}")
    return done


def show_urls(url: str) -> None:
    print(
        f"""
The service goes on. Look at it, or use it from another terminal:

  {url}/decisions
  {url}/models/tumour-screening/versions/4
  {url}/registry
  {url}/contract-checks
  {url}/v1/models/tumour-screening/versions/1/lineage
  {url}/v1/runs
  {url}/openapi.json

  export SHIPWORTHY_URL={url}
  {os.path.relpath(BIN)}/shipworthy runs
  {os.path.relpath(BIN)}/shipworthy exec -- python your_training.py

Ctrl-C stops it. What it recorded lies in {FOLDER}/service.""",
        flush=True,
    )


def wait_for_interrupt() -> None:
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        print("\nStopping the service.", flush=True)


def free_port(wanted: int) -> int:
    """The wanted port, or another one when something listens there."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            # As servers set it: a port in TIME_WAIT is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise SystemExit("no free port on 127.0.0.1")


def tell(sentence: str) -> None:
    print(f"\n── {sentence} ──", flush=True)


def show(command: list[str]) -> None:
    print(f"$ {shlex.join(command)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
