"""One run for all ranks of a launch, which agree on its id without a word between them.

The id is computed, not exchanged: from the key of the launch and the number of the run within it. So it is
the same on nodes that share no folder, and nobody waits for rank 0. The order of evidence:

1. `SHIPWORTHY_RUN_ID`, the id itself.
2. `SHIPWORTHY_LAUNCH`, any text that is new for each launch; in Kubernetes the uid of the job by the downward
   API, from the label `batch.kubernetes.io/controller-uid`.
3. All ranks on one node (torchrun, mpirun, deepspeed, a loopback MASTER_ADDR): the launcher's process, by
   host, boot, process id and start. No two processes share these, so no two launches do.
4. The job and step of Slurm or LSF, with cluster, user, submitting host and folder. A scheduler gives a
   number once until its counter is reset; the rest has to be the same too for two launches to collide.
5. Names that come again (an address and a port, a JobSet, an id given to torchrun). Files in the journal
   folder tell launches apart: each rank claims its place in the first launch of that name that is open, by
   O_EXCL. A launch is closed for a rank that has a place in it already, and for everyone after ten minutes.
   Left over is a launch that dies before all its ranks began, and begins again within ten minutes on folders
   that are shared: give such launches an id (torchrun --rdzv-id, SHIPWORTHY_LAUNCH).

Claims are also made under 4: a script that is the task of srun may run programs one after the other, and the
second is another run. Ids made this way are UUIDs of version 7 in form; their time is a constant and the 74
bits after it come from SHA-256, so two keys share an id as likely as two random ones of that length.
"""

import os
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from shipworthy.capture.claims import claims_of, create_file
from shipworthy.capture.launchers import Rank, Reach, find_rank
from shipworthy.capture.processes import launcher_identity
from shipworthy.capture.resume import restart_count
from shipworthy.identity import is_run_id, new_run_id

OPEN_SECONDS: Final = 600.0
"""How long after its first rank a launch of kind 5 takes further ranks."""
MAX_RUNS: Final = 10_000

# 2026-01-01T00:00:00Z in milliseconds: the time part of computed ids.
_TIME: Final = 1_767_225_600_000


def detect_rank(environ: Mapping[str, str] = os.environ) -> Rank | None:
    """Rank, size and launcher of this process; None for a process that was started alone."""
    return find_rank(environ)


def shared_run_id(
    rank: Rank | None, folder: Path | None, environ: Mapping[str, str] = os.environ, ordinal: int = 0
) -> str:
    """The id of the run that this process begins or joins. Never raises, never waits.

    `folder` is the journal folder, None when nothing can be written. `ordinal` counts the runs that this
    process began before: all ranks begin the same runs in the same order. A process that was started alone
    gets a new id each time.
    """
    if given := given_run_id(environ, ordinal):
        return given
    if rank is None:
        return new_run_id()
    key, reach = launch_key(rank, environ)
    if reach is Reach.PROGRAM or folder is None:
        return _computed_id(key, ordinal)
    number = _claim(folder, key, rank.rank, restart_count(environ), reach, ordinal)
    return _computed_id(key, number)


def given_run_id(environ: Mapping[str, str] = os.environ, ordinal: int = 0) -> str | None:
    """The id that `SHIPWORTHY_RUN_ID` gives to the run with this ordinal."""
    given = environ.get("SHIPWORTHY_RUN_ID", "").strip().lower()
    if not is_run_id(given):
        return None
    # One id names one run; further ones of the same process are runs of their own, the same in all ranks.
    return given if ordinal == 0 else _computed_id(given, ordinal)


def launch_key(rank: Rank, environ: Mapping[str, str] = os.environ) -> tuple[str, Reach]:
    """A text that all ranks of this launch have, and how far it tells launches apart."""
    if launch := environ.get("SHIPWORTHY_LAUNCH", "").strip():
        return f"given\n{launch}", Reach.PROGRAM
    if rank.on_one_node:
        process = launcher_identity(environ, rank.marks)
        if process is not None:
            reach = (
                Reach.PROGRAM if rank.launcher in ("torchrun", "accelerate", "deepspeed") else Reach.LAUNCH
            )
            return f"process\n{rank.launcher}\n{process}", reach
    return rank.job_key, rank.reach


def _claim(folder: Path, key: str, rank: int, attempt: int, reach: Reach, ordinal: int) -> int:
    """The number of the first run under this key that lacks this rank; from now on it has this process."""
    launches = claims_of(folder, key)
    try:
        if reach is Reach.NAME and attempt:
            # Restarted by its launcher: the launch is the latest of its name, however long ago it was opened.
            opened = launches.glob(f"0-*/opened-{ordinal}")
            return max((int(each.parent.name[2:]) for each in opened), default=ordinal)
        for number in range(ordinal, MAX_RUNS):
            place = launches / f"{attempt}-{number}"
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            is_open = reach is Reach.LAUNCH or _is_open(place / f"opened-{ordinal}")
            if is_open and create_file(place / f"rank-{rank}"):
                return number
    except OSError:
        pass  # The folder takes nothing: all that is left is what the environment tells.
    return ordinal


def _is_open(first: Path) -> bool:
    """Whether the first rank came no longer ago than OPEN_SECONDS."""
    create_file(first)
    return abs(time.time() - first.stat().st_mtime) < OPEN_SECONDS


def _computed_id(key: str, number: int) -> str:
    """UUIDv7 in form (RFC 9562 section 5.7), the same for the same key and number."""
    seed = f"shipworthy.launch/1\0{key}\0{number}".encode("utf-8", "replace")
    value = int.from_bytes(sha256(seed).digest()[:10], "big")
    digits = f"{_TIME:012x}7{value >> 68:03x}{0x8 | value >> 66 & 0x3:x}{value & (1 << 60) - 1:015x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
