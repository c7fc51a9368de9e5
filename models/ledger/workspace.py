"""The state of projections under the log lock: read by set queries, changed in memory, written at the end.

Checks and projections of one batch all work on it, so that a fact sees what its neighbours did. Values put in are
never changed in place; that makes it possible to take back what a refused item did.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Connection, text

from models.bulk import Row, insert_missing, insert_new, insert_rows, select_among, sql_table, upsert_rows
from models.columns import Table, UTCDateTime
from models.ledger.drafts import Draft

Key = tuple[Any, ...]
_ABSENT = object()
COPY_ROWS: Final = 32
"""From so many rows on a COPY pays for its own round trip: it takes a third of what an array insert takes a row."""


@dataclass(frozen=True, slots=True)
class KnownRecord:
    """A record that an idempotency key leads to."""

    content: str
    digest: str
    position: int


class Workspace:
    """Rows by table and primary key. `get` reads a row that was not loaded ahead singly: right, only slower."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.states: dict[Key, Any] = {}
        """Values that projections fold over, by (namespace, id); parsed once, rendered once a batch."""
        self.changed_states: dict[Key, bool] = {}
        self.flags: dict[tuple[str, str, str], bool] = {}
        """What is known to exist, as (what, namespace, id)."""
        self.known: dict[tuple[str, str], KnownRecord] = {}
        self._rows: dict[type[Table], dict[Key, Row | None]] = defaultdict(dict)
        self._changed: dict[type[Table], dict[Key, Row]] = defaultdict(dict)
        self._missing: dict[type[Table], dict[Key, Row]] = defaultdict(dict)
        self._new: dict[type[Table], dict[Key, Row]] = defaultdict(dict)
        self._undo: list[tuple[dict[Any, Any], Any, Any]] = []

    def load_known(self, drafts: Iterable[Draft]) -> None:
        """Which idempotency keys of these drafts are taken."""
        by_namespace: dict[str, set[str]] = defaultdict(set)
        for draft in drafts:
            by_namespace[draft.namespace].add(draft.key)
        for namespace, keys in by_namespace.items():
            for key, content, digest, position in select_among(
                self.connection,
                "SELECT idempotency_key, content_digest, digest, position FROM record "
                "WHERE namespace = :namespace AND idempotency_key IN :keys",
                namespace,
                keys,
            ):
                self.known[namespace, key] = KnownRecord(content, digest, position)

    def load(self, table: type[Table], column: str, wanted: Iterable[tuple[str, str]]) -> None:
        """Rows of a table with primary key (namespace, column), for many (namespace, value) at once."""
        loaded = self._rows[table]
        by_namespace: dict[str, set[str]] = defaultdict(set)
        for namespace, value in wanted:
            if (namespace, value) not in loaded:
                by_namespace[namespace].add(value)
        names = sql_table(table).columns.keys()
        listed = ", ".join(names)
        for namespace, values in by_namespace.items():
            loaded.update(dict.fromkeys(((namespace, value) for value in values), None))
            query = f"SELECT {listed} FROM {sql_table(table).name} WHERE namespace = :namespace AND {column} IN :keys"
            for row in select_among(self.connection, query, namespace, values):
                found = _row(table, row)
                loaded[namespace, found[column]] = found

    def get(self, table: type[Table], *key: object) -> Row | None:
        loaded = self._rows[table]
        if key not in loaded:
            target = sql_table(table)
            where = " AND ".join(f"{column.name} = :{column.name}" for column in target.primary_key)
            given = dict(zip((column.name for column in target.primary_key), key, strict=True))
            names = target.columns.keys()
            row = self.connection.execute(
                text(f"SELECT {', '.join(names)} FROM {target.name} WHERE {where}"), given
            ).first()
            loaded[key] = None if row is None else _row(table, row)
        found = loaded[key]
        if found is None:
            found = self._new[table].get(key) or self._missing[table].get(key)
        return found

    def is_absent(self, table: type[Table], *key: object) -> bool:
        """Whether the row was looked for and is not in the database."""
        return self._rows[table].get(key, _ABSENT) is None

    def put(self, table: type[Table], row: Row) -> None:
        """A row that replaces what has the same primary key."""
        key = _key(table, row)
        self._set((self._new if self.is_absent(table, *key) else self._changed)[table], key, row)
        self._set(self._rows[table], key, row)

    def add(self, table: type[Table], row: Row, *, new: bool = False) -> None:
        """A row that is kept unless its primary key is taken: the first one stays. `new` says that the database
        can't have it yet, which is written faster."""
        rows = (self._new if new else self._missing)[table]
        key = _key(table, row)
        if key not in rows:
            self._set(rows, key, row)

    def pending(self, table: type[Table]) -> list[Row]:
        """Rows that this batch puts or adds and no query can see yet."""
        return [row for rows in (self._new, self._changed, self._missing) for row in rows[table].values()]

    def set_state(self, key: Key, value: object) -> None:
        self._set(self.states, key, value)
        self._set(self.changed_states, key, True)

    def flag(self, what: str, namespace: str, id: str) -> None:
        self._set(self.flags, (what, namespace, id), True)

    def load_flags(self, what: str, query: str, wanted: Iterable[tuple[str, str]]) -> None:
        """Flags the ids that a query (with `:namespace` and `IN :keys`) gives back."""
        by_namespace: dict[str, set[str]] = defaultdict(set)
        for namespace, id in wanted:
            by_namespace[namespace].add(id)
        for namespace, ids in by_namespace.items():
            for row in select_among(self.connection, query, namespace, ids):
                self.flags[what, namespace, row[0]] = True

    def remember(self, namespace: str, key: str, record: KnownRecord) -> None:
        self._set(self.known, (namespace, key), record)

    def mark(self) -> int:
        return len(self._undo)

    def undo(self, mark: int) -> None:
        """Takes back everything since `mark`."""
        while len(self._undo) > mark:
            target, key, before = self._undo.pop()
            if before is _ABSENT:
                del target[key]
            else:
                target[key] = before

    def copy_new(self) -> None:
        """Writes the many new rows of a table by COPY; what is left goes with `write`."""
        for table, rows in self._new.items():
            if len(rows) >= COPY_ROWS:
                insert_rows(self.connection, table, rows.values())
                self._new[table] = {}

    def write(self) -> None:
        for table, rows in self._new.items():
            insert_new(self.connection, table, rows.values())
        for table, rows in self._changed.items():
            upsert_rows(self.connection, table, rows.values())
        for table, rows in self._missing.items():
            insert_missing(self.connection, table, rows.values())

    def _set(self, target: dict[Any, Any], key: object, value: object) -> None:
        self._undo.append((target, key, target.get(key, _ABSENT)))
        target[key] = value


def _row(table: type[Table], values: Iterable[Any]) -> Row:
    """A row as it was read; SQLite gives instants as text where no column type is asked."""
    row = dict(zip(sql_table(table).columns.keys(), values, strict=True))
    for name in _instants(table):
        if isinstance(row[name], str):
            row[name] = datetime.fromisoformat(row[name]).replace(tzinfo=UTC)
    return row


@cache
def _instants(table: type[Table]) -> list[str]:
    return [column.name for column in sql_table(table).columns if isinstance(column.type, UTCDateTime)]


def _key(table: type[Table], row: Row) -> Key:
    return _key_getter(table)(row)


@cache
def _key_getter(table: type[Table]) -> Callable[[Row], Key]:
    names = [column.name for column in sql_table(table).primary_key]
    if len(names) == 1:
        return lambda row: (row[names[0]],)
    return itemgetter(*names)
