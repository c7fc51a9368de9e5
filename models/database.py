"""One door to either database: short write transactions, read-only reads, the same calls on both."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Final

import psycopg
from psycopg.types.array import ListBinaryDumper
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError, DisconnectionError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import ConnectionPoolEntry
from sqlmodel import Session

from models.errors import LedgerDamaged, Unavailable

POOL_SIZE: Final = 12
CROWD: Final = 4
POOL_TIMEOUT_SECONDS: Final = 5.0
SQLITE_BUSY_MILLISECONDS: Final = 10_000
IDLE_SECONDS: Final = 1.0
_OPTIONS: Final = "-c client_encoding=UTF8 -c timezone=UTC -c datestyle=ISO -c enable_seqscan=off -c jit=off"
"""A plan is kept from the time when its tables were small, until their first statistics a minute after a first start:
one that reads them whole took 20 ms for a lineage among 1,000 runs, with indexes 2. Where no index serves, PostgreSQL
reads the table all the same, at a price that before version 18 would call for its compiler."""


class Database:
    """An engine with the settings durability needs; `url` is a SQLAlchemy URL (sqlite or postgresql+psycopg)."""

    def __init__(self, url: str | URL, *, alone: bool = False) -> None:
        """Up to POOL_SIZE connections and a few more in a crowd; `alone` is one."""
        self.url = make_url(url)
        self.dialect = self.url.get_backend_name()
        size, crowd = (1, 0) if alone else (POOL_SIZE, CROWD)
        if self.dialect == "sqlite":
            self.engine = _sqlite_engine(self.url, size, crowd)
        elif self.dialect == "postgresql":
            self.engine = create_engine(
                self.url.set(drivername="postgresql+psycopg"),
                pool_size=size,
                max_overflow=crowd,
                pool_timeout=POOL_TIMEOUT_SECONDS,
                # The last one used knows its statements: planned anew, the longer ones take milliseconds.
                pool_use_lifo=True,
                connect_args={"connect_timeout": 5, "options": _OPTIONS},
            )
            event.listen(self.engine, "connect", _prepare_connection)
            event.listen(self.engine, "checkin", _note_last_use)
            event.listen(self.engine, "checkout", _check_when_idle)
        else:
            raise ValueError(f'database "{self.dialect}" is not known; use sqlite or postgresql')

    def apart(self) -> "Database":
        """The same database by one connection of its own, for who writes much and long statements: they would be
        planned, and the room for their largest text kept, in every connection of the pool that they pass by."""
        return Database(self.url, alone=True)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """One write transaction as a plain connection: committed at the end, rolled back on any exception."""
        with _available(self.url), self.engine.connect() as connection:
            connection = connection.execution_options(sqlite_begin="IMMEDIATE")
            try:
                with connection.begin():
                    yield connection
            except (DBAPIError, psycopg.Error) as error:
                if not _takes_no_writes(error):
                    raise
                # The address may by now be that of a server that does: this connection would never find out.
                connection.invalidate()
                raise Unavailable(
                    "the database takes no writes now: it is set to read only, or a standby; try again in a second"
                ) from error

    @contextmanager
    def begin(self) -> Iterator[Session]:
        """One write transaction as a session. Only values may leave the block."""
        with self.connection() as connection, Session(connection) as session:
            yield session
            session.flush()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A read-only transaction over one state of the database as a plain connection; a write inside raises."""
        with _available(self.url), self.engine.connect() as connection:
            if self.dialect == "postgresql":
                connection = connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            else:
                connection = connection.execution_options(sqlite_begin="DEFERRED", sqlite_readonly=True)
            with connection.begin():
                yield connection

    @contextmanager
    def one_statement(self) -> Iterator[Connection]:
        """For a single SELECT, which sees one state of the database by itself: on PostgreSQL no BEGIN and no COMMIT
        travel with it. What has two is asked by `reading`, or finds out itself whether they saw the same."""
        if self.dialect == "sqlite":
            with self.reading() as connection:
                yield connection
            return
        with _available(self.url), self.engine.connect() as connection:
            yield connection.execution_options(isolation_level="AUTOCOMMIT")

    @contextmanager
    def read(self) -> Iterator[Session]:
        """`reading` as a session."""
        with self.reading() as connection, Session(connection) as session:
            yield session

    def dispose(self) -> None:
        self.engine.dispose()


