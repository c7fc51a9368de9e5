"""What a report lists of windows, for many SLOs at once: the latest, the missed, and those that were judged anew."""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, select, text, tuple_
from sqlmodel import col

from gates.slo.counts import Miss
from gates.slo.report import Correction
from models.among import among
from models.columns import UTCDateTime
from models.slo.projections import WITHDRAWN
from models.slo.sums import Span
from models.slo.tables import SloWindow, SloWindowRevision

MAX_SHOWN: Final = 100
"""Windows of one SLO in a report, the latest ones; GET /v1/slos/{name}/windows lists all."""
MAX_MISSES: Final = 20_000
MAX_CORRECTIONS: Final = 1_000
"""Of a report."""
_LATEST: Final = (
    "SELECT document, deadline_at, id FROM slo_window WHERE namespace = :namespace AND slo = named.{column} "
    "AND deadline_at >= :start AND deadline_at < :end AND status <> 'withdrawn' "
    "ORDER BY deadline_at DESC, id DESC LIMIT :most"
)
# Put together by the database: a row for each window would cost more than all else of a report.
_SHOWN: Final = {
    "sqlite": (
        "SELECT named.value, (SELECT group_concat(document, ',') FROM (SELECT document FROM "
        f"({_LATEST.format(column='value')}) ORDER BY deadline_at, id)) FROM json_each(:names) AS named"
    ),
    "postgresql": (
        "SELECT named.value, (SELECT string_agg(document, ',' ORDER BY deadline_at, id) FROM "
        f"({_LATEST.format(column='value')}) AS latest) FROM json_array_elements_text(CAST(:names AS json)) AS named"
    ),
}


def shown_windows(connection: Connection, namespace: str, spans: Mapping[str, Span]) -> dict[str, str]:
    """By SLO: the documents of its latest windows as the inside of a JSON list, the earliest first."""
    query = text(_SHOWN[connection.dialect.name]).bindparams(
        bindparam("start", type_=UTCDateTime()), bindparam("end", type_=UTCDateTime())
    )
    found: dict[str, str] = {}
    for (start, end), names in _by_time(spans).items():
        given = {
            "namespace": namespace,
            "names": json.dumps(names),
            "start": start,
            "end": end,
            "most": MAX_SHOWN,
        }
        found |= {name: documents or "" for name, documents in connection.execute(query, given)}
    return found


def misses(connection: Connection, namespace: str, spans: Mapping[str, Span]) -> dict[str, list[Miss]]:
    """Windows that were missed or of which nobody knows, by SLO, in the order of their deadlines."""
    found: dict[str, list[Miss]] = defaultdict(list)
    for (start, end), names in _by_time(spans).items():
        query = (
            select(col(SloWindow.slo), col(SloWindow.day), col(SloWindow.status), col(SloWindow.reason))
            .where(
                col(SloWindow.namespace) == namespace,
                among(col(SloWindow.slo), names),
                col(SloWindow.deadline_at) >= start,
                col(SloWindow.deadline_at) < end,
                text("status IN ('breached', 'unknown')"),
            )
            .order_by(col(SloWindow.slo), col(SloWindow.deadline_at))
            .limit(MAX_MISSES)
        )
        for slo, day, status, reason in connection.execute(query):
            found[slo].append(Miss(day, "unknown" if status == "unknown" else reason or "failed"))
    return found


def corrections(
    connection: Connection, namespace: str, spans: Mapping[str, Span]
) -> dict[str, list[Correction]]:
    """Outcomes that followed another one, by SLO."""
    found: dict[str, list[Correction]] = defaultdict(list)
    revision = SloWindowRevision
    for (start, end), names in _by_time(spans).items():
        query = (
            select(
                col(SloWindow.slo),
                col(SloWindow.id),
                col(revision.revision),
                col(revision.status),
                col(revision.document),
                col(revision.recorded_at),
            )
            .join(
                revision,
                (col(revision.window_id) == col(SloWindow.id))
                & (col(revision.namespace) == col(SloWindow.namespace)),
            )
            .where(
                col(SloWindow.namespace) == namespace,
                among(col(SloWindow.slo), names),
                col(SloWindow.deadline_at) >= start,
                col(SloWindow.deadline_at) < end,
                text("slo_window.revision > 1"),
            )
            .order_by(
                col(SloWindow.slo), col(SloWindow.deadline_at), col(SloWindow.id), col(revision.revision)
            )
            .limit(MAX_CORRECTIONS)
        )
        before: tuple[str, str] = ("", "pending")
        for slo, id, number, status, document, recorded_at in connection.execute(query):
            if before[0] == id and before[1] != "pending":
                cause = json.loads(document)["cause"]
                found[slo].append(Correction(id, number, before[1], status, cause, recorded_at))
            before = (id, status)
    return found


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


def _by_time(spans: Mapping[str, Span]) -> Mapping[tuple[datetime, datetime], list[str]]:
    found: dict[tuple[datetime, datetime], list[str]] = defaultdict(list)
    for name, span in spans.items():
        found[span.start, span.end].append(name)
    return found
