"""Append-only, checked: at start the database's guards are compared with what they must be.

Alembic's batch mode drops every trigger of a table on SQLite without a word, and an owner can disable triggers
on PostgreSQL; a service that started all the same would keep a ledger that can be rewritten.
"""

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, event, text
from sqlalchemy.orm import ORMExecuteState, Session, UOWTransaction

import migrations
from models.columns import metadata
from models.errors import StartRefused
from models.ledger.schema import LEDGER_TABLES
from models.ledger.tables import Record, TreeHead, TreeNode

_LEDGER_CLASSES: Final = (Record, TreeNode, TreeHead)
_POSTGRESQL_FUNCTION: Final = (
    "BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation'; END"
)


class LedgerIsAppendOnly(RuntimeError):
    """A programming error: code tried to change or delete a row of the ledger."""


def guard_sessions() -> None:
    """Makes every ORM session refuse to change ledger rows, by object and by statement. Called again it adds
    nothing: SQLAlchemy would call a listener as often as it was added."""
    if not event.contains(Session, "before_flush", _no_changed_objects):
        event.listen(Session, "before_flush", _no_changed_objects)
        event.listen(Session, "do_orm_execute", _no_changing_statements)


def _no_changed_objects(session: Session, context: UOWTransaction, instances: object) -> None:
    for changed in (*session.dirty, *session.deleted):
        if isinstance(changed, _LEDGER_CLASSES):
            raise LedgerIsAppendOnly(f"{type(changed).__name__} rows are never changed or deleted")


def _no_changing_statements(state: ORMExecuteState) -> None:
    mapper = state.bind_mapper if state.is_update or state.is_delete else None
    if mapper is not None and mapper.class_ in _LEDGER_CLASSES:
        raise LedgerIsAppendOnly(f"{mapper.class_.__name__} rows are never changed or deleted")


def check_guards(connection: Connection) -> None:
    """Raises StartRefused that names every guard which is missing or different."""
    if connection.dialect.name == "sqlite":
        differences = _sqlite_differences(connection)
    else:
        # What follows asks about these tables by name, which has to mean them.
        differences = _table_differences(connection) or [
            *_postgresql_differences(connection),
            *_grant_differences(connection),
        ]
    if differences:
        raise StartRefused(
            "the database's append-only guards are not what they must be: "
            + "; ".join(differences)
            + ". Records could have been rewritten: find out who changed them, run `shipworthy-server fsck`, "
            "and restore the guards (docs/operations.md, “Guards”)"
        )


def _sqlite_differences(connection: Connection) -> list[str]:
    """The ledger's tables (with their CHECKs) and all triggers must read as the migrations wrote them, and every other
    table be one: with a trigger on a projection, or a view in its place, what is acknowledged need never be seen."""
    wanted = {}
    for script in sorted(Path(migrations.__file__).parent.glob("sql/*_sqlite.sql")):
        for statement in script.read_text(encoding="utf-8").split("\n--\n"):
            words = statement.split()
            if words[1] in ("TABLE", "TRIGGER"):
                wanted[words[2]] = _plain(statement)
    # A trigger keeps the table's name as it was typed, in capitals or not.
    rows = connection.execute(
        text("SELECT type, name, sql, lower(tbl_name) FROM sqlite_master WHERE type IN ('table', 'trigger')")
    ).all()
    tables = {name for kind, name, _, _ in rows if kind == "table"}
    found = {
        name: _plain(sql)
        for kind, name, sql, table in rows
        if table in LEDGER_TABLES or (kind == "trigger" and table in metadata.tables)
    }
    guards = {name: sql for name, sql in wanted.items() if name.startswith(LEDGER_TABLES)}
    return [
        *(f"{name} is missing or no table" for name in metadata.tables if name not in {*tables, *guards}),
        *(f"{name} is missing" for name in guards if name not in found),
        *(f"{name} differs" for name, sql in guards.items() if found.get(name, sql) != sql),
        *(f"{name} is not ours" for name in found if name not in guards),
    ]


def _plain(sql: str) -> str:
    return " ".join(sql.rstrip().rstrip(";").split())


_TRIGGERS: Final = (("change", "DELETE OR UPDATE", "ROW"), ("truncate", "TRUNCATE", "STATEMENT"))


