"""Engines of tests share what SQLAlchemy compiles.

The service makes one engine and compiles each statement once. Tests make one for each database, thousands, and
compiling the same statements for each was a tenth of all processor time. SQLAlchemy keys what it compiled by dialect:
these dialects are as good as any other of their class, and bring one cache for all engines.
"""

from typing import Any, Final

from sqlalchemy import Engine
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

_STATEMENTS: Final = 4_000
_COMPILED: Final[LRUCache[Any, Any]] = LRUCache(_STATEMENTS)


def _share(engine: Engine) -> None:
    engine.update_execution_options(compiled_cache=_COMPILED)


class _Shared:
    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        _share(engine)


class SharedPostgresql(_Shared, PGDialect_psycopg):
    supports_statement_cache = True  # SQLAlchemy wants each class to say so itself.


class SharedSqlite(_Shared, SQLiteDialect_pysqlite):
    supports_statement_cache = True


def share_compiled() -> None:
    """From here on, for every engine of this process."""
    registry.register("sqlite", __name__, "SharedSqlite")
    registry.register("postgresql.psycopg", __name__, "SharedPostgresql")
