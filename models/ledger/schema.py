"""The database's schema: bringing it up to date, and who may do what in it.

`upgrade` needs the owner of the tables (SHIPWORTHY_MIGRATION_URL); the service itself runs as a role that may only
add to the ledger. Alembic is imported when there is something to change, which at most starts there is not.
"""

import ast
from functools import cache
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import ProgrammingError

import migrations
from models.columns import metadata
from models.contracts import tables as contract_tables
from models.database import Database
from models.errors import StartRefused
from models.evaluations import tables as evaluation_tables
from models.gates import tables as gate_tables
from models.keys import tables as key_tables
from models.ledger.tables import Record, TreeHead, TreeNode
from models.lineage import tables as lineage_tables
from models.promotions import tables as promotion_tables
from models.slo import tables as slo_tables
from models.work import tables as work_tables

TABLE_MODULES: Final = (
    key_tables,
    lineage_tables,
    contract_tables,
    evaluation_tables,
    gate_tables,
    promotion_tables,
    slo_tables,
    work_tables,
)
"""Imported so that `metadata` knows every table, whoever asks for grants."""
LEDGER_TABLES: Final = tuple(table.__tablename__ for table in (Record, TreeNode, TreeHead))
MIGRATION_LOCK: Final = 0x5348_4D49


@cache
def _revisions() -> dict[str, str | None]:
    """Each revision that this program knows, and the one before it, from the scripts that Alembic reads."""
    found: dict[str, str | None] = {}
    for script in (Path(migrations.__file__).parent / "versions").glob("*.py"):
        assigned = {
            node.targets[0].id: ast.literal_eval(node.value)
            for node in ast.parse(script.read_text(encoding="utf-8")).body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        found[assigned["revision"]] = assigned["down_revision"]
    return found


def latest_revision() -> str:
    (head,) = _revisions().keys() - set(_revisions().values())
    return head


def current_revision(connection: Connection) -> str | None:
    """The revision of this database, None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def upgrade(database: Database, service_role: str | None = None) -> None:
    """Applies what is missing, then grants the service role what it needs (PostgreSQL).

    Raises StartRefused when the role may not change the schema.
    """
    try:
        _upgrade(database, service_role)
    except ProgrammingError as error:
        raise StartRefused(
            f"the schema can't be brought up to date ({str(error.orig).strip().splitlines()[0]}); "
            "SHIPWORTHY_MIGRATION_URL must name the role that owns the tables"
        ) from error


def _upgrade(database: Database, service_role: str | None) -> None:
    with database.connection() as connection:
        require_utf8(connection)
        if database.dialect == "postgresql":
            # Two processes that start at once must not both create the tables.
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        if current_revision(connection) != latest_revision():
            _migrate(connection)
        if database.dialect == "postgresql" and service_role is not None:
            for statement in grants(service_role):
                connection.execute(text(statement))


def _migrate(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def require_utf8(connection: Connection) -> None:
    """Refuses a database that can't hold every text: others garble some or refuse them."""
    if connection.dialect.name != "postgresql":
        return
    encoding = connection.execute(text("SHOW server_encoding")).scalar_one()
    if encoding != "UTF8":
        raise StartRefused(
            f"the database keeps text as {encoding}, this service needs UTF8; make another one with: CREATE DATABASE … "
            "ENCODING 'UTF8' TEMPLATE template0"
        )


def require_current(connection: Connection) -> None:
    """Refuses a database whose encoding or schema is not this program's."""
    require_utf8(connection)
    found, wanted = current_revision(connection), latest_revision()
    if found == wanted:
        return
    if found is not None and found not in _revisions():
        raise StartRefused(
            f"the database has schema {found}, made by a newer version of this service; "
            f"this one knows {wanted}: install the newer version"
        )
    raise StartRefused(
        f"the database has {'schema ' + found if found else 'no schema yet'}, this service needs {wanted}; run "
        "`shipworthy-server db upgrade` with SHIPWORTHY_MIGRATION_URL set to the owner of the tables"
    )


def grants(role: str) -> list[str]:
    """SQL that gives the service role what it needs and takes what it must not have."""
    quoted = '"' + role.replace('"', '""') + '"'
    others = ", ".join(sorted(set(metadata.tables) - set(LEDGER_TABLES)))
    return [
        f"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {quoted}",
        f"GRANT USAGE ON SCHEMA public TO {quoted}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {quoted}",
        f"GRANT INSERT ON {', '.join(LEDGER_TABLES)} TO {quoted}",
        f"GRANT INSERT, UPDATE, DELETE ON {others} TO {quoted}",
    ]
