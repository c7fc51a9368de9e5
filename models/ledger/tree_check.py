"""The log's tree grown again from its records: stored hashes, signed heads, and the head kept outside."""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final

from sqlalchemy import Connection, func, select

from models.bulk import sql_table
from models.ledger.examine import expected_leaf
from models.ledger.findings import Findings
from models.ledger.head import Head
from models.ledger.reading import StoredRecord
from models.ledger.tables import TreeHead, TreeNode
from models.ledger.tree import TILE_LEVELS, StoredNode
from shipworthy.formats.merkle import Frontier
from shipworthy.formats.notes import (
    NoteError,
    parse_tree_head,
    verifier_key,
    verify_note,
)
from shipworthy.formats.notes import (
    TreeHead as HeadText,
)

_CHUNK_HEADS: Final = 512


class TreeCheck:
    """Fed with every record in log order, then asked to `finish`.

    Once a root differs from what was signed, later roots and hashes can't be right: they are not compared.
    """

    def __init__(
        self, connection: Connection, public_key: bytes, outside: HeadText | None, findings: Findings
    ) -> None:
        self._connection = connection
        self._public_key = public_key
        self._outside = outside
        self._findings = findings
        self._heads = _read_heads(connection)
        self._head = next(self._heads, None)
        self._previous: Head | None = None
        self._frontier = Frontier()
        self._nodes: list[StoredNode] = []
        self._stored_nodes = 0
        self._comparable = True
        self._restored: dict[int, str] = {}

    def feed(self, records: Sequence[StoredRecord], restored: dict[int, str]) -> None:
        """`restored` has the origin that each `log.restored` record takes over from, by position."""
        self._restored |= restored
        at = 0
        while at < len(records):
            size = self._frontier.size
            self._check_heads()
            stops = [self._head.size if self._head else None, self._outside.size if self._outside else None]
            ahead = [stop - size for stop in stops if stop is not None and stop > size]
            part = records[at : at + min([*ahead, len(records) - at])]
            self._grow(part)
            at += len(part)
        self._check_heads()
        self._check_nodes()

    def finish(self) -> None:
        self._check_heads()
        size = self._frontier.size
        if self._previous is None:
            self._findings.add("the log has no head; it was never opened, or its heads were removed")
        elif self._previous.size < size:
            self._findings.add(
                f"no head covers the {size - self._previous.size} records from {self._previous.size} on"
            )
        while self._head is not None:
            self._findings.add(f"head {self._head.id} says {self._head.size} records, the table holds {size}")
            self._next_head()
        if self._outside is not None and self._outside.size > size:
            self._findings.add(
                f"the head kept outside says {self._outside.size} records, the table holds {size}"
            )
        stored = self._connection.execute(select(func.count()).select_from(sql_table(TreeNode))).scalar_one()
        if stored != self._stored_nodes:
            self._findings.add(
                f"{stored - self._stored_nodes} stored tree hashes belong to no part of the tree"
            )

    def _grow(self, records: Sequence[StoredRecord]) -> None:
        first = records[0].position
        if first != self._frontier.size and self._comparable:
            self._findings.add(f"position {self._frontier.size} is missing, the next record is at {first}")
            self._comparable = False
        for before, after in pairwise(records):
            if after.position != before.position + 1 and self._comparable:
                self._findings.add(
                    f"position {before.position + 1} is missing, the next record is at {after.position}"
                )
                self._comparable = False
        head = self._head
        for record in records:
            if head is not None and record.recorded_at != head.committed_at:
                self._findings.add(
                    f"record {record.position} was recorded at {record.recorded_at.isoformat()}, its commit "
                    f"was at {head.committed_at.isoformat()}"
                )
        leaves = [expected_leaf(record) or record.leaf_hash for record in records]
        self._frontier = self._frontier.extend(leaves, self._completed)

    def _completed(self, level: int, index: int, node: bytes) -> None:
        if level % TILE_LEVELS == 0:
            self._nodes.append((level, index, node))

    def _check_nodes(self) -> None:
        for level, group in groupby(sorted(self._nodes), key=lambda node: node[0]):
            wanted = {index: node for _, index, node in group}
            table = sql_table(TreeNode).columns
            query = select(table["index"], table["hash"]).where(
                table["level"] == level, table["index"].between(min(wanted), max(wanted))
            )
            found = {index: bytes(node) for index, node in self._connection.execute(query)}
            self._stored_nodes += len(found)
            for index, node in wanted.items():
                self._findings.checked["tree hashes"] += 1
                if index not in found:
                    self._findings.add(f"the tree hash at level {level}, index {index} is missing")
                elif self._comparable and found[index] != node:
                    self._findings.add(
                        f"the tree hash at level {level}, index {index} is not that of its leaves"
                    )
        self._nodes = []

    def _check_heads(self) -> None:
        size, root = self._frontier.size, self._frontier.root()
        if self._outside is not None and self._outside.size == size:
            if self._comparable and self._outside.root != root:
                self._findings.add(
                    f"the first {size} records are not those of the head kept outside: the database was "
                    "exchanged or rewritten"
                )
            self._findings.checked["head kept outside"] = 1
            self._outside = None
        while self._head is not None and self._head.size <= size:
            self._check_head(self._head, root)
            self._next_head()

    def _check_head(self, head: Head, root: bytes) -> None:
        self._findings.checked["heads"] += 1
        before = self._previous
        if head.id != (before.id + 1 if before else 0):
            self._findings.add(f"head {head.id} does not follow head {before.id if before else 'none'}")
        if before is not None and head.committed_at < before.committed_at:
            self._findings.add(f"head {head.id} was committed before head {before.id}")
        if (
            before is not None
            and head.origin != before.origin
            and self._restored.get(before.size) != before.origin
        ):
            self._findings.add(
                f"head {head.id} goes on under origin {head.origin} without a log.restored record that names "
                f"{before.origin}"
            )
        self._check_note(head, root)

    def _check_note(self, head: Head, root: bytes) -> None:
        try:
            signed = parse_tree_head(verify_note(head.note, [verifier_key(head.origin, self._public_key)]))
        except NoteError as error:
            self._findings.add(f"head {head.id} is not signed by the log key: {error}")
            return
        if (signed.origin, signed.size) != (head.origin, head.size):
            self._findings.add(
                f"head {head.id} is signed for {signed.origin}, size {signed.size}, and filed otherwise"
            )
        if head.size < self._frontier.size:
            self._findings.add(f"head {head.id} falls back to {head.size} records")
        elif self._comparable and signed.root != root:
            self._findings.add(
                f"head {head.id} signs another root than its {head.size} records have: records or the head "
                "were rewritten (later roots and tree hashes are not compared)"
            )
            self._comparable = False
        elif self._comparable and head.frontier != self._frontier:
            self._findings.add(f"head {head.id} keeps other subtree hashes than its {head.size} records have")

    def _next_head(self) -> None:
        self._previous = self._head
        self._head = next(self._heads, None)


def _read_heads(connection: Connection) -> Iterator[Head]:
    columns = sql_table(TreeHead).columns
    after = -1
    while True:
        query = select(
            *(columns[name] for name in ("id", "origin", "size", "frontier", "note", "committed_at"))
        )
        rows = connection.execute(
            query.where(columns["id"] > after).order_by(columns["id"]).limit(_CHUNK_HEADS)
        ).all()
        if not rows:
            return
        for id, origin, size, frontier, note, committed_at in rows:
            yield Head(id, origin, _frontier(size, bytes(frontier)), note, committed_at)
        after = rows[-1][0]


def _frontier(size: int, stored: bytes) -> Frontier:
    try:
        return Frontier.from_bytes(size, stored)
    except ValueError:
        # As many wrong hashes as fit the size: told as a difference, not as a crash.
        return Frontier(size, (bytes(32),) * size.bit_count())
