"""Projections are what the records say, and nothing else."""

import pytest
from sqlalchemy import Connection, inspect, select, text

from models.bulk import sql_table
from models.errors import LedgerDamaged, StartRefused
from models.ledger.backup import TABLES
from models.ledger.rebuild import PROJECTIONS, rebuild
from shipworthy.formats.digests import sha256_digest
from tests.ledger.conftest import Written


def _rows(connection: Connection) -> dict[str, list[tuple[object, ...]]]:
    """Every row but its document, which keeps the order in which it was sent."""
    found = {}
    for table in map(sql_table, PROJECTIONS):
        columns = [column for column in table.columns if column.name != "document"]
        found[table.name] = sorted((tuple(row) for row in connection.execute(select(*columns))), key=repr)
    return found


def test_rebuilt_projections_equal_the_live_ones(written: Written) -> None:
    with written.database.read() as session:
        before = _rows(session.connection())
    assert all(before.values()), "a table without rows would prove nothing"

    assert rebuild(written.database) > 300

    with written.database.read() as session:
        assert _rows(session.connection()) == before
    assert written.checked().problems == ()


def test_rebuild_mends_rows_that_were_changed_removed_or_made_up(written: Written) -> None:
    with written.database.connection() as connection:
        connection.execute(text("UPDATE run SET state = 'running', document = '{}'"))
        connection.execute(text("DELETE FROM lineage_manifest"))
        connection.execute(text("UPDATE artifact SET run_id = 'nobody' WHERE role = 'report'"))
    assert not written.checked().clean

    rebuild(written.database)

    assert written.checked().problems == ()


@pytest.mark.parametrize(
    ("digest", "refusal"),
    [
        (None, r"position 300 has bytes that do not hash to its digest.*fsck"),
        (sha256_digest(b"{"), r"position 300 can't be read.*fsck"),
    ],
)
def test_rebuild_stops_at_a_record_that_is_none_and_keeps_what_was(
    written: Written, digest: str | None, refusal: str
) -> None:
    written.rewrite(
        "UPDATE record SET payload = :payload, digest = coalesce(:digest, digest) WHERE position = 300",
        payload=b"{",
        digest=digest,
    )
    with written.database.read() as session:
        before = _rows(session.connection())

    with pytest.raises((LedgerDamaged, StartRefused), match=refusal):
        rebuild(written.database)

    with written.database.read() as session:
        assert _rows(session.connection()) == before


def test_rebuild_stops_at_a_fact_about_a_run_that_was_never_registered(written: Written) -> None:
    written.rewrite("UPDATE record SET namespace = 'team-x' WHERE position = 300")
    with pytest.raises(StartRefused, match=r"position 300 is about run 0190.*no record before registered"):
        rebuild(written.database)
    with written.database.read() as session:
        assert all(_rows(session.connection()).values())


def test_every_table_of_the_schema_is_backed_up(written: Written) -> None:
    with written.database.read() as session:
        found = set(inspect(session.connection()).get_table_names())
    assert found - {"alembic_version"} == {sql_table(table).name for table in TABLES}
