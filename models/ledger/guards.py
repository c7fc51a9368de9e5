"""Append-only, checked: at start the database's guards are compared with what they must be.

Alembic's batch mode drops every trigger of a table on SQLite without a word, and an owner can disable triggers on
PostgreSQL; a service that started all the same would keep a ledger that can be rewritten.
"""

from pathlib import Path
from typing import Final

import migrations
from sqlalchemy import Connection, event, text
from sqlalchemy.orm import ORMExecuteState, Session, UOWTransaction

from models.errors import StartRefused
from models.ledger.schema import LEDGER_TABLES
from models.ledger.tables import Record, TreeHead, TreeNode

_LEDGER_CLASSES: Final = (Record, TreeNode, TreeHead)
_POSTGRESQL_FUNCTION: Final = "BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation'; END"


class LedgerIsAppendOnly(RuntimeError):
    """A programming error: code tried to change or delete a row of the ledger."""


def guard_sessions() -> None:
    """Makes every ORM session refuse to change ledger rows, by object and by statement."""

    @event.listens_for(Session, "before_flush")
    def _no_changed_objects(session: Session, context: UOWTransaction, instances: object) -> None:
        for changed in (*session.dirty, *session.deleted):
            if isinstance(changed, _LEDGER_CLASSES):
                raise LedgerIsAppendOnly(f"{type(changed).__name__} rows are never changed or deleted")

    @event.listens_for(Session, "do_orm_execute")
    def _no_changing_statements(state: ORMExecuteState) -> None:
        if (state.is_update or state.is_delete) and state.bind_mapper is not None:
            if state.bind_mapper.class_ in _LEDGER_CLASSES:
                raise LedgerIsAppendOnly(f"{state.bind_mapper.class_.__name__} rows are never changed or deleted")


def check_guards(connection: Connection) -> None:
    """Raises StartRefused that names every guard which is missing or different."""
    if connection.dialect.name == "sqlite":
        differences = _sqlite_differences(connection)
    else:
        differences = [*_postgresql_differences(connection), *_grant_differences(connection)]
    if differences:
        raise StartRefused(
            "the database's append-only guards are not what they must be: "
            + "; ".join(differences)
            + ". Records could have been rewritten: find out who changed them, run `shipworthy-server fsck`, "
            "and restore the guards (docs/operations.md, “Guards”)"
        )


def _sqlite_differences(connection: Connection) -> list[str]:
    """Tables (with their CHECKs) and triggers must read as the migrations wrote them."""
    wanted = {}
    for script in sorted(Path(migrations.__file__).parent.glob("sql/*_sqlite.sql")):
        for statement in script.read_text(encoding="utf-8").split("\n--\n"):
            words = statement.split()
            if words[1] in ("TABLE", "TRIGGER"):
                wanted[words[2]] = _plain(statement)
    found = {
        name: _plain(sql)
        for name, sql, table in connection.execute(
            text("SELECT name, sql, tbl_name FROM sqlite_master WHERE type IN ('table', 'trigger')")
        )
        if table in LEDGER_TABLES
    }
    guards = {name: sql for name, sql in wanted.items() if name.startswith(LEDGER_TABLES)}
    return [
        *(f"{name} is missing" for name in guards if name not in found),
        *(f"{name} differs" for name, sql in guards.items() if found.get(name, sql) != sql),
        *(f"{name} is not ours" for name in found if name not in guards),
    ]


def _plain(sql: str) -> str:
    return " ".join(sql.rstrip().rstrip(";").split())


def _postgresql_differences(connection: Connection) -> list[str]:
    wanted = {}
    for table in LEDGER_TABLES:
        wanted[f"{table}_no_change"] = (table, "A", "BEFORE DELETE OR UPDATE ON", "FOR EACH ROW")
        wanted[f"{table}_no_truncate"] = (table, "A", "BEFORE TRUNCATE ON", "FOR EACH STATEMENT")
    found = {
        name: (table, enabled, definition)
        for name, table, enabled, definition in connection.execute(
            text(
                "SELECT t.tgname, c.relname, t.tgenabled::text, pg_get_triggerdef(t.oid) FROM pg_trigger t "
                "JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND c.relname = ANY(:tables) "
                "AND c.relnamespace = current_schema()::regnamespace"
            ),
            {"tables": list(LEDGER_TABLES)},
        )
    }
    differences = [f"{name} is not ours" for name in found if name not in wanted]
    for name, (table, enabled, when, each) in wanted.items():
        if name not in found:
            differences.append(f"{name} is missing")
        elif found[name][:2] != (table, enabled):
            differences.append(f"{name} is not enabled always on {table}")
        elif not all(part in found[name][2] for part in (when, each, "EXECUTE FUNCTION shipworthy_append_only()")):
            differences.append(f"{name} differs")
    source = connection.execute(
        text(
            "SELECT prosrc FROM pg_proc WHERE proname = 'shipworthy_append_only' "
            "AND pronamespace = current_schema()::regnamespace"
        )
    ).scalars()
    if [" ".join(body.split()) for body in source] != [_POSTGRESQL_FUNCTION]:
        differences.append("function shipworthy_append_only differs")
    return differences + _check_differences(connection)


def _check_differences(connection: Connection) -> list[str]:
    wanted = {
        "ck_record_position",
        "ck_record_digest",
        "ck_record_leaf_hash",
        "ck_record_payload",
        "ck_tree_node_place",
        "ck_tree_node_hash",
        "ck_tree_head_size",
        *(f"pk_{table}" for table in LEDGER_TABLES),
        "uq_record_digest",
        "uq_record_namespace_idempotency_key",
    }
    found = set(
        connection.execute(
            text(
                "SELECT conname FROM pg_constraint WHERE conrelid = ANY(CAST(:tables AS regclass[])) "
                "AND convalidated AND contype IN ('c', 'p', 'u')"
            ),
            {"tables": list(LEDGER_TABLES)},
        ).scalars()
    )
    return [f"constraint {name} is missing" for name in sorted(wanted - found)]


def _grant_differences(connection: Connection) -> list[str]:
    """The service's role may add to ledger tables and read them; more than that could rewrite them."""
    differences = []
    for table in LEDGER_TABLES:
        for privilege in ("UPDATE", "DELETE", "TRUNCATE", "TRIGGER"):
            held = connection.execute(
                text("SELECT has_table_privilege(current_user, CAST(:name AS text), :privilege)"),
                {"name": table, "privilege": privilege},
            ).scalar()
            if held:
                differences.append(f"this service's role may {privilege} {table}")
    if differences:
        differences.append(
            "use a role of its own for SHIPWORTHY_DATABASE_URL, with the grants that `shipworthy-server db roles` prints"
        )
    return differences
