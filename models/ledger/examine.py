"""One stored record, checked against itself: bytes, digest, envelope and columns must tell the same."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from models.kinds.registry import KINDS
from models.ledger.entries import Entry
from models.ledger.reading import StoredRecord, entry_of
from shipworthy.formats.canonical_json import parse_canonical
from shipworthy.formats.digests import is_digest, sha256_digest
from shipworthy.formats.jcs import canonicalize
from shipworthy.formats.log_entry import leaf_entry
from shipworthy.formats.merkle import leaf_hash

_MEMBERS: Final = frozenset(
    ("actor", "body", "created", "kind", "links", "nonce", "ns", "schema", "subjects", "v")
)


@dataclass(frozen=True, slots=True)
class Examined:
    """`entry` is None when the record can't be projected; `problems` are what follows "record N "."""

    envelope: dict[str, Any] | None
    entry: Entry | None
    problems: tuple[str, ...]


def examine(record: StoredRecord) -> Examined:
    problems = list(_bytes_problems(record))
    try:
        envelope = parse_canonical(record.payload)
        if canonicalize(envelope) != record.payload:
            problems.append("is not in canonical form")
        if not isinstance(envelope, dict) or envelope.keys() != _MEMBERS:
            raise ValueError("its members are not those of an envelope")
    except (ValueError, RecursionError) as error:
        return Examined(None, None, (*problems, f"can't be read: {error}"))
    if envelope["v"] != "shipworthy.record/1":
        problems.append(f"has the format {envelope['v']!r:.60}, not shipworthy.record/1")
    if envelope["kind"] != record.kind:
        problems.append(f"says kind {envelope['kind']!r:.60}, its row {record.kind}")
    if envelope["ns"] != record.namespace:
        problems.append(f"says namespace {envelope['ns']!r:.60}, its row {record.namespace}")
    if record.kind not in KINDS:
        return Examined(
            envelope, None, (*problems, f"is of kind {record.kind}, which this version does not know")
        )
    try:
        entry = entry_of(record, envelope)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Examined(envelope, None, (*problems, f"has no {record.kind} body: {first}"))
    problems += _column_problems(record, entry, envelope)
    return Examined(envelope, entry, tuple(problems))


def _bytes_problems(record: StoredRecord) -> Iterator[str]:
    if sha256_digest(record.payload) != record.digest:
        yield f"has bytes that do not hash to its digest {record.digest}"
    if record.leaf_hash != expected_leaf(record):
        yield "has a leaf hash that is not that of its digest and kind"
    if not is_digest(record.content_digest):
        yield f"has the content digest {record.content_digest!r}, which is none"


def expected_leaf(record: StoredRecord) -> bytes | None:
    """The leaf hash that digest and kind make; None when the digest is not one."""
    return leaf_hash(leaf_entry(record.digest, record.kind)) if is_digest(record.digest) else None


def _column_problems(record: StoredRecord, entry: Entry, envelope: dict[str, Any]) -> Iterator[str]:
    kind = KINDS[record.kind]
    subject = kind.subject(entry.fact, entry.run_id)
    if subject != record.subject:
        yield f"is filed under {record.subject!r}, its body is about {subject!r}"
    subjects = [
        {"digest": {"sha256": digest[7:]}, "role": role} for role, digest in kind.subjects(entry.fact)
    ]
    if subjects != envelope["subjects"]:
        yield "names other subjects in its envelope than in its body"
    explicit = record.idempotency_key.startswith("key|")
    made = kind.idempotency_key(entry.fact, entry.run_id, record.content_digest, entry.owner, None)
    if not explicit and record.idempotency_key != made:
        yield f"has the idempotency key {record.idempotency_key!r}, its body makes {made!r}"
    # A registration's content is what was posted: nested facts and a person in clear are not in its body. That of a
    # move which was judged and recorded at once is what was asked: its body says by what it was allowed, too.
    is_posted = {"run.registered": explicit or "initiated_by" in entry.body, "promotion": explicit}
    whole = not is_posted.get(record.kind, False)
    if whole and record.content_digest != sha256_digest(canonicalize(entry.body)):
        yield "has a content digest that is not that of its body"


def named_persons(envelope: dict[str, Any]) -> Iterator[str]:
    """The `$redactable` digests of a record: of its actor and of the persons in its body."""
    body = envelope["body"]
    for holder in (envelope["actor"], body, *(body.values() if isinstance(body, dict) else ())):
        who = holder.get("who") if isinstance(holder, dict) else None
        digest = who.get("$redactable") if isinstance(who, dict) else None
        if isinstance(digest, str) and is_digest(digest):
            yield digest
