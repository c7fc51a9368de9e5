"""What can become of one file of a checkpoint that is to be loaded."""

from collections.abc import Callable
from dataclasses import dataclass

Read = Callable[[int], None]
"""Called with the number of bytes of each block that was read; may raise to stop."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A regular file by its descriptor; `path` is POSIX, relative to the checkpoint, `size` in bytes."""

    path: str
    fd: int
    size: int


class Broken(Exception):
    """The file is not what it says it is: no program could load it. `reason` is a sentence without its path."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NotLoadable(Exception):
    """The file may be sound, but loading it here is refused: another format, Python objects, more than the limits.
    `reason` is a clause that follows its path."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
