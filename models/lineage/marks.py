"""Revoked and contested records: their bytes stay, what is shown of them says so."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import Select, select
from sqlmodel import Session, col

from models.ledger.tables import Record
from models.lineage.tables import Revocation


@dataclass(frozen=True, slots=True)
class Mark:
    """`revoked` is the record that was taken back, of `kind` at `position`; `by` the record that did it."""

    position: int
    revoked: str
    kind: str
    effect: str
    reason: str
    by: str


def marks_at(session: Session, namespace: str, positions: Collection[int]) -> Mapping[int, list[Mark]]:
    """Marks of the records at these log positions, the latest first."""
    found: dict[int, list[Mark]] = defaultdict(list)
    if positions:
        for mark in _read(session, _marks(namespace).where(col(Record.position).in_(positions))):
            found[mark.position].append(mark)
    return found


def marks_of_run(session: Session, namespace: str, run_id: str, limit: int) -> list[Mark]:
    """Marks of any record of a run, the latest first."""
    return _read(session, _marks(namespace).where(col(Record.subject) == f"run:{run_id}").limit(limit))


def _marks(namespace: str) -> Select[int, str, str, str, str, str]:
    return (
        select(
            col(Record.position),
            col(Record.digest),
            col(Record.kind),
            col(Revocation.effect),
            col(Revocation.document),
            col(Revocation.record),
        )
        .join_from(Record, Revocation, col(Revocation.revoked) == col(Record.digest))
        .where(col(Record.namespace) == namespace, col(Revocation.namespace) == namespace)
        .order_by(col(Revocation.position).desc())
    )


def _read(session: Session, statement: Select[int, str, str, str, str, str]) -> list[Mark]:
    return [
        Mark(position, revoked, kind, effect, json.loads(document)["reason"], by)
        for position, revoked, kind, effect, document, by in session.connection().execute(statement)
    ]
