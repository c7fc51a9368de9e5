"""Making and revoking keys: each is a record in the key's own namespace, stored together with the key's row.

`prepare_…` makes the item for the ledger without waiting, for async routes; `create_key` and `revoke_key`
wait.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final, cast

from pydantic import ValidationError
from sqlalchemy import Executable

from models.actor import SYSTEM, Actor, EvidenceLevel, Role
from models.errors import Conflict, FieldProblem, InvalidInput, NotFound, RoleMissing
from models.keys.key_files import KeyRing
from models.keys.records import KeyCreated, KeyEnded
from models.keys.rules import KeyRights, check_rights
from models.keys.store import (
    disclosure_statement,
    insert_statement,
    is_revoked,
    owner_pseudonym,
    revoke_statement,
)
from models.keys.tables import ApiKey
from models.keys.tokens import hmac_digest, new_token, secret_hmac
from models.kinds.registry import KINDS
from models.ledger.drafts import Item, make_draft, redactable
from models.ledger.workspace import Workspace
from models.ledger.writer import Ledger
from shipworthy.formats.jcs import JsonValue, canonicalize
from shipworthy.formats.times import format_instant, parse_instant

_RETIRED: Final = (
    "SELECT idempotency_key FROM record WHERE namespace = :namespace AND idempotency_key IN :keys"
)


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """A new key with its token, which is nowhere else: show it once. `expires_at` is aware, whole
    milliseconds."""

    key_id: str
    token: str = field(repr=False)
    namespace: str
    roles: tuple[Role, ...]
    level: EvidenceLevel
    groups: tuple[str, ...]
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class PreparedKey:
    """What to append; the token is valid once the ledger has stored the item."""

    item: Item
    created: CreatedKey


def prepare_key(
    ring: KeyRing,
    *,
    namespace: str,
    roles: Iterable[str],
    owner: str | None = None,
    groups: Sequence[str] = (),
    level: str | None = None,
    expires_at: datetime | None = None,
    actor: Actor = SYSTEM,
) -> PreparedKey:
    """A new token, its row and its record.

    Raises InvalidInput when the rights break a rule (models/keys/rules.py), RoleMissing when the actor is an
    admin of another namespace.
    """
    now = datetime.now(UTC)
    rights = check_rights(
        namespace=namespace,
        roles=roles,
        owner=owner,
        groups=groups,
        level=level,
        expires_at=expires_at,
        now=now,
    )
    actor = _actor_in(namespace, actor)
    # Records carry milliseconds; the row must not say another time than its record.
    expires_at = None if expires_at is None else parse_instant(format_instant(expires_at))
    token = new_token()
    secret = secret_hmac(ring.pepper, namespace, token.key_id, token.secret)
    body: dict[str, JsonValue] = {
        "key_id": token.key_id,
        "namespace": namespace,
        "token": hmac_digest(secret),
        "roles": [*rights.roles],
        "groups": [*rights.groups],
        "level": rights.level,
    }
    pseudonym, who, disclosure = _person(ring, rights)
    if who is not None:
        body |= {"owner": pseudonym, "who": {"$redactable": who}}
    if expires_at is not None:
        body["expires_at"] = format_instant(expires_at)
    row = ApiKey.model_validate(
        {
            "key_id": token.key_id,
            "namespace": namespace,
            "roles": ",".join(rights.roles),
            "groups": canonicalize([*rights.groups]).decode(),
            "level": rights.level.value,
            "owner": pseudonym,
            "who": who,
            "secret_hmac": secret,
            "created_at": now,
            "expires_at": expires_at,
        }
    )
    fact = KeyCreated.model_validate_json(canonicalize(body))
    draft = make_draft(KINDS["key.created"], actor, body, fact)
    item = Item((draft,), statements=(insert_statement(row), *disclosure))
    created = CreatedKey(
        key_id=token.key_id,
        token=token.token,
        namespace=namespace,
        roles=rights.roles,
        level=rights.level,
        groups=rights.groups,
        expires_at=expires_at,
    )
    return PreparedKey(item, created)


def create_key(
    ledger: Ledger,
    ring: KeyRing,
    *,
    namespace: str,
    roles: Iterable[str],
    owner: str | None = None,
    groups: Sequence[str] = (),
    level: str | None = None,
    expires_at: datetime | None = None,
    actor: Actor = SYSTEM,
) -> CreatedKey:
    """Makes a key and waits until it is stored; raises what `prepare_key` raises."""
    prepared = prepare_key(
        ring,
        namespace=namespace,
        roles=roles,
        owner=owner,
        groups=groups,
        level=level,
        expires_at=expires_at,
        actor=actor,
    )
    ledger.append(prepared.item).result()
    return prepared.created


def prepare_end(
    key_id: str, *, namespace: str, reason: str, kind: str = "key.revoked", actor: Actor = SYSTEM
) -> Item:
    """The record and the statement that end a key: `kind` is key.revoked or key.retired. Whether it is there and goes
    on is asked under the log lock: NotFound when the namespace has no such key, Conflict when it ended before. A key
    that was retired may be revoked still: only then what it wrote loses its worth.

    After the item is stored, call `Authenticator.forget(key_id)`. Raises InvalidInput when the reason is
    empty, longer than 4,096 characters, or the id is no key id.
    """
    actor = _actor_in(namespace, actor)
    body: dict[str, JsonValue] = {"key_id": key_id, "reason": reason}
    try:
        fact = cast(KeyEnded, KINDS[kind].body.model_validate(body))
    except ValidationError as error:
        problems = [
            FieldProblem(f"/{problem['loc'][0]}", f"{problem['msg']}; correct it")
            for problem in error.errors()
        ]
        raise InvalidInput(
            "the end of a key takes the 12 characters of a key id and a reason of 1 to 4,096 characters",
            problems=problems,
        ) from None
    draft = make_draft(KINDS[kind], actor, body, fact)

    def check(workspace: Workspace) -> None:
        has_ended = is_revoked(workspace.connection, namespace, key_id)
        if has_ended is None:
            raise NotFound(f"namespace {namespace} has no key {key_id}; list the keys to find its id")
        workspace.load_flags("key_retired", _RETIRED, [(namespace, f"key.retired|{key_id}")])
        is_retired = ("key_retired", namespace, f"key.retired|{key_id}") in workspace.flags
        if has_ended and not (is_retired and kind == "key.revoked"):
            raise Conflict(f"key {key_id} was revoked before; nothing is left to do")

    return Item((draft,), check=check, statements=(revoke_statement(key_id, datetime.now(UTC)),))


def revoke_key(ledger: Ledger, key_id: str, *, namespace: str, reason: str, actor: Actor = SYSTEM) -> None:
    """Revokes a key and waits until that is stored; raises what `prepare_end` describes."""
    ledger.append(prepare_end(key_id, namespace=namespace, reason=reason, actor=actor)).result()


def retire_key(ledger: Ledger, key_id: str, *, namespace: str, reason: str) -> None:
    """Ends a key whose evidence stays worth what it was; raises what `prepare_end` describes."""
    ledger.append(prepare_end(key_id, namespace=namespace, reason=reason, kind="key.retired")).result()


def _actor_in(namespace: str, actor: Actor) -> Actor:
    """The command line acts in every namespace, an admin key in its own only."""
    if actor.auth == SYSTEM.auth:
        return replace(actor, namespace=namespace)
    if actor.namespace != namespace:
        raise RoleMissing(
            f"an admin key of namespace {actor.namespace} administers that namespace only; use one of "
            f"{namespace}, or the command line of the service: shipworthy-server keys"
        )
    return actor


def _person(ring: KeyRing, rights: KeyRights) -> tuple[str | None, str | None, tuple[Executable, ...]]:
    """The owner's pseudonym, the `$redactable` digest, and the statement that keeps what it stands for."""
    if rights.owner is None:
        return None, None, ()
    salt = os.urandom(16)
    who = redactable(rights.owner, salt)
    statement = disclosure_statement(who, rights.namespace, salt, rights.owner)
    return owner_pseudonym(ring.pepper, rights.namespace, rights.owner), who, (statement,)
