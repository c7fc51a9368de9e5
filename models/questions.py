"""Several questions in one statement: what a commit asks before it decides.

PostgreSQL gets one UNION ALL, for what an answer costs is going there and back; SQLite, which is in the same process,
gets one statement after another.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, Final

import psycopg
from sqlalchemy import Connection

from models.bulk import driver, numbered, select_among

TEXT: Final = ("text",)


@dataclass(frozen=True, slots=True)
class Question:
    """A SELECT that says `:namespace`, `IN :keys` and the names in `more`; `types` are its columns' wire types."""

    query: str
    types: tuple[str, ...]
    namespace: str = ""
    keys: Sequence[str] = ()
    more: Mapping[str, object] = field(default_factory=dict)

    @property
    def given(self) -> Mapping[str, object]:
        """The parameters, by their names."""
        return {"namespace": self.namespace, "keys": list(self.keys), **self.more}


_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "text": str,
    "integer": int,
    "bigint": int,
    "timestamptz": datetime.fromisoformat,
    "bytea": bytes.fromhex,
}


def ask_together(connection: Connection, questions: Sequence[Question]) -> list[list[tuple[Any, ...]]]:
    """The rows of each question, in its columns' own types (SQLite gives instants as it keeps them: as text)."""
    if connection.dialect.name == "sqlite":
        return [
            [
                tuple(row)
                for row in select_among(connection, each.query, each.namespace, each.keys, **each.more)
            ]
            for each in questions
        ]
    answers: list[list[tuple[Any, ...]]] = [[] for _ in questions]
    readers = [_readers(each.types) for each in questions]
    statement, names = _together(tuple((each.query, each.types) for each in questions))
    given = [each.given for each in questions]
    # A raw cursor: psycopg would look for its own placeholders in a long statement each time.
    with psycopg.RawCursor(driver(connection)) as cursor:
        for number, *texts in cursor.execute(statement, [given[place][name] for place, name in names]):
            # Shorter rows are filled up with nulls, which `zip` leaves out.
            answers[number].append(
                tuple(
                    None if text is None else read(text)
                    for read, text in zip(readers[number], texts, strict=False)
                )
            )
    return answers


@cache
def _readers(types: tuple[str, ...]) -> tuple[Callable[[str], Any], ...]:
    return tuple(_READERS[each] for each in types)


@lru_cache(maxsize=512)
def _together(asked: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[bytes, list[tuple[int, str]]]:
    """One statement whose rows say which question they answer, with the question and name of each of its parameters;
    every value as text, since columns of a union have one type."""
    width = max(len(types) for _, types in asked)
    parts, places = [], dict[tuple[int, str], int]()
    for number, (query, types) in enumerate(asked):
        names = [f"c{place}" for place in range(len(types))]
        texts = [_text(name, kind) for name, kind in zip(names, types, strict=True)]
        texts += ["NULL"] * (width - len(types))
        asking = numbered(query, places, number)
        parts.append(f"SELECT {number}, {', '.join(texts)} FROM ({asking}) AS q{number}({', '.join(names)})")
    return " UNION ALL ".join(parts).encode(), list(places)


def _text(name: str, kind: str) -> str:
    return f"encode({name}, 'hex')" if kind == "bytea" else f"{name}::text"
