"""The Merkle tree of the log (RFC 6962 section 2.1): hashes, growing roots, proofs and their verification.

Proofs are made from perfect subtrees. Subtree (level, index) covers the 2^level leaves from index·2^level on;
once it is full it never changes, so a store can keep its hash for ever.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

HASH_SIZE: Final = 32
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()

NodeReader: TypeAlias = Callable[[int, int], bytes]
"""(level, index) → hash of the perfect subtree of 2**level leaves with that number, counted from 0."""


def leaf_hash(entry: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def tree_root(leaf_hashes: Iterable[bytes]) -> bytes:
    """Root of the tree with these leaves in this order."""
    return Frontier().extend(leaf_hashes).root()


@dataclass(frozen=True, slots=True)
class Frontier:
    """What has to be known of a tree to append to it: the roots of its perfect subtrees, largest first.

    There is one for each set bit of `size`. ValueError when the hashes don't fit the size.
    """

    size: int = 0
    hashes: tuple[bytes, ...] = ()

    def __post_init__(self) -> None:
        if self.size < 0 or len(self.hashes) != self.size.bit_count():
            raise ValueError(f"{len(self.hashes)} subtree hashes don't make up a tree of {self.size} leaves")
        if any(len(subtree) != HASH_SIZE for subtree in self.hashes):
            raise ValueError(f"a subtree hash doesn't have {HASH_SIZE} bytes; pass SHA-256 hashes")

    def append(self, leaf_hash: bytes) -> "Frontier":
        return self.extend((leaf_hash,))

    def extend(
        self, leaf_hashes: Iterable[bytes], completed: Callable[[int, int, bytes], None] | None = None
    ) -> "Frontier":
        """`completed` is told (level, index, hash) of each subtree of two or more leaves that became full."""
        size, hashes = self.size, list(self.hashes)
        sha256 = hashlib.sha256
        for leaf in leaf_hashes:
            node, full, level = leaf, size, 0
            # Each set bit from the lowest on is a subtree as large as the node: together they fill the next.
            while full & 1:
                node = sha256(b"\x01" + hashes.pop() + node).digest()
                full >>= 1
                level += 1
                if completed is not None:
                    completed(level, full, node)
            hashes.append(node)
            size += 1
        return Frontier(size, tuple(hashes))

    def root(self) -> bytes:
        return _joined(self.hashes)

    def to_bytes(self) -> bytes:
        """The hashes one after another, largest subtree first; the size is kept beside them."""
        return b"".join(self.hashes)

    @staticmethod
    def from_bytes(size: int, data: bytes) -> "Frontier":
        return Frontier(size, tuple(data[at : at + HASH_SIZE] for at in range(0, len(data), HASH_SIZE)))


def root_at(size: int, read: NodeReader) -> bytes:
    """Root of the tree of the first `size` leaves."""
    return _range_hash(0, size, read) if size else EMPTY_ROOT


def inclusion_path(index: int, size: int, read: NodeReader) -> list[bytes]:
    """Audit path of leaf `index` in the tree of `size` leaves, lowest sibling first (RFC 6962, 2.1.1)."""
    if not 0 <= index < size:
        raise ValueError(f"leaf {index} is not in a tree of {size} leaves; ask for 0 to {size - 1}")
    path = []
    start, stop = 0, size
    while stop - start > 1:
        middle = start + _split(stop - start)
        if index < middle:
            path.append(_range_hash(middle, stop, read))
            stop = middle
        else:
            path.append(_range_hash(start, middle, read))
            start = middle
    return path[::-1]


def consistency_path(old_size: int, new_size: int, read: NodeReader) -> list[bytes]:
    """Proof that the first `old_size` leaves are unchanged (RFC 6962 section 2.1.2).

    Empty when the old tree is empty or the new tree itself.
    """
    if not 0 <= old_size <= new_size:
        raise ValueError(f"a tree of {new_size} leaves can't extend one of {old_size}; swap the sizes")
    path: list[bytes] = []
    if old_size in (0, new_size):
        return path
    start, stop = 0, new_size
    while stop != old_size:
        middle = start + _split(stop - start)
        if old_size <= middle:
            path.append(_range_hash(middle, stop, read))
            stop = middle
        else:
            path.append(_range_hash(start, middle, read))
            start = middle
    if start:  # Otherwise the remaining subtree is the old tree itself, whose root the verifier has.
        path.append(_range_hash(start, stop, read))
    return path[::-1]


def verify_inclusion(leaf_hash: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """RFC 9162 section 2.1.3.2; False, never an exception, for proofs of any wrong shape."""
    if not 0 <= index < size or not _all_hashes((leaf_hash, root, *path)):
        return False
    position, last, node = index, size - 1, leaf_hash
    for sibling in path:
        if last == 0:
            return False
        if position & 1 or position == last:
            node = node_hash(sibling, node)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            node = node_hash(node, sibling)
        position, last = position >> 1, last >> 1
    return last == 0 and hmac.compare_digest(node, root)


def verify_consistency(
    old_size: int, old_root: bytes, new_size: int, new_root: bytes, path: Sequence[bytes]
) -> bool:
    """RFC 9162 section 2.1.4.2; False, never an exception, for proofs of any wrong shape.

    Equal sizes need equal roots, and every tree extends the empty one; both with an empty path.
    """
    if not 0 <= old_size <= new_size or not _all_hashes((old_root, new_root, *path)):
        return False
    if old_size == new_size:
        return not path and old_root == new_root and (old_size > 0 or old_root == EMPTY_ROOT)
    if old_size == 0:
        return not path and old_root == EMPTY_ROOT
    hashes = list(path)
    if old_size & (old_size - 1) == 0:
        hashes.insert(0, old_root)
    if not hashes:
        return False
    position, last = old_size - 1, new_size - 1
    while position & 1:
        position, last = position >> 1, last >> 1
    old = new = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            return False
        if position & 1 or position == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            new = node_hash(new, sibling)
        position, last = position >> 1, last >> 1
    return last == 0 and old == old_root and new == new_root


def _split(width: int) -> int:
    """Largest power of two smaller than `width`, for widths from 2 on."""
    return 1 << (width - 1).bit_length() - 1


def _range_hash(start: int, stop: int, read: NodeReader) -> bytes:
    """Root over the leaves start..stop-1, where `start` is a multiple of the largest power of two within."""
    subtrees = []
    while start < stop:
        level = (stop - start).bit_length() - 1
        subtrees.append(read(level, start >> level))
        start += 1 << level
    return _joined(subtrees)


def _joined(subtrees: Sequence[bytes]) -> bytes:
    """Root of a tree from its perfect subtrees, largest first."""
    if not subtrees:
        return EMPTY_ROOT
    root = subtrees[-1]
    for subtree in reversed(subtrees[:-1]):
        root = node_hash(subtree, root)
    return root


def _all_hashes(hashes: Iterable[object]) -> bool:
    return all(isinstance(item, bytes) and len(item) == HASH_SIZE for item in hashes)
