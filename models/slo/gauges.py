"""What only gauges show: the next deadline of each SLO, and how old the checkpoints of live runs are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select
from sqlmodel import col

from gates.slo.checkpoints import age
from models.slo.definitions import Published
from models.slo.freshness import checkpoint_facts, live_runs
from models.slo.tables import Slo, SloWindow


@dataclass(frozen=True, slots=True)
class CheckpointGauge:
    """`age_seconds` None: no checkpoint of the run is verified well enough."""

    namespace: str
    slo: str
    run_id: str
    age_seconds: float | None

    @property
    def labels(self) -> dict[str, str]:
        return {"namespace": self.namespace, "slo": self.slo, "run_id": self.run_id}


def namespaces_with_slos(connection: Connection) -> list[str]:
    query = select(col(Slo.namespace)).distinct().order_by(col(Slo.namespace))
    return list(connection.execute(query).scalars())


def next_deadlines(
    connection: Connection, namespace: str, now: datetime
) -> Mapping[tuple[str, str], datetime]:
    """By namespace and SLO, of windows that are pending and not over."""
    query = (
        select(col(SloWindow.slo), func.min(col(SloWindow.deadline_at)))
        .where(
            col(SloWindow.look_at) >= now,
            col(SloWindow.namespace) == namespace,
            col(SloWindow.status) == "pending",
            col(SloWindow.deadline_at) >= now,
        )
        .group_by(col(SloWindow.slo))
    )
    return {(namespace, slo): deadline for slo, deadline in connection.execute(query)}


def checkpoint_gauges(
    connection: Connection, slos: Sequence[Published], now: datetime
) -> list[CheckpointGauge]:
    """For each freshness SLO every live run of its job that somebody knows to live."""
    found = []
    for published in slos:
        rule = published.definition.evidence
        required = rule.checkpoint_level
        if published.definition.objective != "freshness" or required is None:
            continue
        namespace = published.namespace
        runs = live_runs(connection, namespace, rule.job, now, None)
        runs = [each for each in runs if not each.silent]
        facts = checkpoint_facts(connection, namespace, [each.run_id for each in runs], rule.level)
        for run in runs:
            known = age(now, run.started_at, facts.get(run.run_id, ()), required, as_of=now)
            seconds = None if known.state_time is None else known.age.total_seconds()
            found.append(CheckpointGauge(namespace, published.name, run.run_id, seconds))
    return found
