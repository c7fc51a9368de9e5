"""Who calls: bearer tokens, expiry, revocation, roles, and open mode with its guards."""

import asyncio
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text
from starlette.requests import Request

from api.auth import Authenticator, require_role
from api.loopback import assert_loopback
from models.actor import Actor, EvidenceLevel, Role
from models.database import Database
from models.errors import RoleMissing, StartRefused, TokenInvalid, TokenMissing
from models.keys.administration import CreatedKey, create_key, prepare_key, revoke_key
from models.keys.key_files import KeyRing
from models.keys.store import owner_pseudonym
from models.keys.tokens import format_token, new_token, parse_token
from models.ledger.writer import Ledger


class Clock:
    """Both clocks of the authenticator, moved by hand and apart."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.wall = datetime.now(UTC)

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return self.wall


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def authenticator(database: Database, ring: KeyRing, clock: Clock) -> Iterator[Authenticator]:
    authenticator = Authenticator(database, ring.pepper, monotonic=clock.monotonic, now=clock.now)
    yield authenticator
    authenticator.close()


@pytest.fixture
def open_authenticator(sqlite_database: Database) -> Iterator[Authenticator]:
    authenticator = Authenticator(sqlite_database, b"p" * 32, open_mode=True)
    yield authenticator
    authenticator.close()


@pytest.fixture
def key(ledger: Ledger, ring: KeyRing) -> CreatedKey:
    return create_key(ledger, ring, namespace="team-a", roles=["reader", "recorder"], owner="ada@example.org")


def make_request(*authorization: str, **headers: str) -> Request:
    pairs = [("authorization", value) for value in authorization] + list(headers.items())
    raw = [(name.encode(), value.encode("latin-1")) for name, value in pairs]
    return Request({"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": raw})


def ask(authenticator: Authenticator, *authorization: str, **headers: str) -> Actor:
    return asyncio.run(authenticator.actor(make_request(*authorization, **headers)))


def test_token_leads_to_its_actor(authenticator: Authenticator, key: CreatedKey, ring: KeyRing) -> None:
    actor = ask(authenticator, f"Bearer {key.token}")
    assert actor.key_id == key.key_id
    assert actor.namespace == "team-a"
    assert actor.roles == {Role.READER, Role.RECORDER}
    assert actor.level is EvidenceLevel.SELF_REPORTED
    assert actor.owner == owner_pseudonym(ring.pepper, "team-a", "ada@example.org")
    assert actor.who is not None
    assert actor.auth == "key"


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER  "])
def test_scheme_is_bearer_in_any_case(authenticator: Authenticator, key: CreatedKey, scheme: str) -> None:
    assert ask(authenticator, scheme + key.token).key_id == key.key_id


def test_missing_header_and_other_schemes_are_token_missing(
    authenticator: Authenticator, key: CreatedKey
) -> None:
    with pytest.raises(TokenMissing, match="Authorization: Bearer"):
        ask(authenticator)
    for header in (f"Basic {key.token}", key.token, f"Token {key.token}", ""):
        with pytest.raises(TokenMissing):
            ask(authenticator, header)


def test_token_elsewhere_than_in_the_header_is_not_taken(
    authenticator: Authenticator, key: CreatedKey
) -> None:
    request = make_request(cookie=f"token={key.token}", **{"x-api-key": key.token})
    request.scope["query_string"] = f"access_token={key.token}".encode()
    with pytest.raises(TokenMissing):
        asyncio.run(authenticator.actor(request))


def test_two_authorization_headers_are_refused(authenticator: Authenticator, key: CreatedKey) -> None:
    with pytest.raises(TokenInvalid, match="more than once"):
        ask(authenticator, f"Bearer {key.token}", f"Bearer {key.token}")


def test_every_kind_of_wrong_token_gets_the_same_answer(
    authenticator: Authenticator, key: CreatedKey, ledger: Ledger, ring: KeyRing
) -> None:
    revoked = create_key(ledger, ring, namespace="team-a", roles=["reader"])
    revoke_key(ledger, revoked.key_id, namespace="team-a", reason="test")
    wrong_checksum = key.token[:-1] + ("0" if key.token[-1] != "0" else "1")
    wrong = [
        "",
        "sw_",
        "ä" * 89,
        key.token + "x",
        wrong_checksum,
        new_token().token,
        format_token(key.key_id, os.urandom(32)),
        format_token(key.key_id, b"\0" * 32),
        revoked.token,
    ]
    answers = set()
    for token in wrong:
        with pytest.raises(TokenInvalid) as caught:
            ask(authenticator, f"Bearer {token}")
        answers.add(caught.value.detail)
    assert len(answers) == 1


def test_token_made_under_another_pepper_is_invalid(database: Database, key: CreatedKey) -> None:
    other = Authenticator(database, os.urandom(32))
    with pytest.raises(TokenInvalid):
        ask(other, f"Bearer {key.token}")
    other.close()


def test_secret_of_one_key_opens_no_other_whose_row_was_given_it(
    authenticator: Authenticator, database: Database, key: CreatedKey, ledger: Ledger, ring: KeyRing
) -> None:
    """Whoever has the service's database role may change the table; the secret alone must not make another key."""
    other = create_key(ledger, ring, namespace="team-a", roles=["approver"], owner="lin@example.org")
    parsed = parse_token(key.token)
    assert parsed is not None
    with database.connection() as connection:
        copied = text(
            "UPDATE api_key SET secret_hmac = (SELECT secret_hmac FROM api_key AS mine WHERE mine.key_id = :mine) "
            "WHERE key_id = :other"
        )
        assert connection.execute(copied, {"mine": key.key_id, "other": other.key_id}).rowcount == 1
    with pytest.raises(TokenInvalid):
        ask(authenticator, f"Bearer {format_token(other.key_id, parsed.secret)}")


