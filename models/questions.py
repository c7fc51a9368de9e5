"""Several questions in one statement: what a commit asks before it decides.

PostgreSQL gets one UNION ALL, for what an answer costs is going there and back; SQLite, which is in the same process,
gets one statement after another.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, Final

from sqlalchemy import Connection

from models.bulk import as_asked, driver, select_among

TEXT: Final = ("text",)


@dataclass(frozen=True, slots=True)
class Question:
    """A SELECT that says `:namespace` and `IN :keys`; `types` are the wire types of its columns, in order."""

    query: str
    types: tuple[str, ...]
    namespace: str = ""
    keys: Sequence[str] = ()


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
            [tuple(row) for row in select_among(connection, each.query, each.namespace, each.keys)]
            for each in questions
        ]
    answers: list[list[tuple[Any, ...]]] = [[] for _ in questions]
    readers = [_readers(each.types) for each in questions]
    given: dict[str, object] = {}
    for number, each in enumerate(questions):
        given[f"namespace_{number}"], given[f"keys_{number}"] = each.namespace, list(each.keys)
    statement = _together(tuple((each.query, each.types) for each in questions))
    with driver(connection).cursor() as cursor:
        for number, *texts in cursor.execute(statement, given):
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
def _together(asked: tuple[tuple[str, tuple[str, ...]], ...]) -> bytes:
    """One statement whose rows say which question they answer; every value as text, since columns of a union have one
    type."""
    width = max(len(types) for _, types in asked)
    parts = []
    for number, (query, types) in enumerate(asked):
        names = [f"c{place}" for place in range(len(types))]
        texts = [_text(name, kind) for name, kind in zip(names, types, strict=True)]
        texts += ["NULL"] * (width - len(types))
        named = as_asked(query, "postgresql")
        for name in ("namespace", "keys"):
            named = named.replace(f"%({name})s", f"%({name}_{number})s")
        parts.append(f"SELECT {number}, {', '.join(texts)} FROM ({named}) AS q{number}({', '.join(names)})")
    return " UNION ALL ".join(parts).encode()


def _text(name: str, kind: str) -> str:
    return f"encode({name}, 'hex')" if kind == "bytea" else f"{name}::text"
