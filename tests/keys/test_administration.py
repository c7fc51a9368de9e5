"""Making and revoking keys through the ledger: a record and a row, together."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlmodel import col, select

from models.actor import Actor, EvidenceLevel, Role
from models.database import Database
from models.errors import Conflict, InvalidInput, NotFound, RoleMissing, TokenInvalid
from models.keys.administration import create_key, prepare_end, prepare_key, revoke_key
from models.keys.key_files import KeyRing
from models.keys.store import disclosed, find_key, owner_pseudonym
from models.keys.tokens import parse_token, secret_hmac
from models.ledger.drafts import redactable
from models.ledger.tables import Disclosure, Record
from models.ledger.writer import Ledger


def make_admin(ledger: Ledger, ring: KeyRing) -> Actor:
    """An admin of team-a, with a key in force."""
    made = create_key(ledger, ring, namespace="team-a", roles=["admin"])
    return Actor(made.key_id, "team-a", frozenset({Role.ADMIN}), EvidenceLevel.SELF_REPORTED)


def _records(database: Database) -> list[tuple[str, bytes]]:
    statement = select(Record.namespace, Record.payload).order_by(col(Record.position))
    with database.read() as session:
        return [(namespace, bytes(payload)) for namespace, payload in session.exec(statement)]


def test_created_key_has_a_row_that_knows_its_token(
    database: Database, ledger: Ledger, ring: KeyRing
) -> None:
    ends = datetime.now(UTC) + timedelta(days=90)
    made = create_key(
        ledger,
        ring,
        namespace="team-a",
        roles=["approver", "author"],
        owner="Ada@example.org",
        groups=["model-risk"],
        expires_at=ends,
    )
    parsed = parse_token(made.token)
    assert parsed is not None
    with database.read() as session:
        row = find_key(session, made.key_id)
        assert row is not None
        assert row.secret_hmac == secret_hmac(ring.pepper, "team-a", made.key_id, parsed.secret)
        assert (row.namespace, row.roles, row.groups) == ("team-a", "approver,author", '["model-risk"]')
        assert row.owner == owner_pseudonym(ring.pepper, "team-a", "ada@example.org")
        assert row.expires_at == made.expires_at
        assert made.expires_at is not None
        assert timedelta(0) <= ends - made.expires_at < timedelta(milliseconds=1)


def test_record_is_in_the_keys_namespace_and_holds_neither_secret_nor_address(
    database: Database, ledger: Ledger, ring: KeyRing
) -> None:
    made = create_key(ledger, ring, namespace="team-a", roles=["approver"], owner="ada@example.org")
    [(namespace, payload)] = _records(database)
    record = json.loads(payload)
    assert namespace == record["ns"] == "team-a"
    assert record["kind"] == "key.created"
    assert record["actor"] == {"auth": "system", "id": "system", "level": "server_run", "owner": None}
    assert record["body"]["key_id"] == made.key_id
    assert record["body"]["roles"] == ["approver"]
    parsed = parse_token(made.token)
    assert parsed is not None
    stored = secret_hmac(ring.pepper, "team-a", made.key_id, parsed.secret)
    for secret in (parsed.secret.hex(), stored.hex(), "example.org"):
        assert secret.encode() not in payload


def test_who_digest_opens_to_the_owner(database: Database, ledger: Ledger, ring: KeyRing) -> None:
    create_key(ledger, ring, namespace="team-a", roles=["reader"], owner=" Ada Lovelace ")
    who = json.loads(_records(database)[0][1])["body"]["who"]["$redactable"]
    with database.read() as session:
        assert disclosed(session, [who]) == {who: '"Ada Lovelace"'}
        salt = session.exec(select(Disclosure.salt)).one()
    assert redactable("Ada Lovelace", bytes(salt)) == who


def test_key_without_owner_names_nobody(database: Database, ledger: Ledger, ring: KeyRing) -> None:
    create_key(ledger, ring, namespace="team-a", roles=["recorder"])
    assert json.loads(_records(database)[0][1])["body"].keys().isdisjoint({"owner", "who", "expires_at"})


def test_admin_key_administers_its_own_namespace_only(
    database: Database, ledger: Ledger, ring: KeyRing
) -> None:
    admin = make_admin(ledger, ring)
    made = create_key(ledger, ring, namespace="team-a", roles=["reader"], actor=admin)
    assert json.loads(_records(database)[1][1])["actor"]["id"] == admin.key_id
    other = create_key(ledger, ring, namespace="team-b", roles=["reader"])
    with pytest.raises(RoleMissing, match="team-a administers that namespace only"):
        create_key(ledger, ring, namespace="team-b", roles=["reader"], actor=admin)
    with pytest.raises(RoleMissing):
        revoke_key(ledger, other.key_id, namespace="team-b", reason="mine now", actor=admin)
    with pytest.raises(NotFound):
        revoke_key(ledger, other.key_id, namespace="team-a", reason="mine now", actor=admin)
    revoke_key(ledger, made.key_id, namespace="team-a", reason="left", actor=admin)
    with database.read() as session:
        row = find_key(session, other.key_id)
        assert row is not None
        assert row.revoked_at is None


def test_no_record_of_a_key_follows_its_revocation_in_the_log(
    database: Database, ledger: Ledger, ring: KeyRing
) -> None:
    """Not in a later batch, whatever a process has cached, and not in the same batch either."""
    admin = make_admin(ledger, ring)
    written = [prepare_key(ring, namespace="team-a", roles=["reader"], actor=admin).item for _ in range(3)]
    revocation = prepare_end(admin.key_id, namespace="team-a", reason="left")
    before, revoked, after = asyncio.run(ledger.append_all([written[0], revocation, written[1]]))
    assert isinstance(before, tuple)
    assert isinstance(revoked, tuple)
    assert isinstance(after, TokenInvalid)
    with pytest.raises(TokenInvalid):
        ledger.append(written[2]).result()
    kinds = [json.loads(payload)["kind"] for _, payload in _records(database)]
    assert kinds == ["key.created", "key.created", "key.revoked"]


def test_a_key_revoked_twice_at_once_is_revoked_once(
    database: Database, ledger: Ledger, ring: KeyRing
) -> None:
    made = create_key(ledger, ring, namespace="team-a", roles=["reader"])
    items = [prepare_end(made.key_id, namespace="team-a", reason=reason) for reason in ("a", "b")]
    first, second = asyncio.run(ledger.append_all(items))
    assert isinstance(first, tuple)
    assert isinstance(second, Conflict)
    assert len(_records(database)) == 2


def test_revocation_is_recorded_once(database: Database, ledger: Ledger, ring: KeyRing) -> None:
    made = create_key(ledger, ring, namespace="team-a", roles=["reader"])
    revoke_key(ledger, made.key_id, namespace="team-a", reason="laptop lost")
    for reason in ("laptop lost", "once more"):
        with pytest.raises(Conflict, match=f"{made.key_id}|before"):
            revoke_key(ledger, made.key_id, namespace="team-a", reason=reason)
    bodies = [json.loads(payload)["body"] for _, payload in _records(database)]
    assert bodies[1:] == [{"key_id": made.key_id, "reason": "laptop lost"}]
    with database.read() as session:
        row = find_key(session, made.key_id)
        assert row is not None
        assert row.revoked_at is not None


def test_unknown_key_or_empty_reason_leaves_no_record(database: Database, ledger: Ledger) -> None:
    with pytest.raises(NotFound, match="no key"):
        revoke_key(ledger, "a" * 12, namespace="team-a", reason="x")
    with pytest.raises(InvalidInput) as caught:
        revoke_key(ledger, "a" * 12, namespace="team-a", reason="")
    assert [problem.field for problem in caught.value.problems] == ["/reason"]
    with pytest.raises(InvalidInput):
        revoke_key(ledger, "NOT-AN-ID", namespace="team-a", reason="x")
    assert _records(database) == []


def test_broken_rule_leaves_no_record(database: Database, ledger: Ledger, ring: KeyRing) -> None:
    with pytest.raises(InvalidInput):
        create_key(ledger, ring, namespace="team-a", roles=["admin", "recorder"])
    assert _records(database) == []


def test_representation_of_a_prepared_key_shows_no_token(ring: KeyRing) -> None:
    prepared = prepare_key(ring, namespace="team-a", roles=["reader"])
    assert prepared.created.key_id in repr(prepared.created)
    assert prepared.created.token not in repr(prepared)