def test_key_that_was_moved_to_another_namespace_opens_nothing(
    authenticator: Authenticator, database: Database, key: CreatedKey
) -> None:
    with database.connection() as connection:
        connection.execute(text("UPDATE api_key SET namespace = 'team-b'"))
    with pytest.raises(TokenInvalid):
        ask(authenticator, f"Bearer {key.token}")


def test_key_ends_at_its_expiry_even_while_cached(
    authenticator: Authenticator, ledger: Ledger, ring: KeyRing, clock: Clock
) -> None:
    ends = datetime.now(UTC) + timedelta(hours=1)
    key = create_key(ledger, ring, namespace="team-a", roles=["reader"], expires_at=ends)
    assert ask(authenticator, f"Bearer {key.token}").key_id == key.key_id
    clock.wall = ends
    with pytest.raises(TokenInvalid):
        ask(authenticator, f"Bearer {key.token}")


def test_verified_token_is_answered_without_suspending(authenticator: Authenticator, key: CreatedKey) -> None:
    actor = ask(authenticator, f"Bearer {key.token}")
    # Stepped by hand and without an event loop: a wait for anything would not end in StopIteration.
    call = authenticator.actor(make_request(f"Bearer {key.token}"))
    with pytest.raises(StopIteration) as ended:
        call.send(None)
    assert ended.value.value is actor


def test_revocation_in_this_process_is_effective_at_once(
    authenticator: Authenticator, key: CreatedKey, ledger: Ledger
) -> None:
    ask(authenticator, f"Bearer {key.token}")
    revoke_key(ledger, key.key_id, namespace="team-a", reason="test")
    authenticator.forget(key.key_id)
    with pytest.raises(TokenInvalid):
        ask(authenticator, f"Bearer {key.token}")


def test_revocation_in_another_process_is_effective_after_a_second(
    authenticator: Authenticator, key: CreatedKey, ledger: Ledger, clock: Clock
) -> None:
    ask(authenticator, f"Bearer {key.token}")
    revoke_key(ledger, key.key_id, namespace="team-a", reason="test")
    clock.seconds += 1
    with pytest.raises(TokenInvalid):
        ask(authenticator, f"Bearer {key.token}")


