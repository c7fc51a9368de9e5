"""Direct SQL against the ledger: what is written stays, whoever asks."""

import re
import sqlite3

import psycopg
import pytest
from sqlalchemy import delete, select, text, update
from sqlmodel import col

from models.database import Database
from models.errors import StartRefused
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


@pytest.mark.parametrize(
    ("attack", "difference"),
    [
        ("DROP TRIGGER record_no_update", "record_no_update is missing"),
        ("DROP TRIGGER tree_head_no_replace", "tree_head_no_replace is missing"),
        ("ALTER TABLE record ADD COLUMN more TEXT", "record differs"),
        ("ALTER TABLE record RENAME COLUMN level TO grade", "record differs"),
        ("CREATE TRIGGER more AFTER INSERT ON record BEGIN DELETE FROM run;END", "more is not ours"),
        (
            "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = "
            "replace(sql, 'BEFORE UPDATE ON record', 'BEFORE UPDATE OF level ON record') "
            "WHERE name = 'record_no_update'",
            "record_no_update differs",
        ),
        (
            "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = replace(sql, 'position >= 0', 'true') "
            "WHERE name = 'record'",
            "record differs",
        ),
        (
            # What Alembic's batch mode does: the rows go to a new table, the triggers with the old one.
            "CREATE TABLE copy AS SELECT * FROM tree_node; DROP TABLE tree_node; "
            "ALTER TABLE copy RENAME TO tree_node",
            "tree_node_no_update is missing; tree_node_no_delete is missing",
        ),
    ],
)
def test_service_does_not_start_on_sqlite_without_its_guards(
    written_sqlite: Written, attack: str, difference: str
) -> None:
    connection = sqlite3.connect(str(written_sqlite.database.url.database), isolation_level=None)
    for statement in attack.split("; "):
        connection.execute(statement)
    connection.close()
    with pytest.raises(StartRefused, match=re.escape(difference)):
        open_ledger(written_sqlite.database, written_sqlite.ring.log_key, written_sqlite.head_file)


@pytest.mark.parametrize(
    ("attack", "difference"),
    [
        ("DROP TRIGGER record_no_change ON record", "record_no_change is missing"),
        ("DROP TRIGGER tree_node_no_truncate ON tree_node", "tree_node_no_truncate is missing"),
        ("ALTER TABLE record DISABLE TRIGGER record_no_change", "record_no_change is not enabled always"),
        ("ALTER TABLE record ENABLE TRIGGER record_no_change", "record_no_change is not enabled always"),
        (
            "ALTER TABLE record ENABLE REPLICA TRIGGER record_no_change",
            "record_no_change is not enabled always",
        ),
        (
            "CREATE OR REPLACE TRIGGER record_no_change BEFORE UPDATE OR DELETE ON record FOR EACH ROW "
            "WHEN (false) EXECUTE FUNCTION shipworthy_append_only(); "
            "ALTER TABLE record ENABLE ALWAYS TRIGGER record_no_change",
            "record_no_change differs",
        ),
        (
            "CREATE TRIGGER more BEFORE INSERT ON tree_head "
            "FOR EACH ROW EXECUTE FUNCTION shipworthy_append_only()",
            "more is not ours",
        ),
        (
            "CREATE OR REPLACE FUNCTION shipworthy_append_only() RETURNS trigger LANGUAGE plpgsql "
            "AS 'BEGIN RETURN NEW; END'",
            "function shipworthy_append_only differs",
        ),
        (
            "ALTER TABLE record DROP CONSTRAINT ck_record_leaf_hash",
            "constraint ck_record_leaf_hash is missing",
        ),
        ("ALTER TABLE record DROP CONSTRAINT uq_record_digest", "constraint uq_record_digest is missing"),
        (
            "ALTER TABLE record DROP CONSTRAINT ck_record_payload, "
            "ADD CONSTRAINT ck_record_payload CHECK (true)",
            "constraint ck_record_payload differs",
        ),
        (
            "ALTER TABLE record DROP CONSTRAINT ck_record_position, "
            "ADD CONSTRAINT ck_record_position CHECK (position >= 0) NOT VALID",
            "constraint ck_record_position differs",
        ),
        ("CREATE RULE swallow AS ON INSERT TO tree_node DO INSTEAD NOTHING", "rule swallow is not ours"),
        (f"GRANT UPDATE ON record TO {SERVICE_ROLE}", "this service's role may UPDATE record"),
        (f"GRANT UPDATE (level) ON record TO {SERVICE_ROLE}", "this service's role may UPDATE record"),
        (f"GRANT DELETE ON tree_head TO {SERVICE_ROLE}", "this service's role may DELETE tree_head"),
        ("GRANT TRUNCATE ON tree_node TO PUBLIC", "this service's role may TRUNCATE tree_node"),
        (f"GRANT TRIGGER ON record TO {SERVICE_ROLE}", "this service's role may TRIGGER record"),
        (f"ALTER TABLE record OWNER TO {SERVICE_ROLE}", "is, or may become, the owner of record"),
    ],
)
def test_service_does_not_start_on_postgresql_without_its_guards(
    written_postgresql: Written, request: pytest.FixtureRequest, attack: str, difference: str
) -> None:
    server = request.getfixturevalue("postgres_server")
    name = written_postgresql.urls.service_url.rpartition("/")[2]
    with psycopg.connect(server.url("postgres", name).replace("+psycopg", "")) as connection:
        connection.execute(attack.encode())
    with pytest.raises(StartRefused, match=re.escape(difference)):
        open_ledger(
            written_postgresql.database, written_postgresql.ring.log_key, written_postgresql.head_file
        )


def test_owner_of_the_tables_is_no_role_for_the_service(written_postgresql: Written) -> None:
    owner = Database(written_postgresql.urls.migration_url)
    with pytest.raises(StartRefused, match=r"may UPDATE record.*db roles"):
        open_ledger(owner, written_postgresql.ring.log_key, written_postgresql.head_file)
    owner.dispose()


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
