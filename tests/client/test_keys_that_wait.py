"""A key that is wrong for a moment costs no record: all wait, and go in their order when the right one is there."""

from pathlib import Path

import pytest

from shipworthy.cli.sync import told as told_by_sync
from shipworthy.errors import NotDelivered, Trouble
from shipworthy.sync import find_journals, sync_folder
from tests.support.pipelines import run_program, token_of, told, warnings_of
from tests.support.service import RunningService

TRAINING = """
    import shipworthy
    with shipworthy.run("keys/train", capture=False) as run:
        run.log(step=1, loss=1.0)
        run.note("first")
        run.note("second")
    print(run.id)
"""


def test_records_wait_for_a_key_with_the_role(tmp_path: Path, sqlite_service: RunningService) -> None:
    # An author may send batches, but none of these records: each line is answered with 403.
    author = token_of(sqlite_service.client("author"))
    done = run_program(TRAINING, tmp_path, {"SHIPWORTHY_URL": sqlite_service.url, "SHIPWORTHY_TOKEN": author})
    assert done.returncode == 0
    warned, kept = warnings_of(done)
    assert "does not accept the key" in warned
    assert kept.startswith("6 records are kept")
    assert list(tmp_path.glob(".shipworthy/*/*.refused")) == []
    with pytest.raises(NotDelivered) as caught:
        sync_folder(tmp_path / ".shipworthy", sqlite_service.url, author)
    assert caught.value.trouble is Trouble.KEY
    client = sqlite_service.client("recorder")
    report = sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    assert (report.sent, report.refused, report.kept) == (6, 0, 0)
    found = told(client, done.stdout.strip())
    assert (found.notes(), found.steps(), found.states()) == (["first", "second"], [1], ["completed"])


def test_refused_registration_is_told_of_its_own_journal(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    run_id = run_program(TRAINING, tmp_path, {}).stdout.strip()
    (journal,) = find_journals(tmp_path / ".shipworthy")
    whole = journal.read_bytes()
    journal.write_bytes(whole.replace(b'"limit_seconds":600', b'"limit_seconds":-60'))
    client = sqlite_service.client("recorder")
    report = sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    said = told_by_sync(report)
    assert said.startswith("0 records of 1 run sent; 6 kept: the registration of their run is refused (")
    assert "limit_seconds" in said
    assert "first process" not in said
    journal.write_bytes(whole)
    assert sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client)).sent == 6
    assert told(client, run_id).states() == ["completed"]
