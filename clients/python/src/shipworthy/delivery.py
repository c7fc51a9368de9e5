"""From a journal to the service: every line exactly once, whatever is cut in between."""

import json
from collections.abc import Callable
from pathlib import Path

from shipworthy.appending import append_whole
from shipworthy.batches import Refusal, send_records
from shipworthy.chunks import MAX_LINE_BYTES, Stretch, count_records, read_stretch
from shipworthy.errors import TooLarge
from shipworthy.log_lines import send_log_lines
from shipworthy.notices import warn_once
from shipworthy.state import Pending, SendState, StateFile, state_of
from shipworthy.transport import Transport
from shipworthy.values import encode


class Outcome:
    """`left` is True when lines wait that can be sent now or later, `busy` when another process sends
    them; `pending` are promises that no line sent so far keeps."""

    def __init__(self, *, left: bool = False, busy: bool = False) -> None:
        self.lines = self.refused = 0
        self.left = left
        self.busy = busy
        self.pending: Pending = {}


def send_journal(
    path: Path,
    transport: Transport,
    is_ready: Callable[[Stretch], bool],
    *,
    end: int | None = None,
    outcome: Outcome | None = None,
) -> Outcome:
    """Sends what the journal has up to byte `end`, stretch by stretch, while `is_ready` says so; `outcome` is where
    to count.

    Raises NotDelivered, after which nothing is lost or doubled by calling again; OSError when the journal can't be
    read, or nothing be written beside it.
    """
    outcome = outcome or Outcome()
    holder = StateFile(path)
    state = holder.acquire()
    if state is None:
        outcome.left = outcome.busy = True
        return outcome
    try:
        with path.open("rb") as file:
            while (stretch := read_stretch(file, state.sent, end)) is not None:
                if not is_ready(stretch):
                    outcome.left = True
                    break
                _advance(path, state, stretch, _send_stretch(transport, path, stretch, state), outcome)
                holder.save(state)
        # After all records: a large file must not hold them up.
        while state.blobs:
            refusals = _send_blob(transport, path, state.blobs[0])
            _count(path, state, 1, refusals, outcome)
            del state.blobs[0]
            holder.save(state)
        outcome.pending = state.pending
        return outcome
    finally:
        holder.release()


def send_flight(transport: Transport, path: Path, stretch: Stretch, home: Path) -> int:
    """Sends lines that are all of the journal `path`, which need not be on any disk; how many were refused: those lie
    beside `home`. Raises NotDelivered."""
    refusals = _send_stretch(transport, path, stretch, SendState())
    for digest in stretch.blobs:
        refusals += _send_blob(transport, path, digest)
    keep_refused(home, refusals)
    return len(refusals)


def count_left(path: Path) -> int:
    """Records of a journal that the service does not have yet, as `sync` counts them."""
    state = state_of(path)
    return len(state.blobs) + count_records(path, state.sent, state.pending)


def _send_stretch(transport: Transport, path: Path, stretch: Stretch, state: SendState) -> list[Refusal]:
    if stretch.skipped:
        refusals = [_too_long(stretch)]
    else:
        refusals = send_records(transport, stretch.records)
        state.known, refused = send_log_lines(
            transport, path, "lines", state.lines, stretch.logs, state.known
        )
        refusals += refused
    return refusals


def _send_blob(transport: Transport, path: Path, digest: str) -> list[Refusal]:
    blob = path.parent / "blobs" / digest[7:]
    if not blob.is_file():
        return []
    try:
        transport.put_blob(digest, blob.read_bytes())
    except TooLarge as error:
        return [Refusal(encode({"blob": digest}), 413, error.detail)]
    return []


def _too_long(stretch: Stretch) -> Refusal:
    detail = (
        f"the line has {stretch.end - stretch.start} bytes, the limit is {MAX_LINE_BYTES}; it stays in the journal "
        f"from byte {stretch.start} on"
    )
    return Refusal(b"", 413, detail)


def keep_refused(journal: Path, refusals: list[Refusal]) -> None:
    """Lays refused lines beside the journal with the reason, and tells of the first."""
    if not refusals:
        return
    beside = journal.with_suffix(".refused")
    lines = []
    for each in refusals:
        reason = encode({"status": each.status, "detail": each.detail})
        # A line that is too long to be read is not copied either.
        lines.append(reason[:-1] + b',"line":' + each.line + b"}" if each.line else reason)
    try:
        append_whole(beside, b"\n".join(lines) + b"\n")
        where = f"kept in {beside}"
    except OSError as error:
        where = f"{beside} can't be written: {error.strerror or error}"
    warn_once("refused", f"the service refused a record: {refusals[0].detail[:400]} ({where})")


def _advance(
    path: Path, state: SendState, stretch: Stretch, refusals: list[Refusal], outcome: Outcome
) -> None:
    state.sent = stretch.end
    state.lines += len(stretch.logs)
    state.blobs += stretch.blobs
    _count(path, state, len(stretch.records) + len(stretch.logs) + stretch.skipped, refusals, outcome)
    for promise in stretch.promises:
        state.pending[str(promise["key"])] = promise
    if state.pending:
        for line in stretch.records:
            state.pending.pop(json.loads(line).get("key"), None)


def _count(path: Path, state: SendState, lines: int, refusals: list[Refusal], outcome: Outcome) -> None:
    keep_refused(path, refusals)
    state.refused += len(refusals)
    outcome.lines += lines
    outcome.refused += len(refusals)
