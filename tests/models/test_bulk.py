"""Rows written and questions asked together: what is read back is what was given, on both databases."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import make_url
from sqlalchemy.exc import IntegrityError

from models.arrays import array
from models.bulk import How, Row, Write, insert_rows, write_all
from models.database import Database
from models.lineage.tables import Ingredient, Revocation
from models.questions import Question, ask_together
from tests.support.databases import DatabaseUrls
from tests.support.postgres import PostgresServer

_DOCUMENTS = (
    "SELECT digest, position, document FROM ingredient WHERE namespace = :namespace AND digest IN :keys"
)
_TYPES = ("text", "bigint", "text")
_AWKWARD = "{},\"\\NULL null ' \t\n é 😀"

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_COLUMNS: dict[str, st.SearchStrategy[Any]] = {
    "text": st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    "integer": st.integers(-(2**31), 2**31 - 1),
    "bigint": st.integers(-(2**63), 2**63 - 1),
    "bytea": st.binary(),
    "timestamptz": st.integers(-(2**55), 2**57).map(lambda offset: _EPOCH + timedelta(microseconds=offset)),
}


@pytest.fixture
def database(database_urls: DatabaseUrls) -> Iterator[Database]:
    opened = Database(database_urls.service_url)
    yield opened
    opened.dispose()


@pytest.fixture(scope="module")
def server_connection(postgres_server: PostgresServer) -> Iterator[psycopg.Connection[Any]]:
    url = make_url(postgres_server.create_database("arrays")).set(drivername="postgresql")
    with psycopg.connect(url.render_as_string(hide_password=False), options="-c timezone=UTC") as connection:
        yield connection


def ingredient(digest: str, document: str = "{}", position: int = 0) -> Row:
    return {"namespace": "a", "digest": digest, "kind": "code", "document": document, "position": position}


def documents(database: Database, *digests: str) -> dict[str, str]:
    with database.reading() as connection:
        (rows,) = ask_together(connection, [Question(_DOCUMENTS, _TYPES, "a", digests)])
    return {digest: document for digest, _, document in rows}


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_postgresql_reads_an_array_as_it_was_given(
    server_connection: psycopg.Connection[Any], data: st.DataObject
) -> None:
    kind = data.draw(st.sampled_from(sorted(_COLUMNS)))
    values: Sequence[Any] = data.draw(st.lists(st.none() | _COLUMNS[kind], min_size=1, max_size=12))
    rows = server_connection.execute(f"SELECT * FROM unnest(%s::{kind}[])".encode(), [array(kind, values)])
    assert [value for (value,) in rows] == values


def test_tables_are_written_together_and_a_taken_key_is_treated_as_told(database: Database) -> None:
    with database.connection() as connection:
        write_all(connection, [Write(Ingredient, [ingredient("first", "1"), ingredient("second", _AWKWARD)])])
    with database.connection() as connection:
        write_all(
            connection,
            [
                Write(Ingredient, [ingredient("third", "3")]),
                Write(Ingredient, [ingredient("first", "other"), ingredient("fourth", "4")], How.MISSING),
                Write(Ingredient, [ingredient("third", "replaced")], How.REPLACED),
                Write(Revocation, []),
            ],
        )
    expected = {"first": "1", "second": _AWKWARD, "third": "replaced", "fourth": "4"}
    assert documents(database, *expected) == expected


def test_row_that_is_there_already_leaves_nothing_of_the_others(database: Database) -> None:
    with database.connection() as connection:
        insert_rows(connection, Ingredient, [ingredient("taken")])
    with pytest.raises((IntegrityError, psycopg.IntegrityError)), database.connection() as connection:
        write_all(connection, [Write(Ingredient, [ingredient("new"), ingredient("taken")])])
    assert documents(database, "new", "taken").keys() == {"taken"}


def test_questions_of_different_shape_are_answered_in_their_own_types(database: Database) -> None:
    with database.connection() as connection:
        insert_rows(connection, Ingredient, [ingredient(name, "{}", 2**53) for name in ("x", "y")])
        answers = ask_together(
            connection,
            [
                Question("SELECT digest FROM ingredient WHERE namespace = :namespace", ("text",), "nobody's"),
                Question(_DOCUMENTS, _TYPES, "a", ["x", "z", _AWKWARD]),
                Question(_DOCUMENTS, _TYPES, "a", []),
                Question("SELECT digest FROM ingredient WHERE digest IN :keys", ("text",), keys=["x", "y"]),
            ],
        )
    assert answers[:3] == [[], [("x", 2**53, "{}")], []]
    assert sorted(answers[3]) == [("x",), ("y",)]
