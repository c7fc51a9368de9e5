"""What somebody with the service's database role forged is neither served nor built upon, and said in a sentence."""

from pathlib import Path

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from models.errors import LedgerDamaged
from models.ledger.opening import open_ledger
from tests.ledger.conftest import Written
from tests.support.bodies import make_start
from tests.support.service import running_service

LARGER = (
    "INSERT INTO tree_head (id, origin, size, frontier, note, committed_at) "
    "SELECT id + 1, origin, size + 5, frontier, note, committed_at FROM tree_head ORDER BY id DESC LIMIT 1"
)


def test_forged_head_stops_the_log_with_a_sentence(written: Written, tmp_path: Path) -> None:
    with running_service(written.urls, written.head_file.path.parent) as service, capture_logs() as logged:
        client = service.client("recorder")
        with service.services.database.connection() as connection:
            connection.execute(text(LARGER))
        answers = [client.get("/v1/log/checkpoint"), client.post("/v1/runs", json=make_start())]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [
        (500, "ledger_damaged")
    ] * 2
    assert "the log's last head" in answers[0].json()["detail"]
    assert [line["event"] for line in logged if line["log_level"] == "error"] == ["ledger damaged"] * 2
    with pytest.raises(LedgerDamaged, match="fits no log"):
        open_ledger(written.database, written.ring.log_key, written.head_file)
    assert not written.checked().clean


@pytest.mark.parametrize(
    ("table", "path"), [("ingredient", "ingredients"), ("lineage_manifest", "lineage-manifests")]
)
def test_document_that_its_digest_does_not_name_is_not_served(
    written: Written, table: str, path: str
) -> None:
    with written.database.connection() as connection:
        digest = connection.execute(
            text(f"SELECT digest FROM {table} WHERE namespace = 'team-a' LIMIT 1")
        ).scalar_one()
        connection.execute(text(f"UPDATE {table} SET document = document || ' ' WHERE digest = '{digest}'"))
    with running_service(written.urls, written.head_file.path.parent) as service:
        answer = service.client("reader").get(f"/v1/{path}/{digest}")
    assert (answer.status_code, answer.json()["code"]) == (500, "ledger_damaged")
