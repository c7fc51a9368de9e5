"""The fixed words of a run's states and of the levels that checkpoints reach."""

from collections.abc import Mapping
from typing import Final

from api.web.words import Word, by_code

RUN_STATES: Final = by_code(
    Word("failed", "Failed", "bad"),
    Word("lost", "Lost", "broken"),
    Word("aborted", "Aborted", "broken"),
    Word("preempted", "Preempted", "broken"),
    Word("unknown", "Unknown", "open"),
    Word("queued", "Queued", "busy"),
    Word("running", "Running", "busy"),
    Word("checkpointing", "Saving", "busy"),
    Word("evaluating", "Evaluating", "busy"),
    Word("resumed", "Resumed", "busy"),
    Word("completed", "Completed", "good"),
)
"""Worst first. Who promised no sign of life and reported no end is not known to run."""

ENDED: Final = frozenset({"completed", "failed", "aborted"})

SAFE_LEVELS: Final = frozenset({"checksummed", "loaded", "restore_tested"})
"""Somebody read the bytes: what is merely written or complete may be damaged."""

_LEVELS: Final[Mapping[str, str]] = {
    "written": "written: nobody looked at it",
    "complete": "complete: every file is there",
    "checksummed": "checksummed: its bytes are what was saved",
    "loaded": "loaded: every tensor was read",
    "restore_tested": "restore-tested: training goes on from it",
}


def level_in_words(level: str | None) -> str:
    """What a level proves; None: nothing holds any more."""
    return "no level holds" if level is None else _LEVELS.get(level, level.replace("_", " "))
