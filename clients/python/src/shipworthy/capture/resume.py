"""Which run a checkpoint belongs to, and which attempt at it a process is.

The note lies beside the checkpoint, never in it: a file more would change the checkpoint's digest.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from shipworthy.identity import is_run_id

SUFFIX: Final = ".shipworthy.json"
MAX_ATTEMPT: Final = 100_000
_MAX_BYTES: Final = 4096


class Resumed(NamedTuple):
    """The run to go on with. `attempt` is the number of the attempt that begins now."""

    run_id: str
    attempt: int


def note_path(checkpoint: str | os.PathLike[str]) -> Path:
    """The note of ckpt/600 is ckpt/600.shipworthy.json, that of ckpt/600.pt is ckpt/600.pt.shipworthy.json."""
    path = Path(checkpoint)
    return path.with_name(path.name + SUFFIX) if path.name else path / SUFFIX


def remember(checkpoint: str | os.PathLike[str], run_id: str, attempt: int, launch: str = "") -> bool:
    """Write the note; whether it could be written. Readable by its owner only; whole or not there at all.

    To be called by one rank after it wrote a checkpoint, and again when an attempt begins from it, so that an
    attempt that wrote none is counted too. `launch` tells the processes that wrote it from a later attempt.
    """
    path = note_path(checkpoint)
    content = json.dumps({"run_id": run_id, "attempt": attempt, "launch": launch}) + "\n"
    written = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(written, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(written, path)
        finally:
            with suppress(FileNotFoundError):
                written.unlink()
    except OSError:
        return False
    return True


def recall(checkpoint: str | os.PathLike[str], launch: str = "") -> Resumed | None:
    """What the note beside a checkpoint says; for a folder of checkpoints, the newest note in it. None
    without.

    The attempt is one more than the note has, unless the same launch wrote it: then another rank of this
    attempt was faster.
    """
    path = Path(checkpoint)
    resumed = _read(note_path(path), launch)
    if resumed is not None:
        return resumed
    try:
        notes = sorted(path.glob(f"*{SUFFIX}"), key=lambda note: note.stat().st_mtime_ns, reverse=True)
    except OSError:
        return None
    return next((found for note in notes[:1000] if (found := _read(note, launch)) is not None), None)


def restart_count(environ: Mapping[str, str] = os.environ) -> int:
    """How often the scheduler or launcher says that it started this program again; 0 when none says so.

    Slurm counts requeues, torchrun its restarts, a JobSet its restarts when the annotation
    jobset.sigs.k8s.io/restart-attempt is passed on as JOBSET_RESTART_ATTEMPT; LSF says only that there was
    one.
    """
    names = ("SLURM_RESTART_COUNT", "TORCHELASTIC_RESTART_COUNT", "JOBSET_RESTART_ATTEMPT")
    counts = sum(int(text) for name in names if (text := environ.get(name, "")).isdecimal() and len(text) < 6)
    return min(counts + (environ.get("LSB_RESTART") == "Y"), MAX_ATTEMPT - 1)


def attempt_number(environ: Mapping[str, str] = os.environ, resumed: Resumed | None = None) -> int:
    """The attempt that begins now, from 1: the larger of what the launcher and what the checkpoint says."""
    return max(restart_count(environ) + 1, resumed.attempt if resumed is not None else 1)


def _read(note: Path, launch: str) -> Resumed | None:
    """None also for what is no note: a checkpoint may have any neighbour."""
    try:
        with open(note, "rb") as file:
            found = json.loads(file.read(_MAX_BYTES))
    except (OSError, ValueError):
        return None
    if not isinstance(found, dict):
        return None
    run_id, attempt = found.get("run_id"), found.get("attempt")
    if not isinstance(run_id, str) or not is_run_id(run_id):
        return None
    if type(attempt) is not int or not 1 <= attempt <= MAX_ATTEMPT:
        return None
    same = bool(launch) and found.get("launch") == launch
    return Resumed(run_id, attempt if same else min(attempt + 1, MAX_ATTEMPT))
