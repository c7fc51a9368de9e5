"""`make demo`: the service, a real small training run, imported public runs, the lineage of a model, its gate, a model
registry that asks that gate, and promises about training windows.

Everything lies below build/demo and begins anew each time. ONCE=1 stops the service at the end. What takes long to
start begins ahead of its turn, beside the rest; what it prints is shown when the turn comes.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.error import URLError
from urllib.request import urlopen

from demo_commands import PERSON, call, show, tell
from demo_contracts import baseline, check_months, lay_out
from demo_gates import GATE, candidates, decide_releases, last_decision
from demo_mlflow import move_the_champion, registry
from demo_slo import Live, promise, report

ROOT: Final = Path(__file__).resolve().parent.parent
BIN: Final = Path(sys.executable).parent
FOLDER: Final = Path("build/demo")
OUT: Final = FOLDER / "out"
PORT: Final = 8470
START_SECONDS: Final = 120
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
    with service(port) as tokens, registry(FOLDER / "mlflow", url, tokens["registry"]) as mlflow:
        ada, ben, eve, grace = (
            {**environ, "SHIPWORTHY_TOKEN": tokens[person], PERSON: person}
            for person in ("ada", "ben", "eve", "grace")
        )
        with baseline(environ) as measured:
            tell("Train a small model on a real table, through the client")
            call(["python", "examples/scikit_learn.py", "--out", str(OUT)], environ)
            import_runs(environ)
            live = promise(url, tokens["grace"])
            with candidates(OUT, ada) as trained:
                tell("What is the model made of?")
                call(["shipworthy", "lineage", "tumour-screening:1"], environ)
                tell(
                    "Check taxi months against a contract: February keeps it, the lockdown and a tenth don't"
                )
                check_months(FOLDER, measured, environ)
                tell(
                    "May a version ship? One may, after a review; one fails on a slice; one waits for somebody"
                )
                print("Nobody judges a thing of their own: ada trains, ben writes the policy, eve evaluates,")
                print("grace approves. Each has a key, whose owner stands before the $.", flush=True)
                decide_releases(OUT, trained, ada=ada, ben=ben, eve=eve, grace=grace)
        move_the_champion(mlflow, OUT, environ)
        report(live, environ)
        tell("Is every record, hash and signature in order?")
        call(["shipworthy-server", "fsck", "--data", str(FOLDER / "service")], environ)
        tell(f"Done in {time.monotonic() - began:.0f} s")
        if os.environ.get("ONCE"):
            return 0
        show_urls(url, waiting=last_decision(url, "tumour-screening:4"))
        wait_for_interrupt(live)
    return 0


def import_runs(environ: dict[str, str]) -> None:
    tell("Import public MLPerf runs: three seeds of one configuration, one aborted, one without an end")
    lora = [str(LOGS / LORA.format(number)) for number in range(3)]
    machines = ["--system", str(LOGS / "NVIDIA__systems__eos_ngc24.04_nemo.json")]
    call(["shipworthy", "import", "mlperf", *lora, *machines, *PUBLISHED], environ)
    call(["shipworthy", "import", "mlperf", *(str(LOGS / name) for name in OTHERS)], environ)
    tell("Which runs are there?")
    call(["shipworthy", "runs"], environ)


@contextmanager
def service(port: int) -> Iterator[dict[str, str]]:
    """The service on SQLite, which asks for no keys; stopped at the end of the block. Gives tokens of keys all the
    same: a gate wants to know who did what."""
    data = FOLDER / "service"
    command = ["shipworthy-server", "serve", "--open", "--port", str(port), "--data", str(data)]
    command += ["--root", f"taxi={FOLDER / 'taxi'}"]
    tell("Start the service on SQLite, open to this machine alone")
    show(command)
    log = FOLDER / "service.log"
    with log.open("wb") as output:
        # A session of its own: Ctrl-C is for the demo, which then stops the service.
        process = subprocess.Popen(
            [BIN / command[0], *command[1:]], stdout=output, stderr=output, start_new_session=True
        )
        # It imports what it needs while the service starts, and begins with the end of its input.
        keys = [sys.executable, str(Path(__file__).with_name("demo_keys.py")), str(data)]
        maker = subprocess.Popen(keys, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            wait_until_ready(process, port, log)
            made, _ = maker.communicate("\n")
            yield json.loads(made)
        finally:
            maker.kill()
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


def show_urls(url: str, waiting: str) -> None:
    print(
        f"""
The service goes on. Look at it, or use it from another terminal:

  {url}/                    what needs somebody now
  {url}/slo
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

Version 4 waits for somebody who may approve it, which takes a key of theirs:

  SHIPWORTHY_TOKEN=$({os.path.relpath(BIN)}/shipworthy-server keys create --data {FOLDER}/service \\
      --role approver --owner you@example.org --groups model-risk) \\
      {os.path.relpath(BIN)}/shipworthy review approve {waiting} --reason "…"
  {os.path.relpath(BIN)}/shipworthy gate evaluate --gate {GATE} tumour-screening:4

Ctrl-C stops it. What it recorded lies in {FOLDER}/service.""",
        flush=True,
    )


def wait_for_interrupt(live: Live) -> None:
    """Meanwhile the live run says that it lives, and saves no checkpoint."""
    try:
        while True:
            time.sleep(60)
            live.go_on()
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


if __name__ == "__main__":
    sys.exit(main())
