"""What `sync` and the end of a process say is kept and sent: the same numbers."""

from pathlib import Path

import pytest

from shipworthy.cli.sync import told as told_by_sync
from shipworthy.errors import NotDelivered
from shipworthy.state import StateFile
from shipworthy.sync import count_kept, find_journals, sync_folder
from tests.client.journals import killed
from tests.support.pipelines import run_program, token_of
from tests.support.service import RunningService
from tests.support.weather import closed_port


def test_kept_lines_are_counted_without_a_service(tmp_path: Path) -> None:
    source = "import shipworthy; run = shipworthy.run('a/b', capture=False); run.finish()"
    run_program(source, tmp_path, {})
    assert count_kept(tmp_path / ".shipworthy") == 3
    with pytest.raises(NotDelivered):
        sync_folder(tmp_path / ".shipworthy", f"http://127.0.0.1:{closed_port()}", None)
    assert count_kept(tmp_path / ".shipworthy") == 3


def test_what_is_kept_is_counted_as_it_is_sent(tmp_path: Path, sqlite_service: RunningService) -> None:
    """A promise and the record that keeps it are one; a file beside the journal is one too."""
    source = """
        import pathlib, shipworthy
        pathlib.Path("model.bin").write_bytes(b"weights")
        with shipworthy.run("sync/counted", capture=False, data={"train": "model.bin"}) as run:
            run.keep_blob(b"change")
            run.log(step=1, loss=1.0)
            saved = run.checkpoint("model.bin", step=1)
            run.evaluation({"auc": 0.9}, subject=saved)
    """
    done = run_program(source, tmp_path, {})
    kept = count_kept(tmp_path / ".shipworthy")
    assert done.stderr.startswith(f"shipworthy: {kept} records are kept")
    client = sqlite_service.client("recorder")
    assert sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client)).sent == kept
    killed(tmp_path / "killed")
    kept = count_kept(tmp_path / "killed" / ".shipworthy")
    assert sync_folder(tmp_path / "killed" / ".shipworthy", sqlite_service.url, token_of(client)).sent == kept


def test_journal_in_other_hands_is_said_to_be(tmp_path: Path) -> None:
    run_program("import shipworthy; shipworthy.run('a/b', capture=False).finish()", tmp_path, {})
    (journal,) = find_journals(tmp_path / ".shipworthy")
    holder = StateFile(journal)
    holder.acquire()
    report = sync_folder(tmp_path / ".shipworthy", f"http://127.0.0.1:{closed_port()}", None)
    holder.release()
    assert told_by_sync(report) == "0 records of 1 run sent; 3 kept: another process is sending them"
