"""Direct SQL against the ledger and sessions of our own: what is written stays, whoever asks."""

import sqlite3

import psycopg
import pytest
from sqlalchemy import delete, select, text, update
from sqlmodel import col

from models.ledger.guards import LedgerIsAppendOnly
from models.ledger.opening import open_ledger
from models.ledger.tables import Record, TreeHead, TreeNode
from tests.ledger.conftest import Written
from tests.support.postgres import OWNER_ROLE, SERVICE_ROLE

_COLUMNS = (
    "position, digest, namespace, kind, subject, idempotency_key, content_digest, level, recorded_at, "
    "payload, leaf_hash"
)


POSTGRESQL_ATTACKS = [
    "UPDATE record SET payload = 'x' WHERE position = 0",
    "UPDATE record SET position = position",
    "UPDATE tree_node SET hash = hash",
    "UPDATE tree_head SET note = 'x'",
    "UPDATE ONLY record SET level = 'server_run'",
    "DELETE FROM record WHERE position = 0",
    "DELETE FROM tree_node",
    "DELETE FROM tree_head",
    "TRUNCATE record",
    "TRUNCATE tree_node, tree_head CASCADE",
    "INSERT INTO record SELECT * FROM record WHERE position = 0 "
    "ON CONFLICT (position) DO UPDATE SET payload = 'x'",
    "INSERT INTO tree_head SELECT * FROM tree_head ON CONFLICT (id) DO UPDATE SET note = 'x'",
    "INSERT INTO record SELECT * FROM record WHERE position = 0",
    "MERGE INTO record r USING (SELECT 0 AS position) s ON r.position = s.position "
    "WHEN MATCHED THEN UPDATE SET payload = 'x'",
    "MERGE INTO record r USING (SELECT 0 AS position) s ON r.position = s.position WHEN MATCHED THEN DELETE",
    "WITH gone AS (DELETE FROM record RETURNING *) SELECT count(*) FROM gone",
    "WITH changed AS (UPDATE record SET payload = 'x' RETURNING *) SELECT count(*) FROM changed",
    "SELECT * FROM record WHERE position = 0 FOR UPDATE",
    "LOCK TABLE record IN ACCESS EXCLUSIVE MODE",
    "ALTER TABLE record DISABLE TRIGGER ALL",
    "ALTER TABLE record DISABLE TRIGGER record_no_change",
    "ALTER TABLE record ENABLE REPLICA TRIGGER record_no_change",
    "DROP TRIGGER record_no_change ON record",
    "ALTER TRIGGER record_no_change ON record RENAME TO harmless",
    "CREATE TRIGGER swallow BEFORE INSERT ON record FOR EACH ROW EXECUTE FUNCTION shipworthy_append_only()",
    "CREATE OR REPLACE FUNCTION shipworthy_append_only() RETURNS trigger LANGUAGE plpgsql "
    "AS 'BEGIN RETURN NEW; END'",
    "DROP FUNCTION shipworthy_append_only() CASCADE",
    "CREATE RULE swallow AS ON INSERT TO record DO INSTEAD NOTHING",
    "SET session_replication_role = replica",
    "ALTER TABLE record DROP CONSTRAINT ck_record_position",
    "ALTER TABLE record ALTER COLUMN payload TYPE text USING 'x'",
    "ALTER TABLE record RENAME TO old_record",
    "ALTER TABLE record SET SCHEMA pg_temp",
    "ALTER TABLE record ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE record OWNER TO CURRENT_USER",
    "DROP TABLE record",
    "CREATE TABLE public.record_copy (LIKE record)",
    f"SET ROLE {OWNER_ROLE}",
    f"SET SESSION AUTHORIZATION {OWNER_ROLE}",
    f"GRANT {OWNER_ROLE} TO {SERVICE_ROLE}",
    f"ALTER ROLE {SERVICE_ROLE} SUPERUSER",
    "DROP OWNED BY CURRENT_USER CASCADE; DELETE FROM record",
    "UPDATE pg_trigger SET tgenabled = 'D'",
    "DELETE FROM pg_class WHERE relname = 'record'",
    "COPY record FROM PROGRAM 'true'",
    "DO $$ BEGIN DELETE FROM record; END $$",
    "PREPARE attack AS DELETE FROM record; EXECUTE attack",
    "DECLARE place CURSOR FOR SELECT * FROM record FOR UPDATE",
]


SQLITE_ATTACKS = [
    "UPDATE record SET payload = x'00' WHERE position = 0",
    "UPDATE OR REPLACE record SET position = 1 WHERE position = 0",
    "UPDATE OR IGNORE record SET position = position",
    "UPDATE record SET rowid = 100000 WHERE position = 0",
    "UPDATE tree_node SET hash = hash",
    "UPDATE tree_head SET note = 'x'",
    "DELETE FROM record WHERE position = 0",
    "DELETE FROM tree_node",
    "DELETE FROM tree_head",
    "INSERT OR REPLACE INTO record SELECT * FROM record WHERE position = 0",
    "REPLACE INTO tree_head SELECT id, origin, 0, frontier, note, committed_at FROM tree_head WHERE id = 1",
    'REPLACE INTO tree_node SELECT level, "index", zeroblob(32) FROM tree_node',
    "INSERT OR IGNORE INTO record SELECT * FROM record",
    "INSERT INTO record SELECT * FROM record WHERE position = 0 "
    "ON CONFLICT (position) DO UPDATE SET payload = x'00'",
    "INSERT INTO record SELECT * FROM record WHERE position = 0 ON CONFLICT DO UPDATE SET payload = x'00'",
    # Another position, digest and key, but the place of a row that is there.
    f"REPLACE INTO record (rowid, {_COLUMNS}) SELECT rowid, position + 100000, "
    "replace(digest, 'sha256:', 'sha257:'), namespace, kind, subject, 'other', "
    "content_digest, level, recorded_at, payload, leaf_hash FROM record WHERE position = 0",
    # The digest of one row and the key of another.
    f"REPLACE INTO record ({_COLUMNS}) SELECT 100000, digest, namespace, kind, subject, 'other', "
    "content_digest, level, recorded_at, payload, leaf_hash FROM record WHERE position = 0",
    "REPLACE INTO tree_head (rowid, id, origin, size, frontier, note, committed_at) "
    "SELECT rowid, id + 100000, origin, size, frontier, note, committed_at FROM tree_head WHERE id = 1",
    'REPLACE INTO tree_node (rowid, level, "index", hash) SELECT rowid, 80, 1, hash FROM tree_node',
]


