"""What is handed out with a decision so that it can be checked without the service (docs/verify.md)."""

from collections.abc import Collection, Iterator
from typing import Any, Final, cast

from sqlalchemy import Connection, text

from models.bulk import select_among
from models.errors import FieldProblem as Problem
from models.errors import InvalidInput, NotFound
from models.ledger.head import Head
from models.ledger.tree import prove_consistency, prove_inclusion
from shipworthy.formats.bundle import Bundle, Growth, ProvenRecord
from shipworthy.formats.canonical_json import parse_canonical
from shipworthy.formats.digests import sha256_digest

MAX_LATER: Final = 20
"""Later decisions on the same artifact and target that are enclosed: one is enough to show that this one is past."""
_RECORDS: Final = (
    "SELECT position, payload FROM record WHERE namespace = :namespace AND digest IN :keys ORDER BY position"
)
_INPUTS: Final = (
    "SELECT record, key_id FROM decision_input WHERE namespace = :namespace AND decision IN :keys"
)
_TAKEN_BACK: Final = "SELECT record FROM revocation WHERE namespace = :namespace AND revoked IN :keys"
_KEYS_REVOKED: Final = (
    "SELECT digest FROM record WHERE namespace = :namespace AND subject IN :keys AND kind = 'key.revoked'"
)
_LATER: Final = text(
    "SELECT later.record FROM gate_decision this JOIN gate_decision later ON later.namespace = this.namespace "
    "AND later.artifact = this.artifact AND later.model = this.model AND later.target = this.target "
    "AND later.position > this.position WHERE this.namespace = :namespace AND this.record = :decision "
    "AND later.mode = 'enforce' ORDER BY later.position DESC LIMIT :most"
)


def make_bundle(
    connection: Connection, namespace: str, decision: str, head: Head, since: int | None = None
) -> Bundle:
    """The decision with all that it rests on, what took any of it back, and later decisions, each with its proof.

    `since` is the size of an earlier head from which the log's growth is to be shown, beside the one the decision
    names.
    Raises NotFound; InvalidInput for a size beyond the log.
    """
    read = list(select_among(connection, _INPUTS, namespace, [decision]))
    listed = {decision, *(row.record for row in read)}
    listed.update(row[0] for row in select_among(connection, _TAKEN_BACK, namespace, listed))
    keys = {f"key:{row.key_id}" for row in read}
    listed.update(row[0] for row in select_among(connection, _KEYS_REVOKED, namespace, keys) if keys)
    later = {"namespace": namespace, "decision": decision, "most": MAX_LATER}
    listed.update(row[0] for row in connection.execute(_LATER, later))
    records = [
        ProvenRecord(
            bytes(row.payload).decode(),
            row.position,
            tuple(prove_inclusion(connection, row.position, head.size)),
        )
        for row in select_among(connection, _RECORDS, namespace, listed)
        # What was recorded after this head was read has no proof in it.
        if row.position < head.size
    ]
    as_of = _as_of(records, decision)
    sizes = sorted({as_of} if since is None else {as_of, since})
    return Bundle(decision, head.note, tuple(_growth(connection, sizes, head)), tuple(records))


def _growth(connection: Connection, sizes: Collection[int], head: Head) -> Iterator[Growth]:
    for size in sizes:
        if size > head.size:
            message = f"is beyond the log, which has {head.size} leaves; ask for less"
            raise InvalidInput(f"/query/from {message}", problems=[Problem("/query/from", message)])
        yield Growth(size, tuple(prove_consistency(connection, size, head.size)))


def _as_of(records: Collection[ProvenRecord], decision: str) -> int:
    """The size of the log that the decision says it was made at. Raises NotFound when the decision is none."""
    for each in records:
        envelope = cast(dict[str, Any], parse_canonical(each.record))
        if envelope["kind"] == "decision" and sha256_digest(each.record.encode()) == decision:
            return cast(int, envelope["body"]["statement"]["predicate"]["asOf"]["size"])
    raise NotFound("no decision with this id in this namespace; GET /v1/decisions lists them")
