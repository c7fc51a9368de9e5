"""The log's Merkle tree in the database: what a commit adds to it, and hashes for proofs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import Connection, text

from models.columns import stored_bytes
from models.errors import InvalidInput, LedgerDamaged
from shipworthy.formats.merkle import (
    Frontier,
    NodeReader,
    consistency_path,
    inclusion_path,
    node_hash,
    root_at,
)

TILE_LEVELS: Final = 8
"""Hashes of subtrees are kept at every eighth level: one row per 256 leaves, and few reads a proof."""

StoredNode = tuple[int, int, bytes]


def extend(frontier: Frontier, leaf_hashes: list[bytes]) -> tuple[Frontier, list[StoredNode]]:
    """The tree after these leaves and the subtree hashes to keep."""
    kept: list[StoredNode] = []

    def completed(level: int, index: int, node: bytes) -> None:
        if level % TILE_LEVELS == 0:
            kept.append((level, index, node))

    return frontier.extend(leaf_hashes, completed), kept


def node_reader(connection: Connection) -> NodeReader:
    """Hash of any perfect subtree within the log, from stored rows; each row range is read once a reader."""
    tiles: dict[tuple[int, int], list[bytes]] = {}

    def read(level: int, index: int) -> bytes:
        base = level - level % TILE_LEVELS
        width = 1 << (level - base)
        if width == 1 and base:
            return _read_range(connection, base, index, 1)[0]
        first = index * width
        tile, offset = first >> TILE_LEVELS, first & 255
        if (base, tile) not in tiles:
            tiles[base, tile] = _read_range(connection, base, tile << TILE_LEVELS, 256)
        hashes = tiles[base, tile][offset : offset + width]
        while len(hashes) > 1:
            hashes = [node_hash(hashes[at], hashes[at + 1]) for at in range(0, len(hashes), 2)]
        return hashes[0]

    return read


def prove_inclusion(connection: Connection, index: int, size: int) -> list[bytes]:
    """Audit path of the leaf at `index` in the log of `size` leaves, which must be committed."""
    if not 0 <= index < size:
        raise InvalidInput(f"position {index} is not in a log of size {size}; ask for 0 to {size - 1}")
    with _complete(size):
        return inclusion_path(index, size, node_reader(connection))


def prove_consistency(connection: Connection, old_size: int, new_size: int) -> list[bytes]:
    if not 0 <= old_size <= new_size:
        raise InvalidInput(f"a log of size {new_size} can't extend one of size {old_size}; swap them")
    with _complete(new_size):
        return consistency_path(old_size, new_size, node_reader(connection))


def stored_root(connection: Connection, size: int) -> bytes:
    """Root of the first `size` leaves as the stored hashes have it. LedgerDamaged when one of them is missing."""
    with _complete(size):
        return root_at(size, node_reader(connection))


@contextmanager
def _complete(size: int) -> Iterator[None]:
    try:
        yield
    except IndexError as error:
        raise LedgerDamaged(
            f"hashes of the log's first {size} records are missing from the database; "
            "run `shipworthy-server fsck`, which names them, and restore a backup"
        ) from error


def _read_range(connection: Connection, level: int, first: int, count: int) -> list[bytes]:
    if level == 0:
        query = "SELECT leaf_hash FROM record WHERE position >= :first AND position < :last ORDER BY position"
    else:
        query = (
            'SELECT hash FROM tree_node WHERE level = :level AND "index" >= :first AND "index" < :last '
            'ORDER BY "index"'
        )
    rows = connection.execute(text(query), {"level": level, "first": first, "last": first + count})
    return [node for node in (stored_bytes(row[0]) for row in rows) if node is not None]