@contextmanager
def _available(url: URL) -> Iterator[None]:
    """Database away, or no free connection in time, is an answer of its own: 503, nothing stored. So is a file of
    SQLite that is no database any more."""
    try:
        yield
    except PoolTimeout as error:
        raise Unavailable("all database connections are busy; try again in a second") from error
    except (DBAPIError, psycopg.OperationalError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if isinstance(cause, sqlite3.Error) and _is_broken(cause):
            raise LedgerDamaged(
                f"the database file can't be read ({cause}): it was cut short or changed behind the service; put "
                "a backup back into a new folder with `shipworthy-server restore`"
            ) from error
        if not isinstance(error, OperationalError | psycopg.OperationalError) or not _passes(error):
            raise
        raise Unavailable(
            "the database can't be reached or is locked; try again in a second", database=str(url)
        ) from error


def _is_broken(cause: sqlite3.Error) -> bool:
    """Whether SQLite can't make out its file, its schema or a text: the last has no code of its own."""
    code = getattr(cause, "sqlite_errorcode", None)
    if code is None:
        return isinstance(cause, sqlite3.OperationalError) and "decode" in str(cause)
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "malformed" in str(cause)


def _passes(error: OperationalError | psycopg.OperationalError) -> bool:
    """Whether the state of the database is to blame and not the statement: drivers call both OperationalError.

    SQLite gives SQLITE_ERROR (1) for a statement it can't run; PostgreSQL class 54, such as 54000 for a value too
    long for its index. Told "try again", a client would send those for ever.
    """
    cause = error.orig if isinstance(error, OperationalError) else error
    if isinstance(cause, sqlite3.OperationalError):
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_ERROR
    return not (getattr(cause, "sqlstate", None) or "").startswith("54")


def _takes_no_writes(error: DBAPIError | psycopg.Error) -> bool:
    """PostgreSQL's 25006; SQLite's own is among those that pass."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return getattr(cause, "sqlstate", None) == "25006"


def _sqlite_engine(url: URL, size: int, crowd: int) -> Engine:
    engine = create_engine(
        url,
        pool_size=size,
        max_overflow=crowd,
        pool_timeout=POOL_TIMEOUT_SECONDS,
        connect_args={"check_same_thread": False, "timeout": SQLITE_BUSY_MILLISECONDS / 1000},
    )

    @event.listens_for(engine, "connect")
    def _on_connect(connection: sqlite3.Connection, _: object) -> None:
        # pysqlite's own transaction handling commits at odd moments; BEGIN is sent by us below.
        connection.isolation_level = None
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            # Without it INSERT OR REPLACE deletes rows past the DELETE triggers.
            "recursive_triggers=ON",
            f"busy_timeout={SQLITE_BUSY_MILLISECONDS}",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _on_begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        connection.exec_driver_sql(f"PRAGMA query_only={'ON' if options.get('sqlite_readonly') else 'OFF'}")
        connection.exec_driver_sql(f"BEGIN {options.get('sqlite_begin', 'DEFERRED')}")

    return engine


def _note_last_use(_: object, record: ConnectionPoolEntry) -> None:
    record.info["last_use"] = monotonic()


def _check_when_idle(connection: psycopg.Connection[object], record: ConnectionPoolEntry, _: object) -> None:
    """Asks a connection that was idle whether its server still answers; the pool gives another one when not. Asked
    each time, as SQLAlchemy's own pre-ping does, that was one more round trip for every commit under load."""
    if monotonic() - record.info.get("last_use", monotonic()) < IDLE_SECONDS:
        return
    try:
        # Outside of a transaction: after a ROLLBACK psycopg forgets what it has prepared.
        connection.autocommit = True
        connection.execute(b"SELECT 1")
        connection.autocommit = False
    except psycopg.Error as error:
        raise DisconnectionError("the database closed an idle connection") from error


def _prepare_connection(connection: psycopg.Connection[object], _: object) -> None:
    # As text every element is searched for characters to escape, in Python: 40 % of a commit's time.
    connection.adapters.register_dumper(list, ListBinaryDumper)
    # A record of a whole run is compressed when it is stored; PostgreSQL's own method takes ten times as long. A server
    # that was built without the other one stays with its own.
    connection.autocommit = True
    with suppress(psycopg.Error):
        connection.execute(b"SET default_toast_compression = 'lz4'")
    # A role or a database may have another default, and a commit that was acknowledged would not outlive a crash. What
    # waits for standbys too stays as it is.
    connection.execute(
        b"SELECT set_config('synchronous_commit', 'on', false) "
        b"WHERE current_setting('synchronous_commit') IN ('off', 'local')"
    )
    connection.autocommit = False


def durability(connection: Connection) -> dict[str, str]:
    """The settings on which "acknowledged" rests, as the database reports them."""
    if connection.dialect.name == "sqlite":
        ask, names = "PRAGMA", ["journal_mode", "synchronous"]
    else:
        ask, names = "SHOW", ["fsync", "synchronous_commit", "full_page_writes"]
    return {name: str(connection.execute(text(f"{ask} {name}")).scalar()) for name in names}
