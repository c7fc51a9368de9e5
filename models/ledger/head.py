"""The signed head of the log, in the database and in a file outside of it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from sqlalchemy import Connection

from models.bulk import Write, sql_table, wire_type, write_all
from models.columns import instant, stored_bytes
from models.errors import LedgerDamaged, StartRefused
from models.ledger import tree
from models.ledger.tables import TreeHead
from models.questions import Question, ask_together
from shipworthy.formats.merkle import Frontier
from shipworthy.formats.notes import NoteError, parse_tree_head, sign_note, verifier_key, verify_note
from shipworthy.formats.notes import TreeHead as HeadText


@dataclass(frozen=True, slots=True)
class Head:
    """The log's last committed state."""

    id: int
    origin: str
    frontier: Frontier
    note: str
    committed_at: datetime

    @property
    def size(self) -> int:
        return self.frontier.size


_COLUMNS: Final = ("id", "origin", "size", "frontier", "note", "committed_at")
_LAST_HEAD: Final = f"SELECT {', '.join(_COLUMNS)} FROM tree_head ORDER BY id DESC LIMIT 1"
HEAD_QUESTION: Final = Question(
    _LAST_HEAD, tuple(wire_type(sql_table(TreeHead).columns[name].type) for name in _COLUMNS)
)


def read_head(connection: Connection) -> Head | None:
    return head_of(ask_together(connection, [HEAD_QUESTION])[0])


def head_of(rows: Sequence[tuple[Any, ...]]) -> Head | None:
    """The answer to HEAD_QUESTION. Raises LedgerDamaged when it is no head."""
    if not rows:
        return None
    id, origin, size, frontier, note, at = rows[0]
    committed, subtrees = instant(at), stored_bytes(frontier)
    assert committed is not None
    assert subtrees is not None
    try:
        return Head(id, origin, Frontier.from_bytes(size, subtrees), note, committed)
    except ValueError as error:
        raise LedgerDamaged(
            f"the log's last head, number {id}, fits no log ({error}): it was not written by the service; run "
            "`shipworthy-server fsck`, remove the row as the owner of the table, or restore a backup"
        ) from error


def make_head(
    key: Ed25519PrivateKey, *, origin: str, id: int, frontier: Frontier, now: datetime
) -> tuple[Head, Write]:
    """The signed new state of the log and what adds it; `now` is the time of the commit."""
    note = sign_note(HeadText(origin, frontier.size, frontier.root()).text(), origin, key)
    row = {
        "id": id,
        "origin": origin,
        "size": frontier.size,
        "frontier": frontier.to_bytes(),
        "note": note,
        "committed_at": now,
    }
    return Head(id, origin, frontier, note, now), Write(TreeHead, [row])


def write_head(
    connection: Connection, key: Ed25519PrivateKey, *, origin: str, id: int, frontier: Frontier, now: datetime
) -> Head:
    """`make_head`, written at once."""
    head, write = make_head(key, origin=origin, id=id, frontier=frontier, now=now)
    write_all(connection, [write])
    return head


def public_key_bytes(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


class HeadFile:
    """The last signed head, kept outside the database: what shows that a database was set back."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, note: str) -> None:
        """Replaces the file at once or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        with temporary.open("w", encoding="utf-8") as file:
            file.write(note)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)

    def read(self, key: Ed25519PrivateKey) -> HeadText | None:
        """The head in the file, its signature checked; None when there is no file yet.

        Raises StartRefused when the file is not a head that this log key signed.
        """
        if not self.path.exists():
            return None
        note = self.path.read_text(encoding="utf-8")
        try:
            origin = note.split("\n", 1)[0]
            return parse_tree_head(verify_note(note, [verifier_key(origin, public_key_bytes(key))]))
        except (NoteError, ValueError) as error:
            raise StartRefused(
                f"{self.path} is not a log head signed by this service's log key ({error}); restore the file "
                "and the key that belong to this database, or see `shipworthy-server log accept-restore --help`"
            ) from error


def check_extends(connection: Connection, outside: HeadText | None) -> None:
    """Refuses to go on when the database's log does not extend the head that was kept outside."""
    if outside is None:
        return
    head = read_head(connection)
    advice = (
        "the database was set back or exchanged; restore the right one, or accept the loss with "
        "`shipworthy-server log accept-restore --reason …`"
    )
    if head is None or head.size < outside.size:
        raise StartRefused(
            f"the log has {head.size if head else 0} records, the head kept outside says {outside.size}: {advice}"
        )
    if tree.stored_root(connection, outside.size) != outside.root:
        raise StartRefused(
            f"the log's first {outside.size} records are not those of the head kept outside: {advice}"
        )
