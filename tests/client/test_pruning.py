"""`shipworthy sync --prune`: what is sent whole and over may go, and nothing else."""

import json
import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from shipworthy.identity import new_run_id
from shipworthy.pruning import prune_folder
from shipworthy.state import StateFile
from shipworthy.sync import find_journals, sync_folder
from tests.client.cli.conftest import COMMAND
from tests.support.pipelines import environment, program, run_program, token_of, told
from tests.support.service import RunningService

WEEK = 7 * 86400.0
RECORDING = """
    import pathlib, shipworthy, sys
    with shipworthy.run("prune/train", run_id=sys.argv[1] if sys.argv[1:] else None, capture=False) as run:
        run.log(step=1, loss=1.0)
        run.keep_blob(b"uncommitted change")
    print(run.id)
"""


def make_older(folder: Path, seconds: float = 2 * WEEK) -> None:
    then = time.time() - seconds
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (then, then))


@pytest.fixture
def sent(tmp_path: Path, sqlite_service: RunningService) -> Path:
    """The folder of an ended run that the service has whole, two weeks ago."""
    run_id = run_program(RECORDING, tmp_path, {}).stdout.strip()
    client = sqlite_service.client("recorder")
    sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    folder = tmp_path / ".shipworthy" / run_id
    make_older(folder)
    return folder


def test_old_journal_that_was_sent_whole_goes(sent: Path) -> None:
    assert prune_folder(sent.parent, WEEK) == 1
    assert os.listdir(sent.parent) == []


def test_folder_of_one_run_can_be_pruned_alone(sent: Path) -> None:
    assert prune_folder(sent, WEEK) == 1
    assert not sent.exists()


def test_what_is_younger_stays(sent: Path) -> None:
    assert prune_folder(sent.parent, 3 * WEEK) == 0
    journal = next(sent.glob("*.jsonl"))
    os.utime(journal)
    assert prune_folder(sent.parent, WEEK) == 0
    assert journal.exists()


def test_what_is_not_sent_stays(tmp_path: Path) -> None:
    run_program(RECORDING, tmp_path, {})
    (journal,) = find_journals(tmp_path / ".shipworthy")
    make_older(journal.parent)
    assert prune_folder(tmp_path / ".shipworthy", WEEK) == 0
    assert journal.exists()


def test_one_line_more_than_was_sent_stays(sent: Path) -> None:
    with next(sent.glob("*.jsonl")).open("ab") as file:
        file.write(b'{"log":{"step":2,"t":1.0,"values":{}}}\n')
    make_older(sent)
    assert prune_folder(sent.parent, WEEK) == 0


def test_what_was_refused_stays(sent: Path) -> None:
    next(sent.glob("*.jsonl")).with_suffix(".refused").write_text("{}\n")
    make_older(sent)
    assert prune_folder(sent.parent, WEEK) == 0


def test_promise_that_waits_for_another_machine_stays(sent: Path) -> None:
    state = next(sent.glob("*.state"))
    told = json.loads(state.read_text())
    state.write_text(json.dumps(told | {"pending": {"k": {"what": "artifact"}}}))
    make_older(sent)
    assert prune_folder(sent.parent, WEEK) == 0