def _ledger(written: Written) -> list[list[tuple[object, ...]]]:
    with written.database.read() as session:
        return [
            [tuple(row) for row in session.execute(text(f"SELECT * FROM {table} ORDER BY 1, 2"))]
            for table in ("record", "tree_node", "tree_head")
        ]


def test_every_attack_as_the_service_role_is_denied_on_postgresql(written_postgresql: Written) -> None:
    before = _ledger(written_postgresql)
    url = written_postgresql.urls.service_url.replace("+psycopg", "")
    for attack in POSTGRESQL_ATTACKS:
        with psycopg.connect(url) as connection, pytest.raises(psycopg.Error) as denied:
            connection.execute(attack.encode())
        assert denied.value.sqlstate is not None, attack
        assert denied.value.sqlstate[:2] in ("42", "23", "0A", "28"), (attack, denied.value)
    with (
        psycopg.connect(url) as connection,
        connection.cursor() as cursor,
        pytest.raises(psycopg.errors.UniqueViolation),
        cursor.copy(b"COPY tree_head FROM STDIN") as copy,
    ):
        copy.write_row((0, "x", 0, b"", "x", "2026-01-01T00:00:00Z"))
    assert _ledger(written_postgresql) == before
    assert written_postgresql.checked().clean


def test_owner_is_held_back_by_triggers_even_as_a_replica(written_postgresql: Written) -> None:
    """The owner of the tables must switch the guards off first, and that is seen at the next start."""
    url = written_postgresql.urls.migration_url.replace("+psycopg", "")
    for attack in ("UPDATE record SET level = level", "DELETE FROM tree_head", "TRUNCATE tree_node"):
        with psycopg.connect(url) as connection, pytest.raises(psycopg.errors.RestrictViolation):
            connection.execute(attack.encode())


def test_superuser_in_replica_mode_is_held_back(
    written_postgresql: Written, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue("postgres_server")
    name = written_postgresql.urls.service_url.rpartition("/")[2]
    with psycopg.connect(server.url("postgres", name).replace("+psycopg", "")) as connection:
        connection.execute("SET session_replication_role = replica")
        with pytest.raises(psycopg.errors.RestrictViolation):
            connection.execute("DELETE FROM record")


@pytest.mark.parametrize(
    "pragmas", [(), ("recursive_triggers=ON",), ("recursive_triggers=OFF", "foreign_keys=OFF")]
)
def test_every_attack_is_denied_on_sqlite(written_sqlite: Written, pragmas: tuple[str, ...]) -> None:
    """With a connection of the attacker's own, whatever it sets."""
    before = _ledger(written_sqlite)
    connection = sqlite3.connect(str(written_sqlite.database.url.database), isolation_level=None)
    for pragma in pragmas:
        connection.execute(f"PRAGMA {pragma}")
    for attack in SQLITE_ATTACKS:
        with pytest.raises(sqlite3.IntegrityError, match="is append-only"):
            connection.execute(attack)
    connection.close()
    assert _ledger(written_sqlite) == before


@pytest.mark.parametrize("table", [Record, TreeNode, TreeHead])
def test_session_refuses_to_change_or_delete_rows_of_the_ledger(
    written: Written, table: type[Record] | type[TreeNode] | type[TreeHead]
) -> None:
    open_ledger(written.database, written.ring.log_key, written.head_file).close()
    name = table.__name__
    with written.database.begin() as session, pytest.raises(LedgerIsAppendOnly, match=name):
        session.execute(delete(table))
    with written.database.begin() as session, pytest.raises(LedgerIsAppendOnly, match=name):
        session.execute(update(table).values(dict.fromkeys(["hash" if table is TreeNode else "kind"], b"x")))
    with written.database.begin() as session:
        row = session.execute(select(table).limit(1)).scalar_one()
        session.delete(row)
        with pytest.raises(LedgerIsAppendOnly, match=name):
            session.flush()
        session.expunge_all()
    assert written.checked().clean


def test_session_refuses_a_row_that_was_changed_in_memory(written: Written) -> None:
    open_ledger(written.database, written.ring.log_key, written.head_file).close()
    with written.database.begin() as session:
        row = session.execute(select(Record).where(col(Record.position) == 5)).scalar_one()
        row.level = "server_run"
        with pytest.raises(LedgerIsAppendOnly, match="Record rows are never changed"):
            session.flush()
        session.expunge_all()
    assert written.checked().clean
