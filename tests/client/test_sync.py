"""Journals sent later, by another process, from another place."""

import json
import subprocess
from pathlib import Path

import pytest

from shipworthy.cli.sync import told as told_by_sync
from shipworthy.errors import JournalError, NotDelivered
from shipworthy.formats.manifest import hash_tree, manifest_digest
from shipworthy.state import SendState, StateFile, read_state
from shipworthy.sync import find_journals, sync_folder
from tests.client.journals import killed
from tests.support.pipelines import environment, program, run_program, token_of, told
from tests.support.service import RunningService
from tests.support.weather import CuttingProxy


def test_promises_of_a_killed_process_are_kept_by_sync(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    run_id = killed(tmp_path)
    (tmp_path / "gone.bin").unlink()
    client = sqlite_service.client("recorder")
    report = sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    assert (report.refused, report.unhashed, report.kept) == (0, 0, 0)
    digest = manifest_digest(hash_tree(tmp_path / "model.bin"))
    found = told(client, run_id)
    assert found.bodies["artifact"][0]["digest"] == digest
    assert found.bodies["evaluation.completed"][0]["subject"] == digest
    assert client.get("/v1/models/promised/versions/1").json()["artifact"] == digest
    assert "checkpoint.saved" not in found.bodies
    assert any("gone.bin has no digest" in note for note in found.notes())


def test_promises_whose_files_are_elsewhere_wait_for_their_machine(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    run_id = killed(tmp_path)
    (journal,) = find_journals(tmp_path / ".shipworthy")
    journal.write_text(
        journal.read_text().replace('"host":"', '"host":"another-').replace(str(tmp_path), "/elsewhere")
    )
    client = sqlite_service.client("recorder")
    report = sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    assert report.unhashed == 4
    assert "artifact" not in told(client, run_id).bodies
    assert sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client)).unhashed == 4


def test_running_job_is_synced_and_goes_on(tmp_path: Path, sqlite_service: RunningService) -> None:
    source = """
        import shipworthy, sys
        with shipworthy.run("sync/running", capture=False) as run:
            run.log(step=1, loss=1.0)
            print(run.id, flush=True)
            sys.stdin.readline()
            run.log(step=2, loss=0.5)
    """
    client = sqlite_service.client("recorder")
    with subprocess.Popen(
        program(source),
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        run_id = process.stdout.readline().strip()
        sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
        assert told(client, run_id).steps() == [1]
        process.stdin.close()
        assert process.wait(30) == 0
    sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    found = told(client, run_id)
    assert (found.steps(), found.states()) == ([1, 2], ["completed"])


def test_refused_record_harms_no_other_and_can_be_tried_again(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    source = """
        import shipworthy
        with shipworthy.run("sync/refused", capture=False, tags={"bad": "x" * 20_000}, team="risk") as run:
            run.event("paused")
            run.log(step=1, loss=1.0)
        print(run.id)
    """
    client = sqlite_service.client("recorder")
    run_id = run_program(source, tmp_path, {}).stdout.strip()
    report = sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    assert report.refused == 2
    found = told(client, run_id)
    assert (found.steps(), found.states()) == ([1], ["completed"])
    (refused,) = (tmp_path / ".shipworthy").glob("*/*.refused")
    reasons = [json.loads(line) for line in refused.read_text().splitlines()]
    assert [each["status"] for each in reasons] == [422, 422]
    assert "/state" in reasons[1]["detail"]
    again = sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client), again=True)
    assert again.refused == 2
    assert len(refused.read_text().splitlines()) == 2


def test_ranks_are_taken_before_the_rank_that_registers_the_run(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    launch = {"WORLD_SIZE": "2", "SHIPWORTHY_LAUNCH": "l", "TORCHELASTIC_RUN_ID": "x"}
    source = """
        import shipworthy
        with shipworthy.run("sync/ranks", capture=False) as run:
            run.log(step=1, loss=1.0)
        print(run.id)
    """
    run_id = run_program(source, tmp_path, launch | {"RANK": "1"}).stdout.strip()
    client = sqlite_service.client("recorder")
    alone = sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    assert (alone.unregistered, alone.kept, alone.waiting) == (1, 1, 1)
    assert "1 kept: their run is not registered yet" in told_by_sync(alone)
    assert "another process" not in told_by_sync(alone)
    assert run_program(source, tmp_path, launch | {"RANK": "0"}).stdout.strip() == run_id
    assert sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client)).unregistered == 0
    assert told(client, run_id).steps() == [1, 1]


def test_chunk_keeps_its_lines_when_more_come_before_it_is_sent_again(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    """The answer is lost, the job goes on writing, then the journal is sent again: no line twice."""
    source = """
        import shipworthy, sys
        run = shipworthy.run("sync/chunk", capture=False)
        print(run.id, flush=True)
        for line in sys.stdin:
            run.log(step=int(line), loss=1.0)
            print("ok", flush=True)
    """
    client = sqlite_service.client("recorder")
    token = token_of(client)
    folder = tmp_path / ".shipworthy"
    with subprocess.Popen(
        program(source),
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        run_id = process.stdout.readline().strip()
        with CuttingProxy(
            int(sqlite_service.url.rpartition(":")[2]), lambda request: b"records:batch" in request
        ) as proxy:
            for step in range(6):
                print(step, file=process.stdin, flush=True)
                process.stdout.readline()
                with pytest.raises(NotDelivered):
                    sync_folder(folder, f"http://127.0.0.1:{proxy.port}", token)
        process.stdin.close()
    sync_folder(folder, sqlite_service.url, token)
    assert told(client, run_id).steps() == list(range(6))


def test_folder_without_a_journal_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "launches").mkdir()
    with pytest.raises(JournalError, match="holds no journal"):
        sync_folder(tmp_path, "http://127.0.0.1:1", None)


def test_journal_is_sent_by_one_process_at_a_time(tmp_path: Path) -> None:
    first, second = StateFile(tmp_path / "main.jsonl"), StateFile(tmp_path / "main.jsonl")
    state = first.acquire()
    assert state is not None
    assert state.sent == 0
    assert second.acquire() is None
    state.sent = 7
    first.save(state)
    first.release()
    found = second.acquire()
    assert found is not None
    assert found.sent == 7
    second.release()


def test_damaged_state_sends_everything_again(tmp_path: Path) -> None:
    path = tmp_path / "main.state"
    for text in ("", "[]", '{"sent": "x"}', '{"sent": 3', "null"):
        path.write_text(text)
        assert vars(read_state(path)) == vars(SendState())
