"""Deletes journals that the service has whole. `shipworthy sync --prune` is the only caller."""

import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from shipworthy.identity import is_run_id
from shipworthy.locks import try_lock
from shipworthy.state import StateFile

READ_BYTES: Final = 64 * 2**10
"""How much of the beginning and of the end of a journal is read: its work is the same for a journal of any size."""
UNENDED_SECONDS: Final = 30 * 86400.0
"""How long a run that never said how it ended (`kill -9`, power) has to be silent at least: it may go on yet, on a
machine whose locks are not seen here."""
_ASIDE: Final = ".pruned-"
_ABANDONED_SECONDS: Final = 3600.0
_LEADING: Final = b'"heartbeat":'
"""In the first line of a journal that registers its run; other ranks do not end it."""
_ENDS: Final = tuple(b'"state":"%b"' % state for state in (b"completed", b"failed", b"aborted"))


def prune_folder(folder: Path, older_than_seconds: float, now: float | None = None) -> int:
    """Deletes the journals of runs of which nothing is left to send and nothing changed for so long; how many runs.
    A run that never said how it ended counts as ended after UNENDED_SECONDS. What is refused, promised, unsent, or
    held by another process stays.

    `folder` is a SHIPWORTHY_DIR or the folder of one run; `now` is in seconds since 1970.
    """
    now = time.time() if now is None else now
    before, unended = now - older_than_seconds, now - max(older_than_seconds, UNENDED_SECONDS)
    return sum(_prune(each, before, unended) for each in _runs(folder.absolute(), now))


def _runs(folder: Path, now: float) -> Iterator[Path]:
    if is_run_id(folder.name):
        yield folder
        return
    _recover(folder, now)
    with os.scandir(folder) as items:
        names = [item.name for item in items if is_run_id(item.name) and item.is_dir(follow_symlinks=False)]
    for name in names:
        yield folder / name


def _prune(run: Path, before: float, unended: float) -> bool:
    names = _old_names(run, before)
    journals = [name for name in names or () if name.endswith(".jsonl")]
    if names is None or not journals:
        return False
    if not _is_ended(run, journals) and _old_names(run, unended) is None:
        return False
    held: list[StateFile] = []
    descriptors: list[int] = []
    sizes: dict[str, int] = {}
    try:
        for name in journals:
            # Nobody sends it and nobody writes it, from here until it is gone.
            holder = StateFile(run / name)
            held.append(holder)
            state = holder.acquire()
            descriptor = os.open(run / name, os.O_RDONLY)
            descriptors.append(descriptor)
            size = sizes[name] = os.fstat(descriptor).st_size
            if state is None or not try_lock(descriptor):
                return False
            if state.sent != size or state.pending or state.blobs or state.refused:
                return False
        return _delete(run, names, sizes)
    except OSError:
        return False  # It vanished, or can't be written: somebody else's affair.
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
        for holder in held:
            holder.release()


def _old_names(run: Path, before: float) -> frozenset[str] | None:
    """What lies in the folder of a run; None when something there is too young or waits to be tried again."""
    names = set()
    try:
        with os.scandir(run) as items:
            for item in items:
                if item.stat(follow_symlinks=False).st_mtime > before or item.name.endswith(".refused"):
                    return None
                names.add(item.name)
    except OSError:
        return None
    return frozenset(names)


def _is_ended(run: Path, journals: list[str]) -> bool:
    """Whether the process that began the latest attempt has written how it ended."""
    latest: tuple[int, bytes] | None = None
    for name in journals:
        try:
            with open(run / name, "rb") as file:
                head = file.readline(READ_BYTES)
                size = file.seek(0, os.SEEK_END)
                file.seek(max(size - READ_BYTES, 0))
                tail = file.read()
        except OSError:
            return False
        # The last part of a name is the time in nanoseconds at which the process began its part of the run.
        began = name.removesuffix(".jsonl").rpartition("-")[2]
        if _LEADING in head and (latest is None or int(began, 16) > latest[0]):
            latest = int(began, 16), tail
    return latest is not None and any(
        b'"type":"state"' in line and any(end in line for end in _ENDS) for line in latest[1].splitlines()
    )


def _delete(run: Path, names: frozenset[str], sizes: Mapping[str, int]) -> bool:
    """Whether the folder is gone. A process that went on with the run meanwhile finds its files where it left them."""
    aside = run.with_name(f"{_ASIDE}{run.name}-{os.getpid()}")
    os.rename(run, aside)
    locks = {f"{name.removesuffix('.jsonl')}.lock" for name in sizes}
    if any(name not in names | locks for name in os.listdir(aside)) or any(
        (aside / name).stat().st_size != size for name, size in sizes.items()
    ):
        _put_back(aside, run)
        return False
    # Journals first: one without its state would be sent again.
    for name in sizes:
        os.unlink(aside / name)
    shutil.rmtree(aside, ignore_errors=True)
    return True


def _put_back(aside: Path, run: Path) -> None:
    try:
        os.rename(aside, run)
    except OSError:
        # Made anew since: the files go back one by one. None has a name of the others, which hold pid and time.
        for name in os.listdir(aside):
            if not (run / name).exists():
                os.rename(aside / name, run / name)
        shutil.rmtree(aside, ignore_errors=True)


def _recover(folder: Path, now: float) -> None:
    """Puts back what a process that was killed while it pruned had laid aside."""
    for aside in folder.glob(f"{_ASIDE}*"):
        run_id = aside.name.removeprefix(_ASIDE)[:36]
        with suppress(OSError):
            if is_run_id(run_id) and aside.stat().st_ctime < now - _ABANDONED_SECONDS:
                _put_back(aside, aside.with_name(run_id))
