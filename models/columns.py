"""Column types and naming shared by every table."""

from datetime import UTC, datetime

from sqlalchemy import DateTime, Dialect, MetaData, String
from sqlalchemy.types import TypeDecorator, TypeEngine
from sqlmodel import SQLModel

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


def instant(value: object) -> datetime | None:
    """An instant as either database gives it, aware and in UTC."""
    if value is None:
        return None
    if isinstance(value, str):
        return datetime.fromisoformat(value).replace(tzinfo=UTC)
    assert isinstance(value, datetime)
    # As the driver gives it, unless a proxy gave the connection another zone.
    return value if value.tzinfo is UTC else value.astimezone(UTC)


def read_instant(text: str) -> datetime:
    """An instant that either database put into JSON."""
    when = datetime.fromisoformat(text)
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
