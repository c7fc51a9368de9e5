"""Sketches of keys: the bytes that the format's description gives, and what is refused."""

import hashlib
import struct

import pytest

from shipworthy.formats.key_sketch import (
    check_sketch,
    false_positive_rate,
    make_sketch,
    pack_keys,
    sketch_key,
)


def test_key_is_the_first_eight_bytes_of_the_hash_of_the_values_as_canonical_json() -> None:
    expected = hashlib.sha256('["Zürich",7]'.encode()).digest()[:8]
    assert sketch_key(["Zürich", 7]) == int.from_bytes(expected, "big")


def test_sketch_is_ascending_unique_and_big_endian() -> None:
    sketch = make_sketch([["b"], ["a"], ["b"], ["c"]])
    expected = sorted({hashlib.sha256(f'["{name}"]'.encode()).digest()[:8] for name in "abc"})
    assert sketch == b"".join(expected)
    check_sketch(sketch, 3)


def test_keys_of_all_sizes_are_packed() -> None:
    assert pack_keys([2**64 - 1, 0, 2**63]) == struct.pack(">QQQ", 0, 2**63, 2**64 - 1)


@pytest.mark.parametrize("values", [[], [1.5], [None], [True], [["nested"]]])
def test_values_that_tools_would_write_differently_are_refused(values: list[object]) -> None:
    with pytest.raises(ValueError, match="key"):
        sketch_key(values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sketch", "count", "word"),
    [
        (struct.pack(">QQ", 1, 1), 2, "ascending"),
        (struct.pack(">QQ", 2, 1), 2, "ascending"),
        (struct.pack("<QQ", 1, 256), 2, "ascending"),
        (struct.pack(">QQ", 1, 2), 3, "bytes"),
        (struct.pack(">QQ", 1, 2)[:-1], 2, "bytes"),
    ],
)
def test_sketch_that_is_not_what_it_says_is_refused(sketch: bytes, count: int, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        check_sketch(sketch, count)


def test_false_positive_rate_is_pairs_over_all_keys() -> None:
    assert false_positive_rate(2**20, 2**24) == 2.0**-20
    assert false_positive_rate(2**40, 2**40) == 1.0
