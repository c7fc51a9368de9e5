"""The state of projections under the log lock: read by set queries, changed in memory, written at the end.

Checks and projections of one batch all work on it, so that a fact sees what its neighbours did. Values put in are
never changed in place; that makes it possible to take back what a refused item did.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection

from models.bulk import How, Row, Write, sql_table, wire_type
from models.columns import Table
from models.ledger.drafts import Draft
from models.ledger.rows import Key, key_of, one_row, row_of
from models.questions import TEXT, Question, ask_together

_ABSENT = object()
_KNOWN: Final = (
    "SELECT idempotency_key, content_digest, digest, position FROM record "
    "WHERE namespace = :namespace AND idempotency_key IN :keys"
)
_KNOWN_TYPES: Final = ("text", "text", "text", "bigint")


@dataclass(frozen=True, slots=True)
class KnownRecord:
    """A record that an idempotency key leads to."""

    content: str
    digest: str
    position: int


class Workspace:
    """Rows by table and primary key. `get` reads a row that was not loaded ahead singly: right, only slower.

    What is to be loaded is queued until somebody asks for any of it, and asked together then.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.states: dict[Key, Any] = {}
        """Values that projections fold over, by (namespace, id); parsed once, rendered once a batch."""
        self.changed_states: dict[Key, bool] = {}
        self._flags: dict[tuple[str, str, str], bool] = {}
        self._known: dict[tuple[str, str], KnownRecord] = {}
        self._answers: dict[Key, list[tuple[Any, ...]]] = {}
        self._asked: list[tuple[Question, Callable[[list[tuple[Any, ...]]], None]]] = []
        self._steps: list[Callable[[], None]] = []
        self._rows: dict[type[Table], dict[Key, Row | None]] = defaultdict(dict)
        self._changed: dict[type[Table], dict[Key, Row]] = defaultdict(dict)
        self._missing: dict[type[Table], dict[Key, Row]] = defaultdict(dict)
        self._new: dict[type[Table], dict[Key, Row]] = defaultdict(dict)
        self._undo: list[tuple[dict[Any, Any], Any, Any]] = []

    @property
    def flags(self) -> Mapping[tuple[str, str, str], bool]:
        """What is known to exist, as (what, namespace, id)."""
        self.fetch()
        return self._flags

    @property
    def known(self) -> Mapping[tuple[str, str], KnownRecord]:
        """Records by (namespace, idempotency key)."""
        self.fetch()
        return self._known

    def ask(self, question: Question, take: Callable[[list[tuple[Any, ...]]], None]) -> None:
        """Queues a question; `take` gets its rows at the latest when somebody wants to know something."""
        self._asked.append((question, take))

    def ask_as(self, key: Key, question: Question) -> None:
        """Queues a question whose rows `answer` gives."""
        self.ask(question, partial(self._answers.__setitem__, key))

    def answer(self, key: Key) -> list[tuple[Any, ...]] | None:
        """The rows as they were before this batch, None when nobody asked."""
        self.fetch()
        return self._answers.get(key)

    def afterwards(self, step: Callable[[], None]) -> None:
        """Something to load that depends on what was asked before: done when that is known."""
        self._steps.append(step)

    def fetch(self) -> None:
        """Asks everything that is queued, and then what follows from the answers."""
        while self._asked or self._steps:
            asked, self._asked = self._asked, []
            if asked:
                answers = ask_together(self.connection, [question for question, _ in asked])
                for (_, take), rows in zip(asked, answers, strict=True):
                    take(rows)
            steps, self._steps = self._steps, []
            for step in steps:
                step()

    def load_known(self, drafts: Iterable[Draft]) -> None:
        """Which idempotency keys of these drafts are taken."""
        for namespace, keys in _by_namespace((draft.namespace, draft.key) for draft in drafts).items():
            self.ask(Question(_KNOWN, _KNOWN_TYPES, namespace, keys), partial(self._take_known, namespace))

    def _take_known(self, namespace: str, rows: list[tuple[Any, ...]]) -> None:
        for key, content, digest, position in rows:
            self._known[namespace, key] = KnownRecord(content, digest, position)

    def load(self, table: type[Table], column: str, wanted: Iterable[tuple[str, str]]) -> None:
        """Rows of a table with primary key (namespace, column), for many (namespace, value) at once."""
        loaded = self._rows[table]
        missing = (each for each in wanted if each not in loaded)
        columns = sql_table(table).columns
        for namespace, values in _by_namespace(missing).items():
            loaded.update(dict.fromkeys(((namespace, value) for value in values), None))
            query = (
                f"SELECT {', '.join(columns.keys())} FROM {sql_table(table).name} "
                f"WHERE namespace = :namespace AND {column} IN :keys"
            )
            types = tuple(wire_type(each.type) for each in columns)
            self.ask(
                Question(query, types, namespace, values), partial(self._take_rows, table, column, namespace)
            )

    def _take_rows(
        self, table: type[Table], column: str, namespace: str, rows: list[tuple[Any, ...]]
    ) -> None:
        for row in rows:
            found = row_of(table, row)
            self._rows[table][namespace, found[column]] = found

    def load_row(self, table: type[Table], *key: object) -> None:
        """The row with this primary key."""
        if key not in self._rows[table]:
            self._rows[table][key] = None
            self.ask(one_row(table, key), partial(self._take_row, table, key))

    def _take_row(self, table: type[Table], key: Key, rows: list[tuple[Any, ...]]) -> None:
        for row in rows:
            self._rows[table][key] = row_of(table, row)

    def get(self, table: type[Table], *key: object) -> Row | None:
        if self._asked or self._steps:
            self.fetch()
        loaded = self._rows[table]
        if key not in loaded:
            self.load_row(table, *key)
            self.fetch()
        found = loaded[key]
        if found is None:
            found = self._new[table].get(key) or self._missing[table].get(key)
        return found

    def is_absent(self, table: type[Table], *key: object) -> bool:
        """Whether the row was looked for and is not in the database."""
        if self._asked or self._steps:
            self.fetch()
        return self._rows[table].get(key, _ABSENT) is None

    def put(self, table: type[Table], row: Row) -> None:
        """A row that replaces what has the same primary key."""
        key = key_of(table, row)
        self._set((self._new if self.is_absent(table, *key) else self._changed)[table], key, row)
        self._set(self._rows[table], key, row)

    def add(self, table: type[Table], row: Row, *, new: bool = False) -> None:
        """A row that is kept unless its primary key is taken: the first one stays. `new` says that the database
        can't have it yet, which is written faster."""
        rows = (self._new if new else self._missing)[table]
        key = key_of(table, row)
        if key not in rows:
            self._set(rows, key, row)

    def pending(self, table: type[Table]) -> list[Row]:
        """Rows that this batch puts or adds and no query can see yet."""
        return [row for rows in (self._new, self._changed, self._missing) for row in rows[table].values()]

    def set_state(self, key: Key, value: object) -> None:
        self._set(self.states, key, value)
        self._set(self.changed_states, key, True)

    def flag(self, what: str, namespace: str, id: str) -> None:
        self._set(self._flags, (what, namespace, id), True)

    def load_flags(self, what: str, query: str, wanted: Iterable[tuple[str, str]]) -> None:
        """Flags the ids that a query (with `:namespace` and `IN :keys`) gives back."""
        for namespace, ids in _by_namespace(wanted).items():
            self.ask(Question(query, TEXT, namespace, ids), partial(self._take_flags, what, namespace))

    def _take_flags(self, what: str, namespace: str, rows: list[tuple[Any, ...]]) -> None:
        for (id,) in rows:
            self._flags[what, namespace, id] = True

    def remember(self, namespace: str, key: str, record: KnownRecord) -> None:
        self._set(self._known, (namespace, key), record)

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

    def writes(self) -> list[Write]:
        """What the projections changed, in the order in which it has to be written."""
        kept = ((self._new, How.NEW), (self._changed, How.REPLACED), (self._missing, How.MISSING))
        return [
            Write(table, rows.values(), how) for tables, how in kept for table, rows in tables.items() if rows
        ]

    def _set(self, target: dict[Any, Any], key: object, value: object) -> None:
        self._undo.append((target, key, target.get(key, _ABSENT)))
        target[key] = value


def _by_namespace(wanted: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for namespace, value in wanted:
        found[namespace][value] = None
    return {namespace: list(values) for namespace, values in found.items()}
