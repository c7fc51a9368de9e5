"""`exec` and `sync`: programs pass through untouched, and what they were is recorded."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.client.cli.conftest import COMMAND, connect, spawn
from tests.support.pipelines import environment
from tests.support.service import RunningService
from tests.support.weather import hanging


def only_run(client: httpx.Client) -> dict[str, Any]:
    (run,) = client.get("/v1/runs").json()["items"]
    return dict(client.get(f"/v1/runs/{run['run_id']}").json())


def reason_of(client: httpx.Client, run_id: str) -> str:
    records = client.get(f"/v1/runs/{run_id}/records").json()["items"]
    bodies = [client.get(f"/v1/records/{each['record']}").json()["body"] for each in records]
    (reason,) = [body["reason"] for body in bodies if body.get("state") in ("failed", "aborted")]
    return str(reason)


def test_output_and_exit_code_pass_through(recorder: httpx.Client) -> None:
    done = spawn("exec", "--job", "fraud/train", "--", "sh", "-c", "printf 'a\\0b'; printf oops >&2; exit 3")
    assert (done.code, done.out, done.err) == (3, "a\0b", "oops")
    run = only_run(recorder)
    assert (run["state"], run["identity"]["job"]) == ("failed", {"namespace": "fraud", "name": "train"})
    assert reason_of(recorder, run["run_id"]) == "exit code 3"
    config = run["documents"][run["ingredients"]["config"]]
    assert config["values"]["command"][:2] == ["sh", "-c"]


def test_input_passes_through(sqlite_recorder: httpx.Client) -> None:
    done = subprocess.run([COMMAND, "exec", "--", "cat"], input=b"\xff\x00", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"\xff\x00")


def test_data_and_artifacts_are_recorded_by_digest(sqlite_recorder: httpx.Client) -> None:
    Path("in.txt").write_text("words")
    options = ["--data", "text=in.txt", "--artifact", "counts=out.txt", "--tag", "purpose=test"]
    assert spawn("exec", *options, "--", "cp", "in.txt", "out.txt").code == 0
    run = only_run(sqlite_recorder)
    assert [(each["role"], each["grade"]) for each in run["inputs"]] == [("text", "content")]
    assert [each["role"] for each in run["artifacts"]] == ["counts"]
    assert run["tags"] == {"purpose": "test"}
    assert run["state"] == "completed"


def test_data_that_is_not_there_is_warned_of_and_nothing_fails(sqlite_recorder: httpx.Client) -> None:
    elsewhere = ["--data", "old=s3://bucket/old.csv", "--data", f"digest=sha256:{'a' * 64}"]
    done = spawn("exec", "--data", "train=nofile.csv", *elsewhere, "--", "true")
    said = "shipworthy: --data train=nofile.csv: there is no such file or folder; it is recorded without a digest\n"
    assert (done.code, done.err) == (0, said)
    assert {each["role"] for each in only_run(sqlite_recorder)["inputs"]} == {"train", "old", "digest"}


def test_the_time_of_its_data_is_recorded_once_for_exec_and_the_program_in_it(
    sqlite_recorder: httpx.Client,
) -> None:
    another = "2020-01-01T00:00:00Z/2020-01-02T00:00:00Z"
    program = f"import shipworthy\nwith shipworthy.run('a/b', data_interval='{another}'): pass"
    own = ["--", sys.executable, "-c", program]
    interval = "2026-11-29T00:00:00Z/2026-11-30T00:00:00Z"
    assert spawn("exec", "--data-interval", interval, *own).code == 0
    run = only_run(sqlite_recorder)
    assert run["identity"]["data_interval"]["end"] == "2026-11-30T00:00:00.000Z"
    assert run["conflicts"] == []
    wrong = spawn("exec", "--data-interval", "yesterday", *own)
    assert (wrong.code, "START/END" in wrong.err) == (2, True)


def test_a_signal_that_ends_the_program_ends_exec_the_same_way(sqlite_recorder: httpx.Client) -> None:
    done = spawn("exec", "--", "sh", "-c", "kill -SEGV $$")
    assert done.code == -signal.SIGSEGV
    run = only_run(sqlite_recorder)
    assert (run["state"], reason_of(sqlite_recorder, run["run_id"])) == ("failed", "ended by SIGSEGV")


def test_signals_reach_the_program(sqlite_recorder: httpx.Client) -> None:
    script = "trap 'echo saved; exit 7' TERM; echo ready; while :; do sleep 0.05; done"
    with subprocess.Popen(
        [COMMAND, "exec", "--", "sh", "-c", script], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "saved\n"
        assert process.wait(30) == 7
    run = only_run(sqlite_recorder)
    assert run["state"] == "aborted"
    assert reason_of(sqlite_recorder, run["run_id"]) == "exit code 7 after a signal"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_signal_after_the_program_leaves_its_exit_code(number: signal.Signals, tmp_path: Path) -> None:
    with (
        hanging() as port,
        subprocess.Popen(
            [COMMAND, "exec", "--", "true"],
            env=environment(SHIPWORTHY_URL=f"http://127.0.0.1:{port}", SHIPWORTHY_DIR=str(tmp_path / "kept")),
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        while not any(b'"completed"' in path.read_bytes() for path in tmp_path.glob("kept/*/*.jsonl")):
            time.sleep(0.02)
        process.send_signal(number)
        _, told = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "records are kept" in told


@pytest.mark.parametrize(("mode", "code"), [(None, 127), (0o644, 126)])
def test_program_that_can_not_run_ends_as_in_a_shell(
    sqlite_recorder: httpx.Client, mode: int | None, code: int
) -> None:
    if mode is not None:
        Path("program").write_text("no program")
        os.chmod("program", mode)
    done = spawn("exec", "--", "./program")
    assert (done.code, done.out) == (code, "")
    assert only_run(sqlite_recorder)["state"] == "failed"


def test_without_a_service_all_is_kept_until_sync(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("in.txt").write_text("words")
    done = spawn("exec", "--data", "text=in.txt", "--", "sh", "-c", "echo fine")
    assert (done.code, done.out) == (0, "fine\n")
    kept = re.fullmatch(
        r"shipworthy: (\d+) records are kept, not sent yet: SHIPWORTHY_URL names no service; set it to the address of "
        r"one, then send them with: shipworthy sync \.shipworthy\n",
        done.err,
    )
    assert kept is not None
    client = connect(service, monkeypatch)
    assert f"{kept[1]} records in {Path.cwd()}/.shipworthy not sent yet" in spawn("doctor").out
    report = json.loads(spawn("sync", ".shipworthy", "--json").out)
    assert report["sent"] == int(kept[1])
    assert (report["runs"], report["refused"], report["kept"]) == (1, 0, 0)
    assert report["sent"] >= 3
    assert only_run(client)["state"] == "completed"
    again = spawn("sync")
    assert (again.code, again.out) == (0, "0 records of 1 run sent\n")


def test_a_service_that_is_away_changes_nothing() -> None:
    done = spawn("exec", "--", "sh", "-c", "exit 4", SHIPWORTHY_URL="http://127.0.0.1:9")
    assert done.code == 4
    assert "shipworthy sync" in done.err


def test_sync_of_a_folder_without_journals_is_exit_1() -> None:
    done = spawn("sync", "nowhere", SHIPWORTHY_URL="http://127.0.0.1:9")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "holds no journal" in done.err


def test_sync_tells_unreachable_from_a_refused_key(sqlite_service: RunningService) -> None:
    assert spawn("exec", "--", "true").code == 0
    assert spawn("sync", SHIPWORTHY_URL="http://127.0.0.1:9").code == 5
    assert spawn("sync", SHIPWORTHY_URL=sqlite_service.url, SHIPWORTHY_TOKEN="sw_wrong").code == 6
    assert spawn("sync").code == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["exec"], "no program to run"),
        (["exec", "--data", "train", "--", "true"], "write ROLE=PATH"),
        (["exec", "--bogus", "--", "true"], "--bogus is no option of exec"),
        (["exec", "--job", "a/b", "true", "now"], "put -- before the program: shipworthy exec -- true now"),
    ],
)
def test_wrong_use_runs_nothing(arguments: list[str], sentence: str) -> None:
    done = spawn(*arguments)
    assert (done.code, done.out) == (2, "")
    assert sentence in done.err
    assert not Path(".shipworthy").exists()


_BARE = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"typer", "rich", "httpx", "click"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None

sys.meta_path.insert(0, Missing())
sys.argv = ["shipworthy", *sys.argv[1:]]
from shipworthy.cli.main import app
app()
"""


