"""`shipworthy checkpoint restore-test`: a command of the user's restores a checkpoint; what came of it is recorded."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from shipworthy.cli.restoring import PARTS, parts_of
from shipworthy.errors import UsageError
from shipworthy.formats.manifest import hash_tree, manifest_digest
from tests.client.cli.conftest import Done, Shipworthy, connect
from tests.support.bodies import Body, make_checkpoint, make_start, make_verification
from tests.support.calls import log_size, post
from tests.support.databases import sqlite_copy
from tests.support.service import RunningService, running_service
from tests.support.workers import has_ended

PAGE = Path(__file__).resolve().parents[3] / "docs/checkpoints.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
REPORT = "open(os.environ['SHIPWORTHY_RESTORED'], 'w').write({!r})"


@dataclass(frozen=True)
class Saved:
    """A checkpoint that a run recorded, and somebody who may test it."""

    path: Path
    digest: str
    recorder: httpx.Client
    shipworthy: Shipworthy

    def test(self, code: str, *options: str) -> Done:
        """With `python -c CODE` as the command."""
        command = [sys.executable, "-c", f"import os, sys; {code}"]
        return self.shipworthy("checkpoint", "restore-test", str(self.path), *options, "--", *command)

    def shown(self) -> Body:
        found: Body = self.recorder.get(f"/v1/checkpoints/{self.digest}").json()
        return found


@pytest.fixture(scope="module")
def shared(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("checkpoints")
    urls = sqlite_copy(sqlite_template, folder / "shipworthy.sqlite3")
    with running_service(urls, folder / "data") as running:
        yield running


@pytest.fixture
def saved(
    shared: RunningService, shipworthy: Shipworthy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Saved:
    """A folder with model and optimizer, different for each test."""
    recorder = connect(shared, monkeypatch)
    path = tmp_path / "ckpt" / "600"
    path.mkdir(parents=True)
    (path / "model.pt").write_bytes(os.urandom(64))
    (path / "optimizer.pt").write_bytes(b"moments")
    digest = manifest_digest(hash_tree(path))
    run = make_start(checkpoints=[make_checkpoint(digest=digest, contains=["model", "optimizer"])])
    assert post(recorder, "/v1/runs", run).status_code == 201
    return Saved(path, digest, recorder, shipworthy)


def test_command_that_restores_all_of_it_raises_the_level(saved: Saved) -> None:
    code = (
        "assert sys.argv[1] == os.environ['SHIPWORTHY_CHECKPOINT']; "
        "assert os.path.isabs(sys.argv[1]) and os.listdir(sys.argv[1]); print('restoring'); "
        + REPORT.format('["model", "optimizer", "rng"]')
    )
    done = saved.test(code)
    assert (done.code, done.out.splitlines()[0].split("  ")[0]) == (0, "✓ restore_tested")
    assert "restoring" in done.err, "what the command prints is not mixed with the result"
    shown = saved.shown()
    assert shown["effective_level"] == "restore_tested"
    newest = shown["verifications"]["items"][0]
    assert newest["contains"] == ["model", "optimizer", "rng"]
    assert (newest["evidence_level"], newest["outcome"]) == ("self_reported", "passed")
    assert newest["method"] == f"shipworthy checkpoint restore-test with {Path(sys.executable).name}"


def test_command_of_a_worker_counts_as_a_workers(
    saved: Saved, shared: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = shared.client("worker")
    monkeypatch.setenv("SHIPWORTHY_TOKEN", worker.headers["authorization"].removeprefix("Bearer "))
    assert saved.test("", "--restored", "model,optimizer").code == 0
    assert saved.shown()["verifications"]["items"][0]["evidence_level"] == "trusted_runner"


def test_success_mends_what_failed_before(saved: Saved) -> None:
    for level in ("checksummed", "loaded", "restore_tested"):
        body = make_verification(level=level, outcome="failed")
        path = f"/v1/checkpoints/{saved.digest}/verifications"
        assert post(saved.recorder, path, body).status_code == 201
    assert saved.shown()["effective_level"] == "written"
    assert saved.test("", "--restored", "model,optimizer").code == 0
    assert saved.shown()["effective_level"] == "restore_tested"


def test_part_that_was_saved_and_not_restored_leaves_it_at_loaded(saved: Saved) -> None:
    done = saved.test(REPORT.format("model\n"))
    assert done.code == 1
    assert "loaded, not restore_tested" in done.out
    assert "not restored, though it is in there: optimizer" in done.out
    assert saved.shown()["effective_level"] == "loaded"


def test_command_that_fails_takes_the_level_away(saved: Saved) -> None:
    assert saved.test("", "--restored", "model,optimizer").code == 0
    done = saved.test("sys.exit(3)")
    assert done.code == 1
    assert "ended with exit code 3" in done.out
    assert saved.shown()["effective_level"] == "loaded"
    assert saved.test("os.abort()").code == 1
    assert "SIGABRT" in saved.shown()["verifications"]["items"][0]["detail"]


@pytest.mark.parametrize(
    ("code", "options", "sentence"),
    [
        ("", (), "did not say what it restored"),
        (REPORT.format("[]"), (), "did not say what it restored"),
        ("import time; time.sleep(600)", ("--timeout", "1"), "its --timeout"),
        ("os.kill(os.getpid(), 9)", (), "ended by SIGKILL"),
        (
            "open(sys.argv[1] + '/model.pt', 'ab').write(b'x')",
            ("--restored", "model"),
            "changed the checkpoint",
        ),
    ],
)
def test_test_that_tells_nothing_records_nothing(
    saved: Saved, code: str, options: tuple[str, ...], sentence: str
) -> None:
    size = log_size(saved.recorder)
    done = saved.test(code, *options)
    assert done.code == 4, done
    assert sentence in done.out
    assert "nothing was recorded" in done.err
    assert log_size(saved.recorder) == size


def test_answer_for_programs_has_everything(saved: Saved) -> None:
    done = saved.test("print('not JSON'); " + REPORT.format('"optimizer"\n"model"'), "--json")
    answer = json.loads(done.out)
    assert answer == {
        "checkpoint": saved.digest,
        "level": "restore_tested",
        "outcome": "passed",
        "restored": ["model", "optimizer"],
        "detail": answer["detail"],
        "record": saved.shown()["verifications"]["items"][0]["record"],
    }
    unjudged = json.loads(saved.test("", "--json").out)
    assert (unjudged["outcome"], unjudged["level"], unjudged["record"]) == ("not_judged", None, None)


def test_checkpoint_that_nobody_recorded_is_told_before_the_command_runs(saved: Saved) -> None:
    (saved.path / "more").touch()
    ran = saved.path.parent / "ran"
    done = saved.test(f"open({str(ran)!r}, 'w')", "--restored", "model")
    assert (done.code, ran.exists()) == (1, False)
    assert "no checkpoint with this digest" in done.err


def test_what_the_command_started_ends_with_it(saved: Saved) -> None:
    beat, pid = saved.path.parent / "beat", saved.path.parent / "pid"
    child = f"import time\nwhile True: open({str(beat)!r}, 'a').write('x'); time.sleep(0.05)"
    command = shlex.join([sys.executable, "-c", child])
    code = (
        f"import subprocess, time; started = subprocess.Popen({command!r}, shell=True)\n"
        f"while not os.path.exists({str(beat)!r}): time.sleep(0.05)\n"
        f"open({str(pid)!r}, 'w').write(str(started.pid))"
    )
    assert saved.test(code, "--restored", "model,optimizer").code == 0
    assert has_ended(int(pid.read_text()))


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("nowhere", "--", "true"), 2, "there is no file or folder"),
        ((".", "--restored", "weights", "--", "true"), 2, "'weights'"),
        ((".", "--timeout", "0", "--", "true"), 2, "timeout"),
        (("somewhere",), 2, "CMD"),
    ],
)
def test_wrong_use_is_told(saved: Saved, arguments: tuple[str, ...], code: int, sentence: str) -> None:
    done = saved.shipworthy("checkpoint", "restore-test", *arguments)
    assert done.code == code
    assert sentence in done.err


def test_command_that_is_not_there_is_wrong_use(saved: Saved) -> None:
    size = log_size(saved.recorder)
    done = saved.shipworthy("checkpoint", "restore-test", str(saved.path), "--", "no-such-command")
    assert (done.code, "there is no such command" in done.err) == (2, True)
    strange = saved.test(REPORT.format("weights"))
    assert (strange.code, "'weights'" in strange.err) == (2, True)
    assert log_size(saved.recorder) == size


def test_service_that_is_away_ends_before_the_command_runs(
    saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = saved.path.parent / "ran"
    code = f"open({str(ran)!r}, 'w')"
    monkeypatch.setenv("SHIPWORTHY_URL", "http://127.0.0.1:9")
    assert saved.test(code).code == 5
    monkeypatch.delenv("SHIPWORTHY_URL")
    assert saved.test(code).code == 2
    assert not ran.exists()


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_of_the_page_run_as_written(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        '["model", "data position"]',
        "model\ndata_position\n",
        "data-position, model",
        '"model"\r\n"data position"\n\n',
        "Model,DATA_POSITION,",
    ],
)
def test_parts_are_read_as_list_or_lines(text: str) -> None:
    assert parts_of(text, "it") == ("model", "data_position")


@pytest.mark.parametrize("text", ['{"model": true}', '["model", 1]', "[", "weights", "model optimizer"])
def test_parts_that_nobody_knows_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=", ".join(PARTS)):
        parts_of(text, "it")
