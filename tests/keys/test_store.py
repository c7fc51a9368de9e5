"""Queries on keys, and the pseudonyms of their owners."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event

from models.database import Database
from models.keys.store import (
    KeyPosition,
    disclosed,
    disclosure_statement,
    find_key,
    insert_statement,
    is_revoked,
    keys_in_force,
    keys_question,
    list_keys,
    owner_pseudonym,
    revoke_statement,
)
from models.keys.tables import ApiKey
from models.questions import ask_together

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
PEPPER = b"p" * 32


def make_row(key_id: str, *, namespace: str = "team-a", **changes: object) -> ApiKey:
    row = {
        "key_id": key_id,
        "namespace": namespace,
        "roles": "reader",
        "groups": "[]",
        "level": "self_reported",
        "secret_hmac": b"h" * 32,
        "created_at": NOW,
    }
    return ApiKey.model_validate({**row, **changes})


def _insert(database: Database, *rows: ApiKey) -> None:
    with database.connection() as connection:
        for row in rows:
            connection.execute(insert_statement(row))


def test_a_key_reads_back_identical(database: Database) -> None:
    row = make_row(
        "a" * 12,
        owner="f" * 32,
        who=f"sha256:{'0' * 64}",
        groups='["risk"]',
        expires_at=NOW + timedelta(days=1, microseconds=7),
        secret_hmac=bytes(range(32)),
    )
    _insert(database, row)
    with database.read() as session:
        found = find_key(session, row.key_id)
        assert found is not None
        assert found.model_dump() == row.model_dump()
        assert find_key(session, "b" * 12) is None


def test_representation_of_a_row_hides_the_hmac() -> None:
    assert "hhhh" not in repr(make_row("a" * 12))


def test_pages_follow_the_time_of_making_and_lose_no_key(database: Database) -> None:
    """Seven keys of one instant, then two of a later one whose ids sort first."""
    rows = [make_row(letter * 12) for letter in "hgfedcz"]
    rows += [make_row(letter * 12, created_at=NOW + timedelta(seconds=1)) for letter in "ba"]
    _insert(database, *rows, make_row("x" * 12, namespace="team-b"))
    seen: list[str] = []
    after: KeyPosition | None = None
    with database.read() as session:
        while page := list_keys(session, "team-a", after, 2):
            assert len(page) <= 2
            seen += [key.key_id[0] for key in page]
            after = KeyPosition(page[-1].created_at, page[-1].key_id)
        assert seen == ["c", "d", "e", "f", "g", "h", "z", "a", "b"]
        assert len(list_keys(session, None, None, 100)) == 10
        assert list_keys(session, "team-c", None, 100) == []


def test_a_page_is_one_statement(database: Database) -> None:
    _insert(database, *[make_row(letter * 12) for letter in "abcdef"])
    statements: list[str] = []

    @event.listens_for(database.engine, "before_cursor_execute")
    def _note(*arguments: object) -> None:
        statements.append(str(arguments[2]))

    with database.read() as session:
        assert len(list_keys(session, "team-a", None, 5)) == 5
    assert sum("api_key" in statement for statement in statements) == 1


def test_keys_in_force_leaves_out_revoked_expired_and_unknown(database: Database) -> None:
    _insert(
        database,
        make_row("a" * 12),
        make_row("b" * 12, expires_at=NOW + timedelta(seconds=1)),
        make_row("c" * 12, expires_at=NOW),
        make_row("d" * 12, revoked_at=NOW),
    )
    with database.connection() as connection:
        given = [letter * 12 for letter in "abcde"]
        all_of_them, none = ask_together(connection, [keys_question(given), keys_question([])])
    assert keys_in_force(all_of_them, NOW) == {"a" * 12, "b" * 12}
    assert keys_in_force(none, NOW) == frozenset()


def test_revoking_twice_keeps_the_first_time(database: Database) -> None:
    _insert(database, make_row("a" * 12), make_row("b" * 12))
    with database.connection() as connection:
        connection.execute(revoke_statement("a" * 12, NOW))
        connection.execute(revoke_statement("a" * 12, NOW + timedelta(days=1)))
        assert is_revoked(connection, "team-a", "a" * 12) is True
        assert is_revoked(connection, "team-a", "b" * 12) is False
        assert is_revoked(connection, "team-b", "a" * 12) is None
    with database.read() as session:
        found = find_key(session, "a" * 12)
        assert found is not None
        assert found.revoked_at == NOW


def test_disclosed_gives_the_canonical_value(database: Database) -> None:
    digest = f"sha256:{'1' * 64}"
    with database.connection() as connection:
        connection.execute(disclosure_statement(digest, "team-a", b"s" * 16, 'Ada "é"'))
    with database.read() as session:
        assert disclosed(session, [digest, f"sha256:{'2' * 64}"]) == {digest: '"Ada \\"é\\""'}


@pytest.mark.parametrize(
    "other", ["ADA@example.org", "  ada@Example.Org\t", "ａｄａ@example.org", "ada@EXAMPLE.org\n"]
)
def test_one_person_written_otherwise_has_one_pseudonym(other: str) -> None:
    assert owner_pseudonym(PEPPER, "team-a", other) == owner_pseudonym(PEPPER, "team-a", "ada@example.org")


def test_pseudonym_depends_on_person_namespace_and_pepper() -> None:
    made = {
        owner_pseudonym(PEPPER, "team-a", "ada@example.org"),
        owner_pseudonym(PEPPER, "team-a", "bob@example.org"),
        owner_pseudonym(PEPPER, "team-b", "ada@example.org"),
        owner_pseudonym(b"q" * 32, "team-a", "ada@example.org"),
        owner_pseudonym(PEPPER, "team", "-aada@example.org"),
    }
    assert len(made) == 5


@given(st.text(max_size=256))
def test_pseudonym_is_32_hex_digits(address: str) -> None:
    pseudonym = owner_pseudonym(PEPPER, "team-a", address)
    assert len(bytes.fromhex(pseudonym)) == 16
    assert pseudonym == pseudonym.lower()
