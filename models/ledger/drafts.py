"""Records before they have a place in the log, and the groups that are stored whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Executable

from models.actor import Actor
from models.errors import FieldProblem, InvalidInput, RecordTooLarge
from models.fields import Value
from models.ledger.canonical import CanonicalBody, canonical_body
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import CanonicalizationError, JsonValue, canonicalize
from shipworthy.formats.times import format_instant

if TYPE_CHECKING:
    from models.kinds.kind import Kind
    from models.ledger.workspace import Workspace

MAX_RECORD_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Draft:
    """One record's canonical bytes with what the ledger and the projections need to know of it."""

    kind: Kind
    namespace: str
    subject: str
    key: str
    explicit_key: bool
    content: str
    digest: str
    payload: bytes
    fact: Value
    body: Mapping[str, Any]
    canonical: CanonicalBody
    run_id: str | None
    level: str
    owner: str | None
    key_id: str | None
    complete: Callable[[Workspace, datetime], Draft] | None = None
    """Makes the whole draft of one without payload, under the log lock and in place of the kind's check, at the time of
    the commit. Refuses by raising a ShipworthyError."""


@dataclass(frozen=True, slots=True)
class Item:
    """What is stored together or not at all.

    `check` is asked under the log lock, after the kinds' own checks, and refuses by raising a ShipworthyError.
    `statements` belong to the first draft: they run in the same transaction, unless it was stored before.
    """

    drafts: tuple[Draft, ...]
    check: Callable[[Workspace], None] | None = None
    statements: tuple[Executable, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Stored:
    """Where one record lies: `created` is False when the same content was stored earlier."""

    kind: str
    digest: str
    position: int
    created: bool


def make_draft(
    kind: Kind,
    actor: Actor,
    body: Mapping[str, JsonValue],
    fact: Value,
    *,
    run_id: str | None = None,
    idempotency_key: str | None = None,
    content: str | None = None,
) -> Draft:
    """Canonical bytes of one record.

    `body` is the client's own JSON (what was validated as `fact`), `content` its digest where the stored body
    differs from what the client sent (redacted fields, nested facts taken out).
    Raises InvalidInput for values that have no canonical form, RecordTooLarge above 256 KiB.
    """
    try:
        canonical = canonical_body(body)
    except CanonicalizationError as error:
        raise InvalidInput(str(error), problems=[FieldProblem(error.path, error.reason)]) from error
    content = content or sha256_digest(canonical.whole)
    payload = _envelope(kind, actor, canonical.whole, _subjects(kind, fact))
    if len(payload) > MAX_RECORD_BYTES:
        raise RecordTooLarge(
            f"the {kind.name} record has {len(payload)} bytes, the limit is {MAX_RECORD_BYTES}; "
            "put large parts into a blob and refer to it by digest"
        )
    return Draft(
        kind=kind,
        namespace=actor.namespace,
        subject=kind.subject(fact, run_id),
        key=kind.idempotency_key(fact, run_id, content, actor.owner, idempotency_key),
        explicit_key=idempotency_key is not None,
        content=content,
        digest=sha256_digest(payload),
        payload=payload,
        fact=fact,
        body=body,
        canonical=canonical,
        run_id=run_id,
        level=actor.level,
        owner=actor.owner,
        key_id=actor.key_id if actor.auth == "key" else None,
    )


def late_draft(
    kind: Kind,
    actor: Actor,
    fact: Value,
    *,
    idempotency_key: str,
    content: str,
    complete: Callable[[Workspace, datetime], Draft],
) -> Draft:
    """A record whose body is known only under the log lock. `fact` holds what is known of it before, and `content`
    says what was asked for: the same key again gets what was recorded then."""
    return Draft(
        kind=kind,
        namespace=actor.namespace,
        subject=kind.subject(fact, None),
        key=kind.idempotency_key(fact, None, content, actor.owner, idempotency_key),
        explicit_key=True,
        content=content,
        digest="",
        payload=b"",
        fact=fact,
        body={},
        canonical=CanonicalBody(b"", {}, {}),
        run_id=None,
        level=actor.level,
        owner=actor.owner,
        key_id=actor.key_id if actor.auth == "key" else None,
        complete=complete,
    )


def _subjects(kind: Kind, fact: Value) -> bytes:
    """Canonical bytes; roles are words of ours and digests were validated, so neither needs escaping."""
    listed = [
        f'{{"digest":{{"sha256":"{digest[7:]}"}},"role":"{role}"}}' for role, digest in kind.subjects(fact)
    ]
    return f"[{','.join(listed)}]".encode()


def _envelope(kind: Kind, actor: Actor, body: bytes, subjects: bytes) -> bytes:
    """RFC 8785 bytes of the envelope, its members already in canonical order; `body` is canonical."""
    created = format_instant(datetime.now(UTC))
    return b"".join(
        (
            b'{"actor":',
            actor.envelope,
            b',"body":',
            body,
            b',"created":"',
            created.encode(),
            b'","kind":"',
            kind.name.encode(),
            b'","links":[],"nonce":"',
            os.urandom(16).hex().encode(),
            b'","ns":"',
            actor.namespace.encode(),
            b'","schema":"',
            kind.schema_digest.encode(),
            b'","subjects":',
            subjects,
            b',"v":"shipworthy.record/1"}',
        )
    )


def redactable(value: JsonValue, salt: bytes) -> str:
    """`$redactable` digest of a personal value: SHA-256("redact/v1\\0" ‖ 16-byte salt ‖ JCS(value))."""
    return "sha256:" + sha256(b"redact/v1\0" + salt + canonicalize(value)).hexdigest()
