"""Promises of a process that ended before it kept them: files are hashed now, if they are as they were."""

import json
import os
from pathlib import Path

from shipworthy.capture.processes import host_name
from shipworthy.promises import broken_line, digest_files, kept_line
from shipworthy.state import Pending
from shipworthy.values import Body


def settle_promises(journal: Path, pending: Pending) -> tuple[int, int]:
    """Appends the records that keep the promises, or notes that say why they can't be kept.

    Returns how many were settled and how many are left: files that lie on another machine. The journal is one
    that no process writes any more.
    """
    digests: dict[str, str | None] = {}
    lines: list[bytes] = []
    left = 0
    for key, promise in pending.items():
        if "subject" in promise:
            continue
        if _is_elsewhere(promise):
            left += 1
            continue
        try:
            digest, size = digest_files(promise)
        except (OSError, ValueError) as error:
            digests[key] = None
            lines.append(broken_line(promise, str(error)))
        else:
            digests[key] = digest
            lines.append(kept_line(promise, digest, size))
    for promise in pending.values():
        subject = promise.get("subject")
        if not isinstance(subject, str):
            continue
        if subject in pending and subject not in digests:
            left += 1
            continue
        digest_known = digests[subject] if subject in digests else _recorded_digest(journal, subject)
        if digest_known is None:
            lines.append(broken_line(promise, "what it is about could not be hashed"))
        else:
            lines.append(kept_line(promise, digest_known, 0))
    append_lines(journal, [line.rstrip(b"\n") for line in lines])
    return len(lines), left


def append_lines(journal: Path, lines: list[bytes]) -> None:
    """Appends lines to the journal of a process that is gone, on a line of their own after a torn one."""
    if not lines:
        return
    descriptor = os.open(journal, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, b"\n" + b"\n".join(lines) + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_elsewhere(promise: Body) -> bool:
    """Whether the files are missing here because this is not the machine they were written on."""
    return promise.get("host") != host_name() and not os.path.exists(str(promise["path"]))


def _recorded_digest(journal: Path, key: str) -> str | None:
    """The digest in the record with this key, None when the promise of it was broken."""
    wanted = json.dumps(key).encode()
    with journal.open("rb") as file:
        for line in file:
            if line.startswith(b'{"kind":') and wanted in line:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue
                if record["key"] == key:
                    digest = record["body"].get("digest")
                    return digest if isinstance(digest, str) else None
    return None
