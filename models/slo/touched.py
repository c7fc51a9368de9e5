"""Records that may be evidence, read on from where the last round of the tick ended: a round costs what came since."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, select
from sqlmodel import col

from models.ledger.tables import Record
from models.lineage.tables import Revocation

RUN_KINDS: Final = frozenset({"run.registered", "run.event", "artifact", "checkpoint.saved"})
KINDS: Final = (
    *sorted(RUN_KINDS),
    "checkpoint.verified",
    "contract.checked",
    "decision",
    "evaluation.completed",
    "model_version",
    "revocation",
    "slo.excluded",
    "snapshot",
)


@dataclass(frozen=True, slots=True)
class Touched:
    """A record that may be evidence."""

    position: int
    namespace: str
    kind: str
    subject: str
    digest: str
    recorded_at: datetime

    @property
    def run_id(self) -> str | None:
        return self.subject[4:] if self.subject.startswith("run:") else None


_COLUMNS: Final = (
    col(Record.position),
    col(Record.namespace),
    col(Record.kind),
    col(Record.subject),
    col(Record.digest),
    col(Record.recorded_at),
)
"""In the order of Touched's fields."""


def read_touched(
    connection: Connection, after: int, upto: int, limit: int, namespaces: Collection[str]
) -> list[Touched]:
    """Records behind a log position and up to another that may be evidence, in log order."""
    query = (
        select(*_COLUMNS)
        .where(
            col(Record.position) > after,
            col(Record.position) <= upto,
            col(Record.kind).in_(KINDS),
            col(Record.namespace).in_(list(namespaces)),
        )
        .order_by(col(Record.position))
        .limit(limit)
    )
    return [Touched(*row) for row in connection.execute(query)]


def with_revoked(connection: Connection, namespace: str, touched: Sequence[Touched]) -> list[Touched]:
    """The same, and what they took back."""
    taken_back = [each.digest for each in touched if each.kind == "revocation"]
    if not taken_back:
        return list(touched)
    query = (
        select(*_COLUMNS)
        .join(Revocation, col(Revocation.revoked) == col(Record.digest))
        .where(
            col(Revocation.namespace) == namespace,
            col(Revocation.record).in_(taken_back),
            col(Record.namespace) == namespace,
        )
    )
    return [*touched, *(Touched(*row) for row in connection.execute(query))]
