"""What a report lists of windows, for many SLOs at once: the latest, the missed, and those that were judged anew."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, select, tuple_
from sqlmodel import col

from gates.slo.counts import Miss
from gates.slo.report import Correction
from models.columns import read_instant
from models.slo.projections import WITHDRAWN
from models.slo.tables import SloWindow, SloWindowRevision

MAX_SHOWN: Final = 100
"""Windows of one SLO in a report, the latest ones; GET /v1/slos/{name}/windows lists all."""
MAX_MISSES: Final = 20_000
MAX_CORRECTIONS: Final = 1_000
"""Of a report."""
_IN_SPAN: Final = "namespace = :namespace AND slo IN :keys AND deadline_at >= :start AND deadline_at < :end"
_LATEST: Final = (
    "SELECT document, deadline_at, id FROM slo_window WHERE namespace = :namespace AND slo = named.name "
    "AND deadline_at >= :start AND deadline_at < :end AND status <> 'withdrawn' "
    "ORDER BY deadline_at DESC, id DESC LIMIT :shown"
)
_OF_EACH: Final = (
    "SELECT name AS slo, ({joined}) AS said FROM slo AS named WHERE namespace = :namespace AND name IN :keys"
)
SHOWN: Final = {
    "sqlite": _OF_EACH.format(
        joined=f"SELECT group_concat(document, ',') FROM (SELECT document FROM ({_LATEST}) ORDER BY deadline_at, id)"
    ),
    "postgresql": _OF_EACH.format(
        joined=f"SELECT string_agg(document, ',' ORDER BY deadline_at, id) FROM ({_LATEST}) AS latest"
    ),
}
"""By SLO the documents of its latest windows, the earliest first: the inside of a JSON list."""
_MISSES: Final = (
    "SELECT slo, deadline_at, day || ' ' || CASE WHEN status = 'unknown' THEN status ELSE coalesce(reason, 'failed') "
    f"END AS one FROM slo_window WHERE {_IN_SPAN} AND status IN ('breached', 'unknown') "
    "ORDER BY slo, deadline_at LIMIT :missed"
)
MISSED: Final = {
    "sqlite": f"SELECT slo, one AS said FROM ({_MISSES}) AS missed",
    "postgresql": (
        f"SELECT slo, string_agg(one, ',' ORDER BY deadline_at) AS said FROM ({_MISSES}) AS missed GROUP BY slo"
    ),
}
"""By SLO the windows that were missed or of which nobody knows, in the order of their deadlines: texts that `missed_in`
reads."""
_REVISIONS: Final = (
    "SELECT slo_window.slo, deadline_at, slo_window.id, outcome.revision, "
    "{array}(slo_window.id, outcome.revision, outcome.status, outcome.document, recorded_at) AS one "
    "FROM slo_window JOIN slo_window_revision AS outcome "
    "ON window_id = slo_window.id AND outcome.namespace = slo_window.namespace "
    "WHERE slo_window.namespace = :namespace AND slo_window.slo IN :keys "
    "AND deadline_at >= :start AND deadline_at < :end AND slo_window.revision > 1 "
    "ORDER BY slo_window.slo, deadline_at, slo_window.id, outcome.revision LIMIT :corrected"
)
CORRECTED: Final = {
    "sqlite": f"SELECT slo, one AS said FROM ({_REVISIONS.format(array='json_array')}) AS corrected",
    "postgresql": (
        "SELECT slo, string_agg(CAST(one AS text), ',' ORDER BY deadline_at, id, revision) AS said FROM "
        f"({_REVISIONS.format(array='json_build_array')}) AS corrected GROUP BY slo"
    ),
}
"""By SLO all outcomes of windows that were judged more than once: texts that `corrected_in` reads."""


def missed_in(text: str) -> tuple[Miss, ...]:
    return tuple(Miss(*each.split(" ", 1)) for each in text.split(",") if each)


def corrected_in(text: str) -> tuple[Correction, ...]:
    """Outcomes that followed another one."""
    found = []
    before: tuple[str, str] = ("", "pending")
    for id, number, status, document, recorded_at in json.loads(f"[{text}]"):
        if before[0] == id and before[1] != "pending":
            cause = json.loads(document)["cause"]
            found.append(Correction(id, number, before[1], status, cause, read_instant(recorded_at)))
        before = (id, status)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class WindowLine:
    id: str
    deadline_at: datetime
    document: str


def list_windows(
    connection: Connection,
    namespace: str,
    slo: str,
    after: tuple[datetime, str] | None,
    limit: int,
    status: str | None = None,
) -> list[WindowLine]:
    """Windows of an SLO, the one with the latest deadline first."""
    key = (col(SloWindow.deadline_at), col(SloWindow.id))
    query = (
        select(col(SloWindow.id), col(SloWindow.deadline_at), col(SloWindow.document))
        .where(
            col(SloWindow.namespace) == namespace,
            col(SloWindow.slo) == slo,
            col(SloWindow.status) != WITHDRAWN,
        )
        .order_by(*(column.desc() for column in key))
        .limit(limit)
    )
    if status is not None:
        query = query.where(col(SloWindow.status) == status)
    if after is not None:
        query = query.where(tuple_(*key) < tuple_(*after))
    return [WindowLine(*row) for row in connection.execute(query)]


@dataclass(frozen=True, slots=True)
class Revision:
    """One outcome of a window, in the record that says so."""

    record: str
    revision: int
    position: int
    recorded_at: datetime
    document: str


def revisions_of(connection: Connection, namespace: str, window: str, limit: int) -> list[Revision]:
    """The outcomes of a window, the first one first."""
    table = SloWindowRevision
    query = (
        select(
            col(table.record),
            col(table.revision),
            col(table.position),
            col(table.recorded_at),
            col(table.document),
        )
        .where(col(table.window_id) == window, col(table.namespace) == namespace)
        .order_by(col(table.revision))
        .limit(limit)
    )
    return [Revision(*row) for row in connection.execute(query)]
