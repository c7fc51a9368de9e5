"""What may need somebody now, each by an index and with a limit: lost runs, blocked places, refused promotions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, exists, func, select

from models.bulk import as_asked, sql_table
from models.columns import instant
from models.gates.queries import DECISION_COLUMNS, StoredDecision
from models.gates.tables import Gate, GateDecision
from models.promotions.queries import StoredEvent
from models.promotions.tables import PromotionEvent

_REFUSED: Final = 200
"""Refusals that are looked at, the newest ones: somebody who tries again and again makes one each time."""
# Past SQLAlchemy's compiler, which took longer than the database: every open page asks them again and again.
_HEAD: Final = "SELECT size, committed_at FROM tree_head ORDER BY id DESC LIMIT 1"
_BEGUN: Final = "SELECT " + ", ".join(
    f"EXISTS (SELECT 1 FROM {table} WHERE namespace = :namespace)"
    for table in ("run", "contract", "gate", "slo")
)


@dataclass(frozen=True, slots=True)
class Begun:
    """Which kinds of things a namespace has at all."""

    runs: bool
    contracts: bool
    gates: bool
    slos: bool


@dataclass(frozen=True, slots=True)
class LogHead:
    """Of the whole log, all namespaces together: how many records it has and when it took the last one."""

    size: int
    committed_at: datetime | None


def log_head(connection: Connection) -> LogHead:
    row = connection.exec_driver_sql(_HEAD).first()
    return LogHead(0, None) if row is None else LogHead(row[0], instant(row[1]))


def begun(connection: Connection, namespace: str) -> Begun:
    """One statement."""
    query = as_asked(_BEGUN, connection.dialect.name)
    row = connection.exec_driver_sql(query, {"namespace": namespace}).one()
    return Begun(*map(bool, row))


def blocked_places(connection: Connection, namespace: str, limit: int) -> list[StoredDecision]:
    """Places where the last enforced decision of the gate lets nothing pass, the newest of those first. A place for
    which something else was passed since does not wait for anybody."""
    decision, latest, gate = sql_table(GateDecision), sql_table(GateDecision).alias("latest"), sql_table(Gate)
    newest = (
        select(func.max(latest.c.position))
        .where(
            latest.c.namespace == gate.c.namespace,
            latest.c.gate == gate.c.name,
            latest.c.mode == "enforce",
        )
        .correlate(gate)
        .scalar_subquery()
    )
    query = (
        select(*DECISION_COLUMNS)
        .join_from(
            gate,
            decision,
            (decision.c.namespace == gate.c.namespace)
            & (decision.c.gate == gate.c.name)
            & (decision.c.position == newest),
        )
        .where(gate.c.namespace == namespace, decision.c.verdict == "blocked")
        .order_by(decision.c.position.desc())
        .limit(limit)
    )
    return [StoredDecision(*row) for row in connection.execute(query)]


def refused_since(connection: Connection, namespace: str, since: datetime, limit: int) -> list[StoredEvent]:
    """The newest refusal of each version at each target, newest first, unless the target has moved since."""
    event, later = sql_table(PromotionEvent), sql_table(PromotionEvent).alias("later")
    moved = exists().where(
        later.c.model == event.c.model,
        later.c.namespace == event.c.namespace,
        later.c.registry_name == event.c.registry_name,
        later.c.target == event.c.target,
        later.c.moved == 1,
        later.c.position > event.c.position,
    )
    query = (
        select(
            *(event.c[name] for name in ("record", "position", "document")),
            *(event.c[name] for name in ("registry_name", "model", "target", "version")),
        )
        .where(
            event.c.namespace == namespace,
            event.c.state == "refused",
            event.c.at >= since,
            ~moved,
        )
        .order_by(event.c.position.desc())
        .limit(_REFUSED)
    )
    found: dict[tuple[str, ...], StoredEvent] = {}
    for record, position, document, *place in connection.execute(query):
        found.setdefault(tuple(place), StoredEvent(record, position, document))
    return list(found.values())[:limit]
