"""Ledger, keys and lineage projections.

Revision ID: 0001
Revises:
"""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    dialect = op.get_bind().dialect.name
    script = Path(__file__).parent.parent / "sql" / f"{revision}_{dialect}.sql"
    # Statements are set apart by a line "--": triggers and functions hold semicolons of their own.
    for statement in script.read_text(encoding="utf-8").split("\n--\n"):
        # Without parameters: psycopg would take the % of a trigger's message for a placeholder.
        op.get_bind().exec_driver_sql(statement, execution_options={"no_parameters": True})


def downgrade() -> None:
    raise RuntimeError("a ledger is never taken back; restore a backup that was made before the upgrade")
