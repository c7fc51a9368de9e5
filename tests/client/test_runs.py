"""What a run says of itself, and that no call of it ever stops a training."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

import shipworthy
from tests.client.journals import bodies, events, merged_registration
from tests.support.pipelines import environment, program, run_program

pytestmark = pytest.mark.usefixtures("own_folder")


def test_first_line_registers_the_run_with_a_heartbeat(tmp_path: Path) -> None:
    with shipworthy.run("fraud/train", team="risk", tags={"purpose": "test"}, config={"lr": 0.1}) as run:
        pass
    first = bodies(run, "run.registered")[0]
    assert first["job"] == {"namespace": "fraud", "name": "train"}
    assert first["heartbeat"] == {"expected": True, "limit_seconds": 600}
    merged = merged_registration(run)
    assert merged["team"] == "risk"
    assert merged["tags"] == {"purpose": "test"}
    assert merged["config"]["values"] == {"lr": 0.1}
    assert {"code", "environment", "seeds"} <= merged.keys()
    assert [each.get("state", each["type"]) for each in events(run) if each["type"] != "note"] == [
        "attempt.started",
        "completed",
    ]


def test_secrets_of_the_config_never_reach_the_journal() -> None:
    with shipworthy.run("fraud/train", config={"lr": 0.1, "api_key": "hunter2hunter2"}) as run:
        pass
    assert run.folder is not None
    assert all(b"hunter2" not in path.read_bytes() for path in run.folder.glob("*.jsonl"))


@pytest.mark.parametrize(
    ("error", "state", "reason"),
    [
        (ValueError("no rows\nsecond line"), "failed", "ValueError: no rows"),
        (KeyboardInterrupt(), "aborted", "KeyboardInterrupt"),
        (SystemExit(3), "failed", "the program left with exit code 3"),
        (SystemExit(0), "completed", None),
        (
            RuntimeError("postgres://me:hunter2@db/x refused"),
            "failed",
            "RuntimeError: postgres://***@db/x refused",
        ),
    ],
)
def test_end_of_a_run_tells_why(error: BaseException, state: str, reason: str | None) -> None:
    run = shipworthy.run("fraud/train", capture=False)
    with pytest.raises(type(error)), run:
        raise error
    last = events(run)[-1]
    assert (last["state"], last.get("reason")) == (state, reason)


def test_run_that_was_not_finished_says_so(tmp_path: Path) -> None:
    run_program("import shipworthy; shipworthy.run('a/b', capture=False)", tmp_path, {})
    failing = "import shipworthy; run = shipworthy.run('a/b', capture=False); 1 / 0"
    run_program(failing, tmp_path, {})
    ends = [path.read_text().splitlines()[-1] for path in (tmp_path / ".shipworthy").glob("*/*.jsonl")]
    told = {(body["state"], body["reason"]) for body in (json.loads(line)["body"] for line in ends)}
    assert told == {
        ("aborted", "the process ended before run.finish() was called"),
        ("failed", "ZeroDivisionError: division by zero"),
    }


def test_no_argument_stops_a_training(capsys: pytest.CaptureFixture[str]) -> None:
    class Awkward:
        def __str__(self) -> str:
            raise RuntimeError("not even this")

    with shipworthy.run("fraud/train", data={"train": 3}, tags={"a": None}, capture=False) as run:
        run.log(step=1, loss=Awkward(), fine=2)
        run.log(step="one", loss=1.0)  # type: ignore[arg-type]
        run.checkpoint("does/not/exist", step=1)
        run.evaluation({"auc": object()})
        run.evaluation("nothing")  # type: ignore[arg-type]
        run.model_version("m", "1", "not a digest")
        run.snapshot(object(), role="train")
        run.event("paused" * 10_000)
    run.log(step=2, loss=1.0)
    assert events(run)[-1]["state"] == "completed"
    assert capsys.readouterr().err.count("shipworthy: ") <= 8


def test_run_that_can_not_be_recorded_does_nothing_and_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with shipworthy.run("fraud/train", run_id="no uuid") as run:
        run.log(step=1, loss=1.0)
        run.note("x")
    assert "the run is not recorded" in capsys.readouterr().err
    assert not (tmp_path / "journal").exists()


@pytest.mark.parametrize(
    "wrong", [{"run_id": "no uuid"}, {"data": {"train": 3}}, {"url": "ftp://x"}, {"on_sigterm": "maybe"}]
)
def test_strict_run_raises_for_a_wrong_argument(wrong: dict[str, Any]) -> None:
    with pytest.raises(shipworthy.UsageError):
        shipworthy.run("fraud/train", strict=True, capture=False, **wrong)


def test_strict_run_raises_where_others_warn() -> None:
    run = shipworthy.run("fraud/train", strict=True, capture=False)
    with pytest.raises(shipworthy.UsageError, match="needs an artifact"):
        run.model_version("m", "1")
    with pytest.raises(OSError, match="No such file"):
        run.checkpoint("does/not/exist", step=1)


def test_decorator_records_each_call_with_its_arguments() -> None:
    seen: list[shipworthy.Run] = []

    @shipworthy.track("fraud/train", capture=True)
    def train(rate: float, epochs: int = 3) -> float:
        run = shipworthy.current_run()
        assert run is not None
        seen.append(run)
        return rate * epochs

    assert train(0.5) == 1.5
    assert train(0.1, epochs=2) == pytest.approx(0.2)
    assert shipworthy.current_run() is None
    assert [merged_registration(run)["config"]["values"] for run in seen] == [
        {"rate": 0.5, "epochs": 3},
        {"rate": 0.1, "epochs": 2},
    ]


def test_import_alone_does_nothing(tmp_path: Path) -> None:
    source = """
        import sys, threading, signal
        import shipworthy
        heavy = {"ssl", "http.client", "subprocess", "asyncio", "email", "urllib.request", "uuid"} & set(sys.modules)
        print(heavy, threading.active_count(), signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
    """
    done = run_program(source, tmp_path, {"SHIPWORTHY_URL": "http://127.0.0.1:1"})
    assert done.stdout.strip() == "set() 1 True"
    assert list(tmp_path.iterdir()) == []


def test_signals_are_left_alone_unless_asked(tmp_path: Path) -> None:
    source = """
        import shipworthy, sys, time
        run = shipworthy.run("fraud/train", capture=False, on_sigterm=sys.argv[1] if len(sys.argv) > 1 else None)
        print(run.id, flush=True)
        time.sleep(60)
    """

    def killed(*arguments: str) -> tuple[int, str]:
        with subprocess.Popen(
            [*program(source), *arguments],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            run_id = process.stdout.readline().strip()
            process.send_signal(signal.SIGTERM)
            code = process.wait(20)
        (path,) = (tmp_path / ".shipworthy" / run_id).glob("*.jsonl")
        body = json.loads(path.read_text().splitlines()[-1])["body"]
        return code, body.get("state", body["type"])

    assert killed() == (-signal.SIGTERM, "attempt.started")
    assert killed("preempted") == (-signal.SIGTERM, "preempted")
    assert killed("aborted") == (-signal.SIGTERM, "aborted")


def test_ranks_of_one_launch_are_members_of_one_run(tmp_path: Path) -> None:
    source = """
        import os, shipworthy
        with shipworthy.run("fraud/train", config={"lr": 0.1}) as run:
            run.log(step=1, loss=1.0)
            run.phase("train")
        print(run.id)
    """
    launch = {
        "WORLD_SIZE": "3",
        "SHIPWORTHY_LAUNCH": "launch-1",
        "TORCHELASTIC_RUN_ID": "x",
        "LOCAL_WORLD_SIZE": "3",
    }
    ids = {
        run_program(source, tmp_path, launch | {"RANK": str(rank), "LOCAL_RANK": str(rank)}).stdout.strip()
        for rank in range(3)
    }
    assert len(ids) == 1
    journals = {
        path.name[:6]: path.read_text() for path in (tmp_path / ".shipworthy" / ids.pop()).glob("*.jsonl")
    }
    assert sorted(journals) == ["rank-0", "rank-1", "rank-2"]
    assert ["run.registered" in journals[f"rank-{rank}"] for rank in range(3)] == [True, False, False]
    assert ['"state":"completed"' in journals[f"rank-{rank}"] for rank in range(3)] == [True, False, False]
    assert '"process":"rank-2"' in journals["rank-2"]
