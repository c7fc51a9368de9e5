"""Lines on standard error: at most one for each kind of problem in a process, and none that can fail."""

import sys
from contextlib import suppress
from typing import Final

_told: Final[set[str]] = set()


def warn_once(kind: str, sentence: str) -> None:
    """Tells a problem of this kind the first time it is met."""
    if kind not in _told:
        _told.add(kind)
        say(sentence)


def say(sentence: str) -> None:
    # None under pythonw, closed at the end of some programs.
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(f"shipworthy: {sentence}\n")
            sys.stderr.flush()