def test_run_that_never_said_how_it_ended_stays_for_a_month(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    source = "import os, shipworthy; run = shipworthy.run('prune/train', capture=False); os._exit(9)"
    run_program(source, tmp_path, {})
    client = sqlite_service.client("recorder")
    sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    make_older(tmp_path / ".shipworthy", 29 * 86400)
    assert prune_folder(tmp_path / ".shipworthy", WEEK) == 0
    make_older(tmp_path / ".shipworthy", 31 * 86400)
    assert prune_folder(tmp_path / ".shipworthy", 5 * WEEK) == 0
    assert prune_folder(tmp_path / ".shipworthy", WEEK) == 1


def test_unsent_lines_of_a_killed_run_stay_for_ever(tmp_path: Path) -> None:
    source = "import os, shipworthy; run = shipworthy.run('prune/train', capture=False); os._exit(9)"
    run_program(source, tmp_path, {})
    make_older(tmp_path / ".shipworthy", 300 * 86400)
    assert prune_folder(tmp_path / ".shipworthy", WEEK) == 0


def test_run_whose_next_attempt_goes_on_stays(
    sent: Path, tmp_path: Path, sqlite_service: RunningService
) -> None:
    source = "import os, sys, shipworthy; shipworthy.run('prune/train', run_id=sys.argv[1], capture=False); os._exit(9)"
    subprocess.run([*program(source), sent.name], cwd=tmp_path, env=environment(), check=False)
    client = sqlite_service.client("recorder")
    sync_folder(sent.parent, sqlite_service.url, token_of(client))
    make_older(sent)
    assert prune_folder(sent.parent, WEEK) == 0
    assert len(list(sent.glob("*.jsonl"))) == 2


def test_journal_that_another_process_sends_stays(sent: Path) -> None:
    holder = StateFile(next(sent.glob("*.jsonl")))
    assert holder.acquire() is not None
    assert prune_folder(sent.parent, WEEK) == 0
    holder.release()
    assert prune_folder(sent.parent, WEEK) == 1


def test_journal_that_a_process_writes_stays(tmp_path: Path, sqlite_service: RunningService) -> None:
    source = """
        import sys, shipworthy
        run = shipworthy.run("prune/train", capture=False)
        run.event("completed")
        print(run.id, flush=True)
        sys.stdin.readline()
    """
    client = sqlite_service.client("recorder")
    with subprocess.Popen(
        program(source),
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
        make_older(tmp_path / ".shipworthy")
        assert prune_folder(tmp_path / ".shipworthy", WEEK) == 0
        process.communicate(b"\n", timeout=30)


def test_what_a_killed_process_laid_aside_comes_back(sent: Path) -> None:
    aside = sent.with_name(f".pruned-{sent.name}-123")
    sent.rename(aside)
    assert prune_folder(sent.parent, WEEK) == 0
    # Its change time can't be set: as if it were two hours later.
    assert prune_folder(sent.parent, WEEK, now=time.time() + 7200) == 1
    assert os.listdir(sent.parent) == []


def test_pruning_beside_attempts_that_begin_loses_nothing(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    """Everything counts as old here, so that each journal may go in the moment it is sent."""
    client = sqlite_service.client("recorder")
    token, folder, run_id = token_of(client), tmp_path / ".shipworthy", new_run_id()
    source = """
        import shipworthy, sys
        for number in range(40):
            with shipworthy.run("prune/again", run_id=sys.argv[1], capture=False) as run:
                run.note(f"{number}")
    """
    over = threading.Event()
    pruned: list[int] = []

    def prune() -> None:
        while not over.is_set():
            if folder.exists() and list(find_journals(folder)):
                sync_folder(folder, sqlite_service.url, token)
                pruned.append(prune_folder(folder, -60))

    thread = threading.Thread(target=prune)
    thread.start()
    try:
        variables = environment(SHIPWORTHY_URL=sqlite_service.url, SHIPWORTHY_TOKEN=token)
        subprocess.run([*program(source), run_id], cwd=tmp_path, env=variables, check=True, timeout=120)
    finally:
        over.set()
        thread.join()
    if list(find_journals(folder)):
        sync_folder(folder, sqlite_service.url, token)
    assert sum(pruned) > 0
    assert sorted(map(int, told(client, run_id).notes())) == list(range(40))


def test_command_says_how_many_went(sent: Path, tmp_path: Path, sqlite_service: RunningService) -> None:
    token = token_of(sqlite_service.client("recorder"))
    variables = environment(SHIPWORTHY_URL=sqlite_service.url, SHIPWORTHY_TOKEN=token)

    def sync(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [COMMAND, "sync", *arguments],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )

    assert sync("--prune", "--older-than", "15d").stdout == "0 records of 1 run sent\n"
    assert sync("--older-than", "soon").returncode == 2
    assert sync("--prune", ".shipworthy").stdout == "0 records of 1 run sent; journals of 1 run deleted\n"
    assert not sent.exists()
