"""Going on after a loss: a log that no longer extends the head kept outside starts a new origin, and says so.

Nothing is hidden: the first record under the new origin names the lost head with its signature, so that
whoever kept it sees that the loss was admitted, when and why.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import ValidationError
from sqlalchemy import Connection

from models.actor import SYSTEM
from models.database import Database
from models.errors import FieldProblem, InvalidInput, ShipworthyError
from models.kinds.administration import LogRestored
from models.kinds.registry import KINDS
from models.ledger import tree
from models.ledger.commit import commit_items
from models.ledger.drafts import Item, make_draft
from models.ledger.guards import check_guards
from models.ledger.head import Head, HeadFile, read_head, write_head
from models.ledger.lock import take_log_lock
from models.ledger.opening import check_head, new_origin
from models.ledger.schema import require_current
from shipworthy.formats.jcs import JsonValue
from shipworthy.formats.merkle import Frontier
from shipworthy.formats.notes import TreeHead as HeadText


@dataclass(frozen=True, slots=True)
class Restored:
    """`kept` records went on under `origin`; the lost head spoke of `lost` records."""

    origin: str
    kept: int
    lost: int


def accept_restore(database: Database, key: Ed25519PrivateKey, head_file: HeadFile, reason: str) -> Restored:
    """Starts a new origin whose first record names the lost head, then replaces the head outside.

    Raises InvalidInput when nothing was lost or the reason is empty or longer than 4,096 characters,
    StartRefused when schema, guards or the log itself are not in order: accepting a loss hides no rewriting.
    """
    outside = head_file.read(key)
    if outside is None:
        raise InvalidInput(
            f"there is no head outside the database ({head_file.path}), so nothing is known to be lost"
        )
    note = head_file.path.read_text(encoding="utf-8")
    with database.connection() as connection:
        require_current(connection)
        check_guards(connection)
        take_log_lock(connection)
        head = read_head(connection)
        if head is not None:
            check_head(connection, head, key)
            if _extends(connection, head, outside):
                raise InvalidInput(
                    f"nothing was lost: the log's {head.size} records extend the head kept outside "
                    f"({outside.size} records); start the service"
                )
        following = _go_on(connection, key, head, outside, note, reason)
    head_file.write(following.note)
    return Restored(following.origin, following.size - 1, outside.size)


def _extends(connection: Connection, head: Head, outside: HeadText) -> bool:
    return head.size >= outside.size and tree.stored_root(connection, outside.size) == outside.root


def _go_on(
    connection: Connection,
    key: Ed25519PrivateKey,
    head: Head | None,
    outside: HeadText,
    note: str,
    reason: str,
) -> Head:
    origin = new_origin()
    previous = head.origin if head is not None else outside.origin
    if head is None:
        head = write_head(connection, key, origin=origin, id=0, frontier=Frontier(), now=datetime.now(UTC))
    body: dict[str, JsonValue] = {
        "reason": reason,
        "previous_origin": previous,
        "kept_size": head.size,
        "kept_root": "sha256:" + head.frontier.root().hex(),
        "lost_size": outside.size,
        "lost_root": "sha256:" + outside.root.hex(),
        "lost_note": note,
    }
    try:
        fact = LogRestored.model_validate(body)
    except ValidationError as error:
        problems = [FieldProblem(f"/{problem['loc'][0]}", problem["msg"]) for problem in error.errors()]
        raise InvalidInput("give a reason of 1 to 4,096 characters", problems=problems) from error
    # The lost note makes a second loss with the same words another record.
    draft = make_draft(KINDS["log.restored"], SYSTEM, body, fact, idempotency_key=f"restored-{origin}")
    committed = commit_items(connection, key, [Item((draft,))], origin=origin)
    outcome = committed.outcomes[0]
    if isinstance(outcome, ShipworthyError):
        raise outcome
    return committed.head