def test_refusal_is_not_remembered(authenticator: Authenticator, ledger: Ledger, ring: KeyRing) -> None:
    """A token tried before its key was stored works as soon as it is."""
    prepared = prepare_key(ring, namespace="team-a", roles=["reader"])
    with pytest.raises(TokenInvalid):
        ask(authenticator, f"Bearer {prepared.created.token}")
    ledger.append(prepared.item).result()
    assert ask(authenticator, f"Bearer {prepared.created.token}").key_id == prepared.created.key_id


def test_many_requests_at_once_are_all_answered(authenticator: Authenticator, key: CreatedKey) -> None:
    """More than readers and database connections together."""

    async def ask_all() -> list[Actor]:
        requests = [make_request(f"Bearer {key.token}") for _ in range(128)]
        return await asyncio.gather(*(authenticator.actor(request) for request in requests))

    assert {actor.key_id for actor in asyncio.run(ask_all())} == {key.key_id}


def test_require_role_names_what_is_needed_and_the_command() -> None:
    actor = Actor("a" * 12, "team-a", frozenset({Role.READER}), EvidenceLevel.SELF_REPORTED)
    require_role(actor, Role.WORKER, Role.READER)
    with pytest.raises(RoleMissing) as caught:
        require_role(actor, Role.RECORDER, Role.WORKER)
    assert "role recorder or worker, this key has reader" in caught.value.detail
    assert "shipworthy-server keys create --namespace team-a --role recorder" in caught.value.detail
    with pytest.raises(RoleMissing, match="--role approver --owner ADDRESS"):
        require_role(actor, Role.APPROVER)


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:8080", "127.9.9.9"])
def test_open_mode_is_local_who_never_approves(open_authenticator: Authenticator, host: str) -> None:
    actor = ask(open_authenticator, host=host)
    assert (actor.key_id, actor.namespace, actor.auth) == ("local", "default", "open")
    assert actor.roles == frozenset(Role) - {Role.APPROVER, Role.ADMIN}
    assert actor.level is EvidenceLevel.SELF_REPORTED
    assert actor.owner is not None


@pytest.mark.parametrize(
    "host",
    ["evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "0.0.0.0", "", "["],
)
def test_open_mode_refuses_names_that_were_rebound_to_loopback(
    open_authenticator: Authenticator, host: str
) -> None:
    with pytest.raises(TokenMissing, match="loopback names only"):
        ask(open_authenticator, host=host)


def test_open_mode_refuses_a_request_without_host(open_authenticator: Authenticator) -> None:
    with pytest.raises(TokenMissing):
        ask(open_authenticator)


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "http://localhost:9", "null", "http://127.0.0.1:80801", "http://127.0.0.1"],
)
def test_open_mode_refuses_pages_of_other_sites(open_authenticator: Authenticator, origin: str) -> None:
    with pytest.raises(TokenMissing, match="no calls from pages"):
        ask(open_authenticator, host="127.0.0.1:8080", origin=origin)


def test_open_mode_takes_its_own_pages(open_authenticator: Authenticator) -> None:
    own = ask(open_authenticator, host="127.0.0.1:8080", origin="http://127.0.0.1:8080")
    assert own.key_id == "local"


def test_open_mode_takes_no_wrong_token_for_local(open_authenticator: Authenticator) -> None:
    with pytest.raises(TokenInvalid):
        ask(open_authenticator, f"Bearer {new_token().token}", host="127.0.0.1")
    with pytest.raises(TokenMissing):
        ask(open_authenticator, "Basic bG9jYWw6", host="127.0.0.1")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.1.2.3"])
def test_loopback_addresses_may_be_open(host: str) -> None:
    assert_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "", "service.example", "192.168.1.1"])
def test_other_addresses_may_not_be_open(host: str) -> None:
    with pytest.raises(StartRefused, match=r"--host 127\.0\.0\.1"):
        assert_loopback(host)
