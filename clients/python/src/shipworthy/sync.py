"""`shipworthy sync DIR`: sends what journals hold, of any machine and also of a run that still goes on."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from shipworthy.batches import RunUnknown
from shipworthy.delivery import Outcome, count_left, send_journal
from shipworthy.errors import JournalError
from shipworthy.identity import is_run_id
from shipworthy.locks import is_locked
from shipworthy.patience import PatientTransport, Troubles
from shipworthy.settling import append_lines, settle_promises
from shipworthy.state import read_state
from shipworthy.transport import Transport


@dataclass(slots=True)
class SyncReport:
    """`sent` lines the service took, `refused` ones it will not take, `refused_before` ones that it would not take
    an earlier time: they lie in the files `refused_in`. `kept` are still to send: `waiting` of them for the journal
    that registers their run, `unregistrable` because that registration is refused, the others because another process
    sends them. `unhashed` files lie on another machine or belong to a run that still goes on; `busy`
    journals are being sent by another process; `unregistered` ones are of a run whose first journal is missing.
    `pruned` folders of runs were deleted."""

    journals: int = 0
    runs: int = 0
    sent: int = 0
    refused: int = 0
    refused_before: int = 0
    refused_in: list[str] = field(default_factory=list)
    kept: int = 0
    unhashed: int = 0
    busy: int = 0
    unregistered: int = 0
    waiting: int = 0
    unregistrable: int = 0
    why_unregistrable: str | None = None
    pruned: int = 0


def sync_folder(
    folder: Path,
    url: str,
    token: str | None,
    *,
    again: bool = False,
    on_journal: Callable[[Path], None] | None = None,
    on_wait: Callable[[str, float], None] | None = None,
) -> SyncReport:
    """Sends every journal below a SHIPWORTHY_DIR or the folder of one run.

    Doing it twice is harmless; `again` tries also what was refused before. `on_wait` is told the reason and the
    seconds when a busy service is waited for. Raises JournalError when the
    folder holds no journal, NotDelivered when the service does not take what is sent: then call it again
    later.
    """
    journals = list(find_journals(folder))
    if not journals:
        raise JournalError(f"{folder} holds no journal; give the folder that SHIPWORTHY_DIR named")
    report = SyncReport(journals=len(journals), runs=len({path.parent for path in journals}))
    transport = PatientTransport(url, token, on_wait)
    troubles = Troubles()
    try:
        early: list[Path] = []
        unhashed: list[Path] = []
        for path in journals:
            if on_journal is not None:
                on_journal(path)
            with troubles.of_one_journal():
                if again:
                    with _writing_to(path):
                        _resend_refused(path)
                try:
                    if _send_whole(path, transport, report):
                        unhashed.append(path)
                except RunUnknown:
                    # The first rank registers the run; its journal may come after those of others.
                    early.append(path)
        for path in early:
            with troubles.of_one_journal():
                try:
                    if _send_whole(path, transport, report):
                        unhashed.append(path)
                except RunUnknown as unknown:
                    _count_waiting(path, unknown, report)
        for path in unhashed:
            with troubles.of_one_journal():
                # What a forked process promised may be about what its parent's journal, sent later, has hashed.
                report.unhashed += _send_whole(path, transport, report)
    finally:
        transport.close()
    troubles.raise_first()
    _count_refused(journals, report)
    return report


def _count_refused(journals: list[Path], report: SyncReport) -> None:
    for path in journals:
        refused = path.with_suffix(".refused")
        if refused.exists():
            report.refused_in.append(str(refused))
            report.refused_before += sum(map(bool, refused.read_bytes().splitlines()))
    report.refused_before = max(report.refused_before - report.refused, 0)


def _count_waiting(path: Path, unknown: RunUnknown, report: SyncReport) -> None:
    waiting = count_left(path)
    report.unregistered += 1
    report.kept += waiting
    if unknown.refused is None:
        report.waiting += waiting
    else:
        report.unregistrable += waiting
        report.why_unregistrable = report.why_unregistrable or unknown.refused


def find_journals(folder: Path) -> Iterator[Path]:
    """Journals of the run that the folder belongs to, or of all runs in it."""
    folder = folder.absolute()
    if is_run_id(folder.name):
        yield from sorted(folder.glob("*.jsonl"))
        return
    if not folder.is_dir():
        return
    with os.scandir(folder) as items:
        names = sorted(item.name for item in items if is_run_id(item.name))
    for name in names:
        yield from sorted((folder / name).glob("*.jsonl"))


def count_kept(folder: Path) -> int:
    """Records of all journals below the folder that the service does not have yet."""
    return sum(map(count_left, find_journals(folder)))


def _send_whole(path: Path, transport: Transport, report: SyncReport) -> int:
    """Sends a journal and keeps its promises, if nobody writes it any more; how many promises are left."""
    outcome = _send(path, transport, report)
    pending = read_state(path.with_suffix(".state")).pending
    if outcome.busy or not pending:
        return 0
    if is_locked(path):
        return len(pending)
    settled = left = 0
    with _writing_to(path):
        settled, left = settle_promises(path, pending)
    if settled:
        _send(path, transport, report)
    return left


def _send(path: Path, transport: Transport, report: SyncReport) -> Outcome:
    outcome = Outcome()
    try:
        with _writing_to(path):
            send_journal(path, transport, lambda stretch: True, outcome=outcome)
    finally:
        report.sent += outcome.lines - outcome.refused
        report.refused += outcome.refused
    if outcome.busy:
        report.busy += 1
        report.kept += count_left(path)
    return outcome


@contextmanager
def _writing_to(path: Path) -> Iterator[None]:
    """Raises JournalError when nothing can be written beside the journal, unless it was pruned meanwhile: then it was
    sent."""
    try:
        yield
    except OSError as error:
        if path.exists():
            raise JournalError(
                f"{path} can't be sent: {error.strerror or error}; copy the folder to a writable place"
            ) from error


def _resend_refused(path: Path) -> None:
    """Puts refused lines at the end of their journal, to be tried once more: with another key, a newer
    service."""
    refused = path.with_suffix(".refused")
    if is_locked(path) or not refused.exists():
        return
    lines, left = [], []
    for line in refused.read_bytes().splitlines():
        # Cut out as they are: parsing and writing them again could change a number, and with it the content.
        _, found, rest = line.partition(b',"line":')
        if found and rest.endswith(b"}}"):
            lines.append(rest[:-1])
        elif line:
            left.append(line)
    append_lines(path, lines)
    if left:
        refused.write_bytes(b"".join(line + b"\n" for line in left))
    else:
        refused.unlink()
