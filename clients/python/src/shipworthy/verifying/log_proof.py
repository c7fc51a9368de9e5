"""From a bundle to records that are in a log which somebody trusts. Cryptography only: no word of what they say."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shipworthy.formats.bundle import Bundle, ProvenRecord
from shipworthy.formats.canonical_json import require_canonical
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.log_entry import leaf_entry
from shipworthy.formats.merkle import leaf_hash, verify_consistency, verify_inclusion
from shipworthy.formats.notes import NoteError, TreeHead, parse_tree_head, parse_verifier_key, verify_note
from shipworthy.formats.trust import Trust
from shipworthy.verifying.outcome import VerificationFailed, Verified


@dataclass(frozen=True, slots=True)
class LoggedRecord:
    """A record that the log holds. `owner` is the pseudonym of the person whose key wrote it, None when unknown."""

    digest: str
    kind: str
    position: int
    namespace: str
    key_id: str
    owner: str | None
    body: Mapping[str, Any]


def trusted_head(note: str, trust: Trust, what: str) -> TreeHead:
    """The head that a signed note states, its signature checked against the keys of the trust file."""
    origin = note.split("\n", 1)[0]
    if origin not in {parse_verifier_key(key)[0] for key in trust.log_keys}:
        raise VerificationFailed(
            Verified.NOT_ACCEPTED,
            f"{what} is of the log {origin[:200]!a}, which the trust file does not name; "
            "add its key if you trust it",
        )
    try:
        return parse_tree_head(verify_note(note, trust.log_keys))
    except NoteError as error:
        raise VerificationFailed(Verified.FORGED, f"{what} is not genuine: {error}") from error


def logged_records(bundle: Bundle, head: TreeHead) -> dict[str, LoggedRecord]:
    """Every record of the bundle by its digest, each shown to be in the log at this head."""
    found = [_logged(each, head, f"/records/{at}") for at, each in enumerate(bundle.records)]
    records = {record.digest: record for record in found}
    if len(records) != len(found):
        raise VerificationFailed(Verified.FORGED, "the bundle lists a record twice")
    return records


def check_growth(bundle: Bundle, older: TreeHead, head: TreeHead, what: str) -> None:
    """Raises unless the log at `head` is the one at `older`, only longer."""
    if older.origin != head.origin:
        raise VerificationFailed(
            Verified.FORGED,
            f"{what} is of the log {older.origin[:200]!a}, the bundle's head of {head.origin!a}",
        )
    if older.size > head.size:
        raise VerificationFailed(
            Verified.INCOMPLETE,
            f"{what} is newer than the bundle ({older.size} records, the bundle's head has {head.size}); "
            "fetch the bundle again",
        )
    path = next((growth.path for growth in bundle.growth if growth.size == older.size), None)
    if path is None and older.size != head.size:
        raise VerificationFailed(
            Verified.INCOMPLETE,
            f"the bundle does not show that its log continues {what} of {older.size} records; "
            f"fetch it again with from={older.size}",
        )
    if not verify_consistency(older.size, older.root, head.size, head.root, path or ()):
        raise VerificationFailed(
            Verified.FORGED,
            f"the log at the bundle's head does not continue {what}: its history was changed",
        )


def _logged(proven: ProvenRecord, head: TreeHead, place: str) -> LoggedRecord:
    digest = sha256_digest(proven.record.encode("utf-8", "surrogatepass"))
    try:
        value = require_canonical(proven.record)
    except ValueError as error:
        raise VerificationFailed(Verified.FORGED, f"the record at {place} is no record: {error}") from error
    match value:
        case {
            "v": "shipworthy.record/1",
            "kind": str(kind),
            "ns": str(namespace),
            "body": dict(body),
            "actor": {"id": str(key_id), "owner": str() | None as owner},
        }:
            pass
        case _:
            raise VerificationFailed(
                Verified.FORGED, f"the record at {place} is no shipworthy.record/1: members are missing"
            )
    leaf = leaf_hash(leaf_entry(digest, kind))
    if not verify_inclusion(leaf, proven.position, head.size, proven.path, head.root):
        raise VerificationFailed(
            Verified.FORGED,
            f"the record at {place} ({kind}) is not in the log at position {proven.position}: it, its place or its "
            "proof was changed",
        )
    return LoggedRecord(digest, kind, proven.position, namespace, key_id, owner, body)