def bare(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line where the extra `cli` is not installed."""
    command = [sys.executable, "-c", _BARE, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_exec_and_sync_need_the_standard_library_alone(sqlite_recorder: httpx.Client) -> None:
    done = bare("exec", "--", "sh", "-c", "echo light; exit 5")
    assert (done.returncode, done.stdout, done.stderr) == (5, "light\n", "")
    assert bare("sync").stdout == "0 records of 1 run sent\n"
    assert only_run(sqlite_recorder)["state"] == "failed"


def test_help_without_the_extra_lists_what_works_and_what_to_install() -> None:
    for arguments in ([], ["-h"], ["--help"]):
        done = bare(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        assert "  sync    Send what journals" in done.stdout
        assert done.stdout.endswith("need: pip install 'shipworthy[cli]'\n")


def test_query_client_without_the_extra_names_it() -> None:
    source = _BARE.partition("sys.argv =")[0] + "from shipworthy.query.client import ShipworthyClient"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: shipworthy.query needs the package httpx; install the extra that brings it: "
        "pip install 'shipworthy[cli]'"
    )


def test_other_commands_say_what_to_install() -> None:
    done = bare("runs")
    assert done.returncode == 2
    assert "pip install 'shipworthy[cli]'" in done.stderr
    assert done.stderr.count("\n") == 1
