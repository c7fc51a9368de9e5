"""What a run of checks is given: files that are open already, and how much of the machine it may use."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Format: TypeAlias = Literal["parquet", "csv"]


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that the caller opened for reading and hashed.

    `path` is what readers are shown: relative to its root, POSIX. `fd` stays open, and its place is never moved.
    `size` in bytes; `sha256` as 64 lower-case hexadecimal digits.
    """

    path: str
    fd: int
    size: int
    sha256: str

    @property
    def address(self) -> str:
        """A path that opens the very same file again, whatever the name on the disk has become."""
        return f"/proc/self/fd/{self.fd}"


@dataclass(frozen=True, slots=True)
class Limits:
    """`memory_bytes` for the query engine, `threads` at least 1, `temp_folder` private to this run and never fuller
    than `temp_bytes`."""

    memory_bytes: int
    threads: int
    temp_folder: Path
    temp_bytes: int


@dataclass(frozen=True, slots=True)
class DeclaredColumn:
    """A column as a contract states it: `types` are names of Arrow types, any of which is right."""

    name: str
    types: tuple[str, ...]
    nullable: bool
    fields: "tuple[DeclaredColumn, ...]"


@dataclass(frozen=True, slots=True)
class Source:
    """The files of one table, in the order in which they are read, and what is declared about them."""

    files: Sequence[OpenFile]
    format: Format
    declared: tuple[DeclaredColumn, ...] | None = None
