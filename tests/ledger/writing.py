"""Items for a writer, what it made of them, and a hold on the log."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Executable, text

from api.recording import Recorder
from models.actor import Actor, EvidenceLevel, Role
from models.database import Database
from models.ledger.drafts import Item, Stored
from models.ledger.lock import take_log_lock
from models.ledger.workspace import Workspace
from tests.support.bodies import make_start

PEPPER = bytes(32)
RECORDER = Actor("open", "team-a", frozenset({Role.RECORDER}), EvidenceLevel.SELF_REPORTED, auth="open")


def start(actor: Actor = RECORDER) -> Item:
    return Recorder(PEPPER).item("run.registered", actor, make_start(), None)


def poisoned(
    *statements: Executable, check: Callable[[Workspace], None] | None = None, actor: Actor = RECORDER
) -> Item:
    return Item(start(actor).drafts, check=check, statements=statements)


def positions(database: Database) -> list[int]:
    with database.read() as session:
        rows = session.connection().execute(text("SELECT position FROM record ORDER BY position"))
        return [row[0] for row in rows]


def signed_size(database: Database) -> int:
    with database.read() as session:
        return int(session.connection().execute(text("SELECT max(size) FROM tree_head")).scalar_one())


def heads(database: Database) -> int:
    with database.read() as session:
        return int(session.connection().execute(text("SELECT count(*) FROM tree_head")).scalar_one())


def assert_contiguous(database: Database, size: int) -> None:
    assert positions(database) == list(range(size))
    assert signed_size(database) == size


@contextmanager
def writing_held(database: Database) -> Iterator[None]:
    """As long as another writer holds the log, nothing that is queued is committed."""
    with database.connection() as connection:
        take_log_lock(connection)
        yield


def is_stored(database: Database, stored: Stored) -> bool:
    with database.read() as session:
        found = session.connection().execute(
            text("SELECT position FROM record WHERE digest = :digest"), {"digest": stored.digest}
        )
        return found.scalar() == stored.position
