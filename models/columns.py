"""Column types and naming shared by every table."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import DateTime, Dialect, LargeBinary, MetaData, String
from sqlalchemy.types import TypeDecorator, TypeEngine
from sqlmodel import SQLModel

from models.errors import LedgerDamaged

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

metadata = MetaData(naming_convention=NAMING)


class Table(SQLModel):
    """Base of all tables, with a MetaData of our own so that constraint names are the same everywhere."""

    metadata = metadata


class UTCDateTime(TypeDecorator[datetime]):
    """Aware instants, UTC: `timestamptz` on PostgreSQL, fixed-width text on SQLite, which sorts like time."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[str] | TypeEngine[datetime]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(String(26))
        return dialect.type_descriptor(DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | str | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a naive time can't be stored; give it a zone")
        value = value.astimezone(UTC)
        if dialect.name == "sqlite":
            # Not strftime: its %Y writes the year 999 with three digits on some systems.
            return value.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")
        return value

    def process_result_value(self, value: object, dialect: Dialect) -> datetime | None:
        return instant(value)


class Bytes(LargeBinary):
    """Bytes, and nothing else: SQLite keeps in any column what it is given."""

    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[object], bytes | None]:
        return stored_bytes


def stored_bytes(value: object) -> bytes | None:
    """Bytes as either database gives them. Raises LedgerDamaged for another value."""
    if value is None or isinstance(value, bytes):
        return value
    raise LedgerDamaged(_other_kind("bytes", value))


_KINDS: Final[Mapping[type, str]] = {bytes: "bytes", str: "text"}


def _other_kind(wanted: str, value: object) -> str:
    held = _KINDS.get(type(value), "a number")
    return (
        f"the database holds {held} in the place of {wanted}: it was changed behind the service; run "
        "`shipworthy-server fsck`, which names the row, and restore a backup"
    )


def instant(value: object) -> datetime | None:
    """An instant as either database gives it, aware and in UTC. Raises LedgerDamaged for another value."""
    if value is None:
        return None
    if isinstance(value, str):
        with suppress(ValueError):
            return datetime.fromisoformat(value).replace(tzinfo=UTC)
    if not isinstance(value, datetime):
        raise LedgerDamaged(_other_kind("an instant", value))
    # As the driver gives it, unless a proxy gave the connection another zone.
    return value if value.tzinfo is UTC else value.astimezone(UTC)


def read_instant(text: str) -> datetime:
    """An instant that either database put into JSON."""
    when = datetime.fromisoformat(text)
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
