"""From a journal to the service: every line exactly once, whatever is cut in between."""

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from shipworthy.chunks import Stretch, make_chunk, read_stretch
from shipworthy.errors import NotDelivered, Trouble
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.times import format_instant
from shipworthy.notices import warn_once
from shipworthy.state import SendState, StateFile
from shipworthy.transport import Transport
from shipworthy.values import Body, encode

BATCH_LINES: Final = 200
"""Records in one request: an answer within the read timeout also from a slow service."""
BATCH_BYTES: Final = 4 * 2**20
_AGAIN: Final = b':again","body":'
"""Ends the key of a note about bytes that were recorded before."""
RETRIED: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers for one line after which the same line may be taken later."""


class RunUnknown(NotDelivered):
    """The run is not registered yet: the journal of the process that registers it comes first."""


class Refusal(NamedTuple):
    """A line that the service will not take, and why; `code` is the service's name for that."""

    line: bytes
    status: int
    detail: str
    code: str


class Outcome:
    """`left` is True when lines wait that can be sent now or later, `busy` when another process sends
    them."""

    def __init__(self, *, left: bool = False, busy: bool = False) -> None:
        self.lines = self.refused = self.sent = 0
        self.left = left
        self.busy = busy


def send_journal(path: Path, transport: Transport, is_ready: Callable[[Stretch], bool]) -> Outcome:
    """Sends what the journal has, stretch by stretch, while `is_ready` says so.

    Raises NotDelivered, after which nothing is lost or doubled by calling again; OSError when journal or
    state can't be read or written.
    """
    outcome = Outcome()
    holder = StateFile(path)
    state = holder.acquire()
    if state is None:
        return Outcome(left=True, busy=True)
    try:
        with path.open("rb") as file:
            while (stretch := read_stretch(file, state.sent, state.planned)) is not None:
                if state.planned is None and not is_ready(stretch):
                    outcome.left = True
                    break
                if stretch.logs and state.planned is None:
                    state.planned = stretch.end
                    holder.save(state, durable=True)
                refusals = send_stretch(transport, path, f"chunk-{stretch.start}", state.chunks, stretch)
                keep_refused(path, refusals)
                _advance(state, stretch, len(refusals))
                holder.save(state)
                outcome.lines += len(stretch.records) + len(stretch.logs)
                outcome.refused += len(refusals)
        outcome.sent = state.sent
        return outcome
    finally:
        holder.release()


def send_stretch(
    transport: Transport, journal: Path, place: str, number: int, stretch: Stretch
) -> list[Refusal]:
    """Sends the lines of one stretch; `place` names it within its journal. Raises NotDelivered."""
    lines = list(stretch.records)
    for digest in stretch.blobs:
        blob = journal.parent / "blobs" / digest[7:]
        if blob.is_file():
            transport.put_blob(digest, blob.read_bytes())
    if stretch.logs:
        chunk = make_chunk(stretch.logs)
        digest = sha256_digest(chunk)
        transport.put_blob(digest, chunk)
        lines.append(_note(journal, place, number, digest, stretch.logs[-1]))
    refusals = []
    for each in _send_batches(transport, lines):
        note = _same_bytes_again(each)
        # Sent after what was refused, so that a resend after a cut finds both as they were.
        refusals += [each] if note is None else _send_batches(transport, [note])
    return refusals


def _send_batches(transport: Transport, lines: list[bytes]) -> list[Refusal]:
    refusals = []
    while lines:
        batch, size = 0, 0
        while batch < min(len(lines), BATCH_LINES) and (
            batch == 0 or size + len(lines[batch]) <= BATCH_BYTES
        ):
            size += len(lines[batch])
            batch += 1
        refusals += _send_batch(transport, lines[:batch])
        del lines[:batch]
    return refusals


def _send_batch(transport: Transport, lines: list[bytes]) -> list[Refusal]:
    answer = transport.post("/v1/records:batch", b"\n".join(lines), "application/x-ndjson")
    items = answer.get("items") if isinstance(answer, dict) else None
    if not isinstance(items, list) or len(items) != len(lines):
        raise NotDelivered(Trouble.STRANGE, "its answer to a batch has not one item for each line")
    refusals = []
    for line, item in zip(lines, items, strict=True):
        status = item.get("status") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(status, int):
            raise NotDelivered(Trouble.STRANGE, "its answer to a batch has an item without status")
        if item.get("code") == "run_not_found":
            raise RunUnknown(Trouble.STRANGE, str(item.get("detail")))
        if status in RETRIED:
            raise NotDelivered(Trouble.BUSY, str(item.get("detail")))
        # A chunk sent again by another version of zlib has other bytes, and is known all the same.
        if status not in (200, 201) and not (
            item.get("code") == "idempotency_key_reused" and (b":chunk-" in line or _AGAIN in line)
        ):
            refusals.append(Refusal(line, status, _why(item), str(item.get("code"))))
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


def keep_refused(journal: Path, refusals: list[Refusal]) -> None:
    """Lays refused lines beside the journal with the reason, and tells of the first."""
    if not refusals:
        return
    beside = journal.with_suffix(".refused")
    warn_once("refused", f"the service refused a record: {refusals[0].detail[:400]} (kept in {beside})")
    with suppress(OSError), open(beside, "ab") as file:
        for each in refusals:
            reason = encode({"status": each.status, "detail": each.detail})
            file.write(reason[:-1] + b',"line":' + each.line + b"}\n")


def _advance(state: SendState, stretch: Stretch, refused: int) -> None:
    state.sent, state.planned = stretch.end, None
    state.chunks += bool(stretch.logs)
    state.refused += refused
    for promise in stretch.promises:
        state.pending[str(promise["key"])] = promise
    if state.pending:
        for line in stretch.records:
            state.pending.pop(json.loads(line).get("key"), None)


def _note(journal: Path, place: str, number: int, digest: str, last: bytes) -> bytes:
    run_id, process = journal.parent.name, journal.stem
    return encode(
        {
            "kind": "run.event",
            "key": f"{run_id}:{process}:{place}",
            "body": {
                "run_id": run_id,
                "type": "note",
                "at": format_instant(datetime.fromtimestamp(json.loads(last)["log"]["t"], UTC)),
                "process": process,
                "sequence": number,
                "text": "log lines",
                "blob": digest,
            },
        }
    )
