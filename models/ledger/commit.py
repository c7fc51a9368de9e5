"""One commit of the ledger: what becomes of each item, and everything written in one transaction.

Called with the log lock held. Items keep their order of arrival: a later item may rest on an earlier one of the
same batch, and replaying the log in its order passes the same checks again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import Connection

from models.bulk import Write, write_all
from models.errors import IdempotencyKeyReused, ShipworthyError, TokenInvalid, Unavailable
from models.keys.store import keys_in_force, keys_question
from models.ledger import tree
from models.ledger.drafts import Draft, Item, Stored
from models.ledger.entries import Entry
from models.ledger.head import HEAD_QUESTION, Head, head_of, make_head
from models.ledger.tables import Record, TreeNode
from models.ledger.workspace import KnownRecord, Workspace
from models.lineage.identities import changed_content
from models.lineage.rules import RULES
from models.lineage.run_rows import write_views
from shipworthy.formats.log_entry import leaf_entry
from shipworthy.formats.merkle import leaf_hash

Outcome = tuple[Stored, ...] | ShipworthyError


ENDING_KINDS: Final = frozenset({"key.revoked", "key.retired"})


@dataclass(frozen=True, slots=True)
class Committed:
    """The log's head afterwards, `changed` when it is a new one."""

    head: Head
    outcomes: list[Outcome]
    changed: bool


def commit_items(
    connection: Connection, key: Ed25519PrivateKey, items: Sequence[Item], *, origin: str | None = None
) -> Committed:
    """Decides every item and writes what was accepted. A refused item leaves nothing behind.

    `origin` is a new name for the log from this commit on. Raises Unavailable when the log was never opened.
    """
    drafts = [draft for item in items for draft in item.drafts]
    workspace = Workspace(connection)
    heads: list[tuple[Any, ...]] = []
    workspace.ask(HEAD_QUESTION, heads.extend)
    unrevoked: list[tuple[Any, ...]] = []
    keys = {draft.key_id for draft in drafts if draft.key_id is not None}
    if keys:
        workspace.ask(keys_question(keys), unrevoked.extend)
    workspace.load_known(drafts)
    # In one order, so that equal batches are one statement, which the database has planned before.
    for name in sorted({draft.kind.name for draft in drafts}):
        RULES[name].load(workspace, [draft for draft in drafts if draft.kind.name == name])
    workspace.fetch()
    head = head_of(heads)
    if head is None:
        raise Unavailable("the log was never opened; start the service once with `serve`")
    now = max(datetime.now(UTC), head.committed_at)  # a clock set back must not turn log order round
    in_force = keys_in_force(unrevoked, now)
    accepted: list[tuple[Entry, Draft]] = []
    outcomes: list[Outcome] = []
    for item in items:
        mark, before = workspace.mark(), len(accepted)
        try:
            if any(draft.key_id is not None and draft.key_id not in in_force for draft in item.drafts):
                raise TokenInvalid("the key was revoked or has expired; have a new one made")
            outcomes.append(_accept(item, workspace, accepted, head.size, now))
            in_force -= {draft.subject[4:] for draft in item.drafts if draft.kind.name in ENDING_KINDS}
        except ShipworthyError as refusal:
            workspace.undo(mark)
            del accepted[before:]
            outcomes.append(refusal)
    if not accepted:
        return Committed(head, outcomes, changed=False)
    leaves = [leaf_hash(leaf_entry(draft.digest, draft.kind.name)) for _, draft in accepted]
    rows = [_record_row(entry, draft, leaf) for (entry, draft), leaf in zip(accepted, leaves, strict=True)]
    frontier, nodes = tree.extend(head.frontier, leaves)
    write_views(workspace)
    following, written = make_head(
        key, origin=origin or head.origin, id=head.id + 1, frontier=frontier, now=now
    )
    stored = [{"level": level, "index": index, "hash": node} for level, index, node in nodes]
    write_all(connection, [Write(Record, rows), Write(TreeNode, stored), *workspace.writes(), written])
    for item, outcome in zip(items, outcomes, strict=True):
        if isinstance(outcome, tuple) and outcome[0].created:
            for statement in item.statements:
                connection.execute(statement)
    return Committed(following, outcomes, changed=True)


def _accept(
    item: Item, workspace: Workspace, accepted: list[tuple[Entry, Draft]], size: int, now: datetime
) -> tuple[Stored, ...]:
    stored = []
    for given in item.drafts:
        known = workspace.known.get((given.namespace, given.key))
        if known is not None:
            if known.content != given.content:
                raise _conflict(given, known.digest)
            stored.append(Stored(given.kind.name, known.digest, known.position, False))
            continue
        draft = given if given.complete is None else given.complete(workspace, now)
        entry = Entry(
            kind=draft.kind.name,
            namespace=draft.namespace,
            digest=draft.digest,
            content=draft.content,
            position=size + len(accepted),
            recorded_at=now,
            fact=draft.fact,
            body=draft.body,
            canonical=draft.canonical,
            run_id=draft.run_id,
            level=draft.level,
            owner=draft.owner,
        )
        rule = RULES[entry.kind]
        if given.complete is None:
            rule.check(workspace, entry)
        rule.project(workspace, entry)
        rule.follow(workspace, entry)
        accepted.append((entry, draft))
        workspace.remember(
            draft.namespace, draft.key, KnownRecord(draft.content, draft.digest, entry.position)
        )
        stored.append(Stored(entry.kind, entry.digest, entry.position, True))
    if item.check is not None:
        item.check(workspace)
    return tuple(stored)


def _conflict(draft: Draft, known: str) -> ShipworthyError:
    if draft.explicit_key:
        return IdempotencyKeyReused(
            "this idempotency key was used before with other content; send the same content, or a new key",
            record=known,
        )
    return changed_content(draft.kind.name, draft.fact)


def _record_row(entry: Entry, draft: Draft, leaf: bytes) -> dict[str, object]:
    return {
        "position": entry.position,
        "digest": draft.digest,
        "namespace": draft.namespace,
        "kind": draft.kind.name,
        "subject": draft.subject,
        "idempotency_key": draft.key,
        "content_digest": draft.content,
        "level": draft.level,
        "recorded_at": entry.recorded_at,
        "payload": draft.payload,
        "leaf_hash": leaf,
    }
