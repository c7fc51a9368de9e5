"""Lines of `log()` to the service: each exactly once, from whichever copy of a journal they come.

Lines are counted from the journal's first, which is the same in all its copies, whatever of it was sent before. A
chunk has the number of its first line as its key and says how many it holds. So the chunks of a journal form one
chain: who finds that another has sent the next one goes on where that one ends.
"""

import json
from datetime import UTC, datetime
from pathlib import Path

from shipworthy.batches import REUSED, Refusal, send_batches
from shipworthy.chunks import make_chunk
from shipworthy.errors import NotDelivered, TooLarge, Trouble
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.times import format_instant
from shipworthy.transport import Transport
from shipworthy.values import encode


def send_log_lines(
    transport: Transport, journal: Path, place: str, first: int, lines: list[bytes], known: int
) -> tuple[int, list[Refusal]]:
    """Sends what the service does not have of `lines`, the first of which has the number `first`. `place` names the
    count within the journal. `known` lines of it the service has; returns how many it has then, and chunks that
    it refused. Raises NotDelivered.
    """
    refusals: list[Refusal] = []
    known = max(known, first)
    while known < first + len(lines):
        count, refused = _send_chunk(transport, journal, place, known, lines[known - first :])
        known += count
        refusals += refused
    return known, refusals


def _send_chunk(
    transport: Transport, journal: Path, place: str, number: int, lines: list[bytes]
) -> tuple[int, list[Refusal]]:
    """How many lines from `number` on the service has now, and the chunk if it was refused."""
    chunk = make_chunk(lines)
    digest = sha256_digest(chunk)
    try:
        transport.put_blob(digest, chunk)
    except TooLarge as error:
        if len(lines) > 1:
            return _send_chunk(transport, journal, place, number, lines[: len(lines) // 2])
        return 1, [Refusal(lines[0], 413, error.detail)]
    refusals = send_batches(transport, [_note(journal, place, number, digest, lines)])
    if refusals and refusals[0].code == REUSED:
        return _count_known(transport, refusals[0].record), []
    return len(lines), refusals


def _count_known(transport: Transport, record: str | None) -> int:
    """How many lines the chunk in a record holds."""
    if record is None:
        raise NotDelivered(Trouble.STRANGE, "it does not say which record has the key of a chunk; update it")
    found = transport.get(f"/v1/records/{record}")
    body = found.get("body") if isinstance(found, dict) else None
    text = body.get("text") if isinstance(body, dict) else None
    count = text.partition(" ")[0] if isinstance(text, str) else ""
    if not (count.isascii() and count.isdecimal() and int(count) > 0):
        raise NotDelivered(Trouble.STRANGE, f"its record {record} is no chunk of log lines")
    return int(count)


def _note(journal: Path, place: str, number: int, digest: str, lines: list[bytes]) -> bytes:
    run_id, process = journal.parent.name, journal.stem
    return encode(
        {
            "kind": "run.event",
            "key": f"{run_id}:{process}:{place}-{number}",
            "body": {
                "run_id": run_id,
                "type": "note",
                "at": _instant_of(lines[-1]),
                "process": process,
                "sequence": number,
                "text": f"{len(lines)} log lines",
                "blob": digest,
            },
        }
    )


def _instant_of(line: bytes) -> str:
    """When a line was written; now, where the clock said what is no time."""
    try:
        return format_instant(datetime.fromtimestamp(json.loads(line)["log"]["t"], UTC))
    except (ValueError, OverflowError, OSError, KeyError, TypeError):
        return format_instant(datetime.now(UTC))
