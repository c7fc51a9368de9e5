"""Starting on a database: everything that must hold before the first record is taken."""

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import Connection, text

from models.database import Database, durability
from models.errors import StartRefused
from models.ledger import tree
from models.ledger.guards import check_guards, guard_sessions
from models.ledger.head import Head, HeadFile, check_extends, public_key_bytes, read_head, write_head
from models.ledger.lock import take_log_lock
from models.ledger.schema import require_current
from models.ledger.writer import Concern, Ledger
from shipworthy.formats.merkle import Frontier
from shipworthy.formats.notes import NoteError, verifier_key, verify_note

ORIGIN_PREFIX: Final = "shipworthy/log/"


def new_origin() -> str:
    return ORIGIN_PREFIX + secrets.token_hex(8)


def open_ledger(database: Database, key: Ed25519PrivateKey, head_file: HeadFile | None) -> Ledger:
    """The ledger of a database whose schema, guards, key and log were checked.

    Raises StartRefused with what is wrong and the command that mends it; Unavailable when the database is away. What is
    no reason to refuse is among the ledger's `concerns`.
    """
    guard_sessions()
    outside = head_file.read(key) if head_file is not None else None
    with database.connection() as connection:
        require_current(connection)
        check_guards(connection)
        take_log_lock(connection)
        check_extends(connection, outside)
        head = read_head(connection)
        if head is None:
            write_head(connection, key, origin=new_origin(), id=0, frontier=Frontier(), now=datetime.now(UTC))
        else:
            check_head(connection, head, key)
        concerns = list(_concerns_of_server(connection))
    if head is not None and head.size and head_file is not None and outside is None:
        concerns.append(Concern("log.no_head_outside", no_head_outside(head_file, head.size)))
    return Ledger(database, key, head_file, concerns)


def _concerns_of_server(connection: Connection) -> Iterator[Concern]:
    found = durability(connection)
    for setting in ("fsync", "full_page_writes"):
        if found.get(setting) == "off":
            yield Concern(
                "database.not_durable",
                f"PostgreSQL runs with {setting} off: when its machine crashes, what was acknowledged can be lost and "
                f"the database be broken; set {setting} = on in postgresql.conf and restart it",
            )


def no_head_outside(head_file: HeadFile, size: int) -> str:
    return (
        f"no log head lies in {head_file.path}: whether the database, whose log has {size} records, was set back can't "
        "be told. Is the data folder new, that is as it should be; else compare the log with a head that you kept "
        f"elsewhere: GET /v1/log/proof/consistency?from=SIZE_OF_YOUR_HEAD&to={size}"
    )


def check_head(connection: Connection, head: Head, key: Ed25519PrivateKey) -> None:
    """The stored head must be signed by this key and agree with the records that are there."""
    try:
        verify_note(head.note, [verifier_key(head.origin, public_key_bytes(key))])
    except NoteError as error:
        raise StartRefused(
            "the log was signed by another log key than the one in the key folder; "
            "give the folder that belongs to this database (--data DIR)"
        ) from error
    last = connection.execute(text("SELECT max(position) FROM record")).scalar()
    size = 0 if last is None else int(last) + 1
    if size != head.size or tree.stored_root(connection, size) != head.frontier.root():
        raise StartRefused(
            f"the log's head says {head.size} records, the table holds {size} or others; "
            "run `shipworthy-server fsck` and restore a backup"
        )
