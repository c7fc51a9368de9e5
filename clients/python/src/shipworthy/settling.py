"""Promises of a process that ended before it kept them: files are hashed now, if they are as they were."""

import os
from collections.abc import Mapping
from pathlib import Path

from shipworthy.appending import append_whole
from shipworthy.capture.processes import host_name
from shipworthy.locks import is_locked
from shipworthy.promises import broken_line, digest_files, kept_line
from shipworthy.recorded import Recorded
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
    more, waiting = settled_subjects(journal, pending, digests)
    lines += more
    append_lines(journal, [line.rstrip(b"\n") for line in lines])
    return len(lines), left + waiting


def settled_subjects(
    journal: Path, pending: Pending, digests: Mapping[str, str | None]
) -> tuple[list[bytes], int]:
    """The lines that keep promises about products whose digest is known, by now or from `digests`, and how many are
    left. A process that was forked promises records about what its parent hashes."""
    lines: list[bytes] = []
    left = 0
    for promise in pending.values():
        subject = promise.get("subject")
        if not isinstance(subject, str):
            continue
        recorded = Recorded(journal.parent, subject)
        if subject in digests:
            digest = digests[subject]
        elif subject not in pending and recorded.look():
            digest = recorded.digest
        else:
            left += 1
            continue
        if digest is None:
            lines.append(broken_line(promise, "what it is about could not be hashed"))
        else:
            lines.append(kept_line(promise, digest, 0))
    return lines, left


def keep_subjects(journal: Path, pending: Pending) -> bool:
    """Whether lines were added that keep promises of a process that is gone, about what another hashed since."""
    if not promises_subjects(pending) or is_locked(journal):
        return False
    lines, _ = settled_subjects(journal, pending, {})
    append_lines(journal, [line.rstrip(b"\n") for line in lines])
    return bool(lines)


def promises_subjects(pending: Pending) -> bool:
    return any("subject" in promise for promise in pending.values())


def append_lines(journal: Path, lines: list[bytes]) -> None:
    """Appends lines to the journal of a process that is gone, on a line of their own after a torn one. Raises OSError
    when the disk does not take all of them."""
    if lines:
        append_whole(journal, b"\n".join(lines) + b"\n", flags=0)


def _is_elsewhere(promise: Body) -> bool:
    """Whether the files are missing here because this is not the machine they were written on."""
    return promise.get("host") != host_name() and not os.path.exists(str(promise["path"]))
