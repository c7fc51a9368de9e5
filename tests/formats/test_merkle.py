import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipworthy.formats.merkle import (
    EMPTY_ROOT,
    Frontier,
    consistency_path,
    inclusion_path,
    leaf_hash,
    node_hash,
    root_at,
    tree_root,
    verify_consistency,
    verify_inclusion,
)

VECTORS = json.loads((Path(__file__).parent.parent / "data" / "rfc6962_vectors.json").read_text())
LARGEST = 70
LEAVES = [leaf_hash(str(number).encode()) for number in range(LARGEST)]


def split(width: int) -> int:
    power = 1
    while power * 2 < width:
        power *= 2
    return power


# The recursive definitions of RFC 6962 section 2.1, word for word, over the leaves start..stop-1.
@cache
def defined_root(start: int, stop: int) -> bytes:
    if stop - start == 1:
        return LEAVES[start]
    middle = start + split(stop - start)
    return node_hash(defined_root(start, middle), defined_root(middle, stop))


def defined_inclusion(index: int, start: int, stop: int) -> list[bytes]:
    if stop - start == 1:
        return []
    middle = start + split(stop - start)
    if index < middle:
        return [*defined_inclusion(index, start, middle), defined_root(middle, stop)]
    return [*defined_inclusion(index, middle, stop), defined_root(start, middle)]


def defined_consistency(old: int, start: int, stop: int, whole: bool) -> list[bytes]:
    if start + old == stop:
        return [] if whole else [defined_root(start, stop)]
    width = split(stop - start)
    middle = start + width
    if old <= width:
        return [*defined_consistency(old, start, middle, whole), defined_root(middle, stop)]
    return [*defined_consistency(old - width, middle, stop, False), defined_root(start, middle)]


def read(level: int, index: int) -> bytes:
    return defined_root(index << level, (index + 1) << level)


def test_roots_match_the_published_vectors() -> None:
    hashes = [leaf_hash(bytes.fromhex(leaf)) for leaf in VECTORS["leaves_hex"]]
    frontier = Frontier()
    assert frontier.root() == EMPTY_ROOT
    for size, root in enumerate(map(bytes.fromhex, VECTORS["roots_hex"]), start=1):
        frontier = frontier.append(hashes[size - 1])
        assert (frontier.size, frontier.root(), tree_root(hashes[:size])) == (size, root, root)


def test_roots_and_inclusion_paths_equal_the_recursive_definition() -> None:
    assert root_at(0, read) == EMPTY_ROOT
    for size in range(1, LARGEST + 1):
        root = defined_root(0, size)
        assert root_at(size, read) == tree_root(LEAVES[:size]) == root
        for index in range(size):
            path = inclusion_path(index, size, read)
            assert path == defined_inclusion(index, 0, size)
            assert verify_inclusion(LEAVES[index], index, size, path, root)


def test_consistency_paths_equal_the_recursive_definition() -> None:
    for new in range(LARGEST + 1):
        new_root = root_at(new, read)
        for old in range(new + 1):
            path = consistency_path(old, new, read)
            assert path == (defined_consistency(old, 0, new, True) if old else [])
            assert verify_consistency(old, root_at(old, read), new, new_root, path)


@pytest.mark.parametrize("at", range(LARGEST + 1))
def test_frontier_extend_equals_append_and_survives_storage(at: int) -> None:
    start = Frontier().extend(LEAVES[:at])
    one_by_one = start
    for leaf in LEAVES[at:]:
        one_by_one = one_by_one.append(leaf)
    assert start.extend(iter(LEAVES[at:])) == one_by_one
    assert Frontier.from_bytes(at, start.to_bytes()) == start
    assert start.root() == root_at(at, read)


@pytest.mark.parametrize(
    ("size", "data"), [(3, bytes(32)), (1, bytes(64)), (1, bytes(31)), (3, bytes(63)), (-1, b"")]
)
def test_frontier_refuses_bytes_that_do_not_fit_its_size(size: int, data: bytes) -> None:
    with pytest.raises(ValueError, match="subtree hash"):
        Frontier.from_bytes(size, data)


def test_paths_refuse_what_is_not_in_the_tree() -> None:
    with pytest.raises(ValueError, match="leaf 5 is not in a tree of 5 leaves"):
        inclusion_path(5, 5, read)
    with pytest.raises(ValueError, match="can't extend"):
        consistency_path(6, 5, read)


def flipped(data: bytes, bit: int) -> bytes:
    bit %= len(data) * 8
    return (int.from_bytes(data) ^ 1 << bit).to_bytes(len(data))


@given(st.data())
def test_inclusion_refuses_every_altered_proof(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, LARGEST))
    index = data.draw(st.integers(0, size - 1))
    bit = data.draw(st.integers(0, 255))
    leaf, root, path = LEAVES[index], root_at(size, read), inclusion_path(index, size, read)
    assert not verify_inclusion(flipped(leaf, bit), index, size, path, root)
    assert not verify_inclusion(leaf, index, size, path, flipped(root, bit))
    for at in range(len(path)):
        assert not verify_inclusion(
            leaf, index, size, [*path[:at], flipped(path[at], bit), *path[at + 1 :]], root
        )
    for other in range(-1, size + 1):
        assert verify_inclusion(leaf, other, size, path, root) == (other == index)
    assert not verify_inclusion(leaf, index, size, [*path, root], root)
    assert not verify_inclusion(leaf, index, size, [root, *path], root)
    assert not path or not verify_inclusion(leaf, index, size, path[:-1], root)
    assert not verify_inclusion(leaf[:-1], index, size, path, root)
    assert not verify_inclusion(leaf, index, size, [*path[:-1], b""] if path else [b""], root)


@given(st.data())
def test_consistency_refuses_every_altered_proof(data: st.DataObject) -> None:
    new = data.draw(st.integers(1, LARGEST))
    old = data.draw(st.integers(0, new))
    bit = data.draw(st.integers(0, 255))
    old_root, new_root, path = root_at(old, read), root_at(new, read), consistency_path(old, new, read)
    assert not verify_consistency(old, flipped(old_root, bit), new, new_root, path)
    if old:  # Any tree extends the empty one, so there the new root is not bound.
        assert not verify_consistency(old, old_root, new, flipped(new_root, bit), path)
    for at in range(len(path)):
        altered = [*path[:at], flipped(path[at], bit), *path[at + 1 :]]
        assert not verify_consistency(old, old_root, new, new_root, altered)
    for other in range(-1, new + 1):
        assert verify_consistency(other, old_root, new, new_root, path) == (other == old)
    assert not verify_consistency(old, old_root, new, new_root, [*path, new_root])
    assert not path or not verify_consistency(old, old_root, new, new_root, path[:-1])
    assert not path or not verify_consistency(old, old_root, new, new_root, [*path[:-1], path[-1][:-1]])
    assert not verify_consistency(new + 1, old_root, new, new_root, path)
    assert not verify_consistency(old, old_root[:-1], new, new_root, path)


def test_a_rewritten_leaf_is_never_consistent() -> None:
    for old in range(1, LARGEST):
        forged = tree_root([*LEAVES[: old - 1], leaf_hash(b"rewritten"), *LEAVES[old:]])
        assert not verify_consistency(
            old, root_at(old, read), LARGEST, forged, consistency_path(old, LARGEST, read)
        )