def _postgresql_differences(connection: Connection) -> list[str]:
    """Triggers word for word (a WHEN clause would switch one off), enabled always; the function; on no table a trigger
    or a rule that is not ours: one on a projection would let records be acknowledged and not be seen."""
    wanted = {}
    for table in LEDGER_TABLES:
        for name, when, each in _TRIGGERS:
            wanted[f"{table}_no_{name}"] = (
                f"CREATE TRIGGER {table}_no_{name} BEFORE {when} ON {table} FOR EACH {each} "
                "EXECUTE FUNCTION shipworthy_append_only()"
            )
    triggers = connection.execute(
        text(
            "SELECT t.tgname, t.tgenabled::text, pg_get_triggerdef(t.oid, true) FROM pg_trigger t "
            "WHERE NOT t.tgisinternal AND t.tgrelid = ANY(CAST(:tables AS regclass[]))"
        ),
        {"tables": list(metadata.tables)},
    )
    found = {name: (enabled, definition) for name, enabled, definition in triggers}
    differences = [f"{name} is not ours" for name in found if name not in wanted]
    for name, definition in wanted.items():
        if name not in found:
            differences.append(f"{name} is missing")
        elif found[name][0] != "A":
            differences.append(f"{name} is not enabled always")
        elif found[name][1] != definition:
            differences.append(f"{name} differs")
    source = connection.execute(
        text(
            "SELECT prosrc FROM pg_proc WHERE proname = 'shipworthy_append_only' "
            "AND pronamespace = current_schema()::regnamespace"
        )
    ).scalars()
    if [" ".join(body.split()) for body in source] != [_POSTGRESQL_FUNCTION]:
        differences.append("function shipworthy_append_only differs")
    rules = connection.execute(
        text("SELECT rulename FROM pg_rewrite WHERE ev_class = ANY(CAST(:tables AS regclass[]))"),
        {"tables": list(metadata.tables)},
    ).scalars()
    differences += [f"rule {name} is not ours" for name in rules]
    return differences + _constraint_differences(connection)


_KINDS: Final = text(
    "SELECT t.name, c.relkind::text FROM unnest(CAST(:tables AS text[])) AS t (name) "
    "LEFT JOIN pg_class AS c ON c.oid = to_regclass(t.name) "
    "WHERE c.oid IS NULL OR c.relkind <> 'r' OR c.relrowsecurity ORDER BY t.name"
)


def _table_differences(connection: Connection) -> list[str]:
    """Every table must be one, with no policy that hides rows."""
    return [
        f"{name} has row security" if kind == "r" else f"{name} is missing or no table"
        for name, kind in connection.execute(_KINDS, {"tables": list(metadata.tables)})
    ]


_CONSTRAINTS: Final = {
    "ck_record_digest": "CHECK ((length((digest)::text) = 71))",
    "ck_record_leaf_hash": "CHECK ((length(leaf_hash) = 32))",
    "ck_record_payload": "CHECK (((length(payload) >= 1) AND (length(payload) <= 262144)))",
    "ck_record_position": "CHECK ((position >= 0))",
    "ck_tree_head_size": "CHECK (((id >= 0) AND (size >= 0)))",
    "ck_tree_node_hash": "CHECK ((length(hash) = 32))",
    "ck_tree_node_place": "CHECK (((level > 0) AND (index >= 0)))",
    "pk_record": "PRIMARY KEY (position)",
    "pk_tree_head": "PRIMARY KEY (id)",
    "pk_tree_node": "PRIMARY KEY (level, index)",
    "uq_record_digest": "UNIQUE (digest)",
    "uq_record_idempotency_key_namespace": "UNIQUE (idempotency_key, namespace)",
}
"""As pg_get_constraintdef writes them, without quotes: which words it quotes changes between versions."""


def _constraint_differences(connection: Connection) -> list[str]:
    query = text(
        "SELECT conname, replace(pg_get_constraintdef(oid), '\"', '') FROM pg_constraint "
        "WHERE conrelid = ANY(CAST(:tables AS regclass[])) AND contype IN ('c', 'p', 'u')"
    )
    rows = connection.execute(query, {"tables": list(LEDGER_TABLES)})
    found = {row[0]: row[1] for row in rows}
    return [
        *(f"constraint {name} is missing" for name in _CONSTRAINTS if name not in found),
        *(
            f"constraint {name} differs"
            for name, definition in _CONSTRAINTS.items()
            if found.get(name, definition) != definition
        ),
    ]


_GRANTS: Final = text(
    "SELECT t.name, ARRAY(SELECT p FROM unnest(ARRAY['DELETE', 'TRUNCATE', 'TRIGGER']) AS p "
    "WHERE has_table_privilege(current_user, c.oid, p)), "
    # A right on one column counts as well.
    "has_any_column_privilege(current_user, c.oid, 'UPDATE'), "
    # A member of the owner can become it with SET ROLE, and an owner can disable triggers.
    "pg_has_role(current_user, c.relowner, 'MEMBER') "
    "FROM unnest(CAST(:tables AS text[])) WITH ORDINALITY AS t (name, place) "
    "JOIN pg_class AS c ON c.oid = CAST(t.name AS regclass) ORDER BY t.place"
)


def _grant_differences(connection: Connection) -> list[str]:
    """The service's role may add to ledger tables and read them; more than that could rewrite them. Tables with which
    it may do the same are told together."""
    tables: dict[str, list[str]] = {}
    for table, rights, may_update, may_own in connection.execute(_GRANTS, {"tables": list(LEDGER_TABLES)}):
        held = ", ".join(["UPDATE"] * may_update + rights)
        excess = [f"may {held}"] * bool(held) + ["is, or may become, the owner of"] * may_own
        if excess:
            tables.setdefault(" and ".join(excess), []).append(table)
    differences = [f"this service's role {excess} {', '.join(names)}" for excess, names in tables.items()]
    if differences:
        differences.append(
            "put a role of its own into SHIPWORTHY_DATABASE_URL, with the grants that `shipworthy-server db roles` "
            "prints, and the tables' owner into SHIPWORTHY_MIGRATION_URL alone"
        )
    return differences
