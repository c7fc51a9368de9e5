"""The lock under which the log grows: one writer at a time, over all processes."""

from typing import Final

from sqlalchemy import Connection

from models.bulk import driver

LOG_LOCK: Final = 0x5348_4950
"""Advisory lock of PostgreSQL ("SHIP")."""


def take_log_lock(connection: Connection) -> None:
    """Held until the transaction ends. On SQLite a write transaction is that lock."""
    if connection.dialect.name == "postgresql":
        driver(connection).execute(b"SELECT pg_advisory_xact_lock(%d)" % LOG_LOCK)
