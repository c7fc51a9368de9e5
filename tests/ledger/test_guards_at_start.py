"""The service does not start on a database whose guards are not what the migrations made."""

import re
import sqlite3

import psycopg
import pytest

from models.database import Database
from models.errors import StartRefused
from models.ledger.opening import open_ledger
from tests.ledger.conftest import Written
from tests.support.postgres import SERVICE_ROLE


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
        ("CREATE TRIGGER zz BEFORE INSERT ON run BEGIN SELECT RAISE(IGNORE);END", "zz is not ours"),
        ("CREATE TRIGGER zz BEFORE INSERT ON RECORD BEGIN SELECT RAISE(IGNORE);END", "zz is not ours"),
        ("CREATE TRIGGER zz AFTER UPDATE ON api_key BEGIN DELETE FROM run;END", "zz is not ours"),
        (
            "ALTER TABLE run RENAME TO aside; CREATE VIEW run AS SELECT * FROM aside",
            "run is missing or no table",
        ),
        ("DROP TABLE waiver", "waiver is missing or no table"),
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
        (
            "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; "
            "CREATE TRIGGER zz BEFORE INSERT ON run FOR EACH ROW EXECUTE FUNCTION swallow()",
            "zz is not ours",
        ),
        ("CREATE RULE swallow AS ON INSERT TO gate_decision DO INSTEAD NOTHING", "rule swallow is not ours"),
        (
            "ALTER TABLE run RENAME TO aside; CREATE VIEW run AS SELECT * FROM aside",
            "run is missing or no table",
        ),
        ("ALTER TABLE tree_head RENAME TO aside", "tree_head is missing or no table"),
        ("ALTER TABLE revocation ENABLE ROW LEVEL SECURITY", "revocation has row security"),
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
    with pytest.raises(StartRefused) as refused:
        open_ledger(owner, written_postgresql.ring.log_key, written_postgresql.head_file)
    owner.dispose()
    assert (
        "not what they must be: this service's role may UPDATE, DELETE, TRUNCATE, TRIGGER and is, or may become, the "
        "owner of record, tree_node, tree_head; put a role of its own into SHIPWORTHY_DATABASE_URL"
    ) in refused.value.detail
