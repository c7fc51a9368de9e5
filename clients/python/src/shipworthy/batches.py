"""Records to the service in requests that it takes, and what it says of each."""

import json
from datetime import UTC, datetime
from typing import Final, NamedTuple

from shipworthy.errors import NotDelivered, TooLarge, Trouble
from shipworthy.formats.times import format_instant
from shipworthy.transport import Transport
from shipworthy.values import Body, encode

BATCH_LINES: Final = 200
"""Records in one request: an answer within the read timeout also from a slow service."""
BATCH_BYTES: Final = 2**20
MAX_RECORD_BYTES: Final = 4 * 2**20
"""A longer line is refused here: the service takes 256 KiB, and a larger request may be cut off without an answer."""
RETRIED: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers for one line after which the same line may be taken later."""
_WITHOUT_KEY: Final = frozenset({401, 403})
_AGAIN: Final = b':again","body":'
"""Ends the key of a note about bytes that were recorded before."""
_REGISTERED: Final = b'{"kind":"run.registered"'
REUSED: Final = "idempotency_key_reused"


class RunUnknown(NotDelivered):
    """The run is not registered yet: the journal of the process that registers it comes first. That is this one
    where `refused` says why the registration in it was not taken."""

    def __init__(self, detail: str, refused: str | None) -> None:
        super().__init__(Trouble.STRANGE, detail)
        self.refused = refused


class Refusal(NamedTuple):
    """A line that the service will not take, and why; `code` is the service's name for that, `record` the digest of
    what it has in its place."""

    line: bytes
    status: int
    detail: str
    code: str = ""
    record: str | None = None


def send_records(transport: Transport, lines: list[bytes]) -> list[Refusal]:
    """Sends records in their order; what is refused of them. Raises NotDelivered, after which nothing is lost or
    doubled by sending the same lines again."""
    refusals = []
    for each in send_batches(transport, lines):
        note = _same_bytes_again(each)
        # Sent after what was refused, so that a resend after a cut finds both as they were.
        refusals += [each] if note is None else send_batches(transport, [note])
    return refusals


def send_batches(transport: Transport, lines: list[bytes]) -> list[Refusal]:
    refusals = []
    left = list(lines)
    while left:
        batch, size = 0, 0
        while batch < min(len(left), BATCH_LINES) and (batch == 0 or size + len(left[batch]) <= BATCH_BYTES):
            size += len(left[batch])
            batch += 1
        refusals += _send_fitting(transport, left[:batch])
        del left[:batch]
    return refusals


def _send_fitting(transport: Transport, lines: list[bytes]) -> list[Refusal]:
    """Sends lines in halves where together they are too large for what stands between us and the service, so that
    one of them never holds up the others."""
    if len(lines) == 1 and len(lines[0]) > MAX_RECORD_BYTES:
        detail = f"the line has {len(lines[0])} bytes, the limit is {MAX_RECORD_BYTES}"
        return [Refusal(lines[0], 413, detail)]
    try:
        return _send_batch(transport, lines)
    except TooLarge as error:
        if len(lines) == 1:
            return [Refusal(lines[0], 413, error.detail)]
    half = len(lines) // 2
    return [*_send_fitting(transport, lines[:half]), *_send_fitting(transport, lines[half:])]


def _send_batch(transport: Transport, lines: list[bytes]) -> list[Refusal]:
    answer = transport.post("/v1/records:batch", b"\n".join(lines), "application/x-ndjson")
    items = answer.get("items") if isinstance(answer, dict) else None
    if not isinstance(items, list) or len(items) != len(lines):
        raise NotDelivered(Trouble.STRANGE, "its answer to a batch has not one item for each line")
    refusals: list[Refusal] = []
    for line, item in zip(lines, items, strict=True):
        status = item.get("status") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(status, int):
            raise NotDelivered(Trouble.STRANGE, "its answer to a batch has an item without status")
        if status in _WITHOUT_KEY:
            # The key was revoked between the lines, or lacks a role: with the right one the same line is taken.
            raise NotDelivered(Trouble.KEY, str(item.get("detail")))
        if item.get("code") == "run_not_found":
            registration = next((each for each in refusals if each.line.startswith(_REGISTERED)), None)
            raise RunUnknown(str(item.get("detail")), None if registration is None else registration.detail)
        if status in RETRIED:
            raise NotDelivered(Trouble.BUSY, str(item.get("detail")))
        if status not in (200, 201) and not (item.get("code") == REUSED and _AGAIN in line):
            record = item.get("record")
            refusals.append(
                Refusal(
                    line,
                    status,
                    _why(item),
                    str(item.get("code")),
                    record if isinstance(record, str) else None,
                )
            )
    return refusals


def _same_bytes_again(refusal: Refusal) -> bytes | None:
    """The note in the place of a checkpoint or artifact whose bytes this run has recorded before, at another step or
    place: a product is its digest and recorded once. None for what was refused for another reason."""
    if refusal.code != "conflict":
        return None
    record = json.loads(refusal.line)
    body = record["body"]
    if record["kind"] == "checkpoint.saved":
        what = f"The checkpoint of step {body['step']}"
    elif record["kind"] == "artifact":
        what = f"The artifact {body.get('role', 'model')!r}"
    else:
        return None
    note = {
        "run_id": body["run_id"],
        "type": "note",
        "at": body.get("trained_until") or format_instant(datetime.now(UTC)),
        "text": f"{what} at {body.get('uri', 'a place unknown')} has the bytes of one that this run recorded before: "
        f"{body['digest']}",
    }
    if "step" in body:
        note["step"] = body["step"]
    return encode({"kind": "run.event", "key": f"{record['key']}:again", "body": note})


def _why(item: Body) -> str:
    problems = item.get("errors")
    fields = (
        [f"{each['field']} {each['message']}" for each in problems if isinstance(each, dict)]
        if isinstance(problems, list)
        else []
    )
    return "; ".join([str(item.get("detail")), *fields])
