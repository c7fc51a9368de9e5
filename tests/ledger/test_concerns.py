"""What a start does not refuse, and says all the same."""

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from structlog.testing import capture_logs

from api.cli.fsck import rendered
from models.database import Database
from models.ledger.head import HeadFile
from models.ledger.opening import open_ledger
from tests.ledger.conftest import Written
from tests.ledger.writing import start
from tests.support.databases import DatabaseUrls
from tests.support.service import running_service


def test_log_without_a_head_outside_is_said_at_start_and_by_fsck(written: Written) -> None:
    written.head_file.path.unlink()
    report = written.checked()
    assert report.clean
    assert len(report.notes) == 1
    assert f"no log head lies in {written.head_file.path}" in report.notes[0]
    assert f"Not proved: {report.notes[0]}" in rendered(report)

    ledger = open_ledger(written.database, written.ring.log_key, written.head_file)
    ledger.append(start()).result()
    ledger.close()
    said = [concern.detail for concern in ledger.concerns if concern.event == "log.no_head_outside"]
    assert said == list(report.notes)

    again = open_ledger(written.database, written.ring.log_key, written.head_file)
    again.close()
    assert not [concern for concern in again.concerns if concern.event == "log.no_head_outside"]
    assert written.checked().notes == ()


def test_new_log_needs_no_head_outside(database: Database, key: Ed25519PrivateKey, tmp_path: Path) -> None:
    ledger = open_ledger(database, key, HeadFile(tmp_path / "log-head"))
    ledger.close()
    assert not [concern for concern in ledger.concerns if concern.event == "log.no_head_outside"]


def test_server_that_does_not_wait_for_its_disk_is_said_at_start(
    postgresql_urls: DatabaseUrls, tmp_path: Path
) -> None:
    """The server of these tests has fsync off."""
    with capture_logs() as logged, running_service(postgresql_urls, tmp_path / "data") as service:
        assert service.client().get("/readyz").status_code == 200
    (line,) = [line for line in logged if line["event"] == "database.not_durable"]
    assert line["log_level"] == "error"
    assert "PostgreSQL runs with fsync off" in line["detail"]
