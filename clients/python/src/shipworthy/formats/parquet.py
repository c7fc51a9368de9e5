"""The footer of a Parquet file, which names every column chunk of it: read without a Parquet library.

Format: the file ends with the footer, its length in four bytes (little-endian), and "PAR1".
"""

import os
from collections.abc import Sequence
from typing import BinaryIO, Final

from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import JsonValue, canonicalize

MAGIC: Final = b"PAR1"
_TAIL: Final = 8


class NoFooter(ValueError):
    """The file ends in no plain Parquet footer; that of an encrypted one ends with "PARE"."""


def footer_digest(file: BinaryIO) -> str:
    """Raises NoFooter."""
    size = file.seek(0, os.SEEK_END)
    if size < _TAIL:
        raise NoFooter("it is too short for a Parquet file")
    file.seek(size - _TAIL)
    tail = file.read(_TAIL)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != MAGIC or length > size - _TAIL:
        raise NoFooter("it has no plain Parquet footer")
    file.seek(size - _TAIL - length)
    return sha256_digest(file.read(length))


def footers_digest(digests: Sequence[str]) -> str:
    """One digest for a table: that of its only file, or of the list of all, in the order in which they are read."""
    listed: list[JsonValue] = list(digests)
    return digests[0] if len(digests) == 1 else sha256_digest(canonicalize(listed))
