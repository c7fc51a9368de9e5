"""A sketch of a table's keys: what tells whether two tables share rows, without telling what the rows are.

A key is the first 8 bytes of the SHA-256 of the RFC 8785 form of the list of a row's key values. The sketch is all
keys, each once, ascending, big-endian, one after the other, without a header. Two different rows have the same key with
a probability of 2^-64; of a value that can be guessed, such as a small number, the sketch does tell that it is there.
"""

import hashlib
import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from shipworthy.formats.jcs import canonicalize

KEY_BYTES: Final = 8
KEYS: Final = 2**64
"""How many keys there are."""

KeyValue: TypeAlias = str | int


def sketch_key(values: Sequence[KeyValue]) -> int:
    """The key of one row from its key columns' values, in the order of the columns.

    Raises ValueError when there is none, or one is neither text nor a whole number within ±(2^53-1): a float or a null
    would be written in other ways by other tools.
    """
    if not values:
        raise ValueError("a key has no values; name at least one key column")
    for value in values:
        if type(value) is not str and type(value) is not int:
            raise ValueError(
                f"a key value is a {type(value).__name__}; key columns hold texts or whole numbers, without nulls"
            )
    return int.from_bytes(hashlib.sha256(canonicalize(list(values))).digest()[:KEY_BYTES])


def make_sketch(rows: Iterable[Sequence[KeyValue]]) -> bytes:
    """The sketch of all rows. Raises ValueError as `sketch_key` does."""
    return pack_keys(sketch_key(row) for row in rows)


def pack_keys(keys: Iterable[int]) -> bytes:
    """The sketch of these keys, 0 ≤ key < 2^64."""
    packed = array("Q", sorted(set(keys)))
    if sys.byteorder == "little":
        packed.byteswap()
    return packed.tobytes()


def check_sketch(sketch: bytes, count: int) -> None:
    """ValueError unless it holds `count` keys, ascending and each once."""
    if len(sketch) != count * KEY_BYTES:
        raise ValueError(f"the sketch has {len(sketch):,} bytes, not 8 for each of its {count:,} keys")
    keys = array("Q", sketch)
    if sys.byteorder == "little":
        keys.byteswap()
    if any(keys[place] <= keys[place - 1] for place in range(1, count)):
        raise ValueError("the keys of the sketch are not ascending, each once; sort them as unsigned numbers")


def false_positive_rate(count: int, other_count: int) -> float:
    """The chance, at most, that two sketches of different rows have a key in common: the number of pairs / 2^64."""
    return min(1.0, count * other_count / KEYS)
