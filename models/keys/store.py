"""Queries and statements on keys. Nothing here commits: the session or the ledger's transaction is the
caller's."""

import hmac
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, Executable, and_, insert, or_, update
from sqlmodel import Session, col, select

from models.columns import instant
from models.keys.tables import ApiKey
from models.ledger.tables import Disclosure
from models.questions import Question
from shipworthy.formats.jcs import JsonValue, canonicalize

_UNREVOKED: Final = "SELECT key_id, expires_at FROM api_key WHERE key_id IN :keys AND revoked_at IS NULL"
_OWNER_PREFIX: Final = b"shipworthy.owner/1\0"


@dataclass(frozen=True, slots=True)
class KeyPosition:
    """The last key of a page; the next page starts after it."""

    created_at: datetime
    key_id: str


def find_key(session: Session, key_id: str) -> ApiKey | None:
    return session.exec(select(ApiKey).where(col(ApiKey.key_id) == key_id)).one_or_none()


def list_keys(
    session: Session, namespace: str | None, after: KeyPosition | None, limit: int
) -> Sequence[ApiKey]:
    """At most `limit` keys in the order they were made; `namespace` None means every namespace."""
    statement = select(ApiKey).order_by(col(ApiKey.created_at), col(ApiKey.key_id)).limit(limit)
    if namespace is not None:
        statement = statement.where(col(ApiKey.namespace) == namespace)
    if after is not None:
        statement = statement.where(
            or_(
                col(ApiKey.created_at) > after.created_at,
                and_(col(ApiKey.created_at) == after.created_at, col(ApiKey.key_id) > after.key_id),
            )
        )
    return session.exec(statement).all()


def keys_question(key_ids: Collection[str]) -> Question:
    """Which of the keys are not revoked, and until when: for the check under the log lock.

    Asked there, no record of a key can follow its revocation in the log, whatever another process has cached.
    """
    return Question(_UNREVOKED, ("text", "timestamptz"), keys=list(key_ids))


def keys_in_force(rows: Sequence[tuple[Any, ...]], now: datetime) -> frozenset[str]:
    """The keys of the answer to `keys_question` that have not expired."""
    found = ((key_id, instant(expires_at)) for key_id, expires_at in rows)
    return frozenset(key_id for key_id, end in found if end is None or end > now)


def is_revoked(connection: Connection, namespace: str, key_id: str) -> bool | None:
    """None when the namespace has no such key."""
    statement = select(ApiKey.revoked_at).where(
        col(ApiKey.namespace) == namespace, col(ApiKey.key_id) == key_id
    )
    found = connection.execute(statement).one_or_none()
    return None if found is None else found[0] is not None


def disclosed(session: Session, digests: Collection[str]) -> dict[str, str]:
    """JSON text behind each `$redactable` digest; an erased one is missing."""
    statement = select(Disclosure.digest, Disclosure.value).where(col(Disclosure.digest).in_(digests))
    return dict(session.exec(statement).all())


def insert_statement(row: ApiKey) -> Executable:
    return insert(ApiKey).values(row.model_dump())


def revoke_statement(key_id: str, at: datetime) -> Executable:
    """Revokes once: a second revocation leaves the first time standing."""
    return (
        update(ApiKey)
        .where(col(ApiKey.key_id) == key_id, col(ApiKey.revoked_at).is_(None))
        .values(revoked_at=at)
    )


def disclosure_statement(digest: str, namespace: str, salt: bytes, value: JsonValue) -> Executable:
    """Keeps what a `$redactable` digest stands for; the value as RFC 8785 text, which is what was hashed."""
    return insert(Disclosure).values(
        digest=digest, namespace=namespace, salt=salt, value=canonicalize(value).decode()
    )


def owner_pseudonym(pepper: bytes, namespace: str, address: str) -> str:
    """32 hex digits, the same for one person in one namespace, so that separation of duties compares persons.

    Case, Unicode compatibility forms and spacing don't make another person: "Ada@Example.org " is
    "ada@example.org". Without the pepper nobody can try addresses, and namespaces can't be joined on it.
    """
    person = " ".join(unicodedata.normalize("NFKC", address).casefold().split())
    message = b"\0".join((_OWNER_PREFIX + namespace.encode(), person.encode()))
    return hmac.new(pepper, message, sha256).hexdigest()[:32]
