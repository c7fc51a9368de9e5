"""Windows as they stood at a time: what had been received by then. Each window is read with its last outcome of that
time, so that this costs what the asked time holds."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, func, select
from sqlmodel import col

from gates.slo.report import ReportedWindow, window_json
from models.bulk import sql_table
from models.lineage.question import position_at
from models.slo.definitions import Published
from models.slo.held import Held
from models.slo.left_out import exclusion_texts
from models.slo.listed import MAX_SHOWN
from models.slo.projections import WITHDRAWN
from models.slo.sums import Span, Sums
from models.slo.tables import SloWindow, SloWindowRevision

MAX_WINDOWS: Final = 50_000
"""Of one SLO."""


def held_as_of(
    connection: Connection,
    slos: Sequence[Published],
    spans: Mapping[str, Span],
    as_of: datetime,
    patience: timedelta,
) -> tuple[dict[Span, Held], Collection[str]]:
    """By span, and the names of SLOs of which a window had been due for longer than `patience` without being judged.
    Corrections are left out: an outcome of then is what is shown, not how it came about."""
    position, namespace = position_at(connection, as_of), slos[0].namespace
    sums, missed, shown = dict[str, str](), dict[str, str](), dict[str, str]()
    behind = set[str]()
    for published in slos:
        name, total = published.name, Sums()
        documents, misses = list[str](), list[str]()
        for row in _rows(connection, published, spans[name], position):
            outcome = "pending" if row.status is None else row.status
            if outcome == "pending" and row.due_at < as_of - patience:
                behind.add(name)
            counted = {outcome: 1, "predicted": row.predicted or 0, "good": row.good or 0}
            counted |= {"bad": row.bad or 0, "unsure": row.unsure or 0}
            total += Sums(**counted)
            if outcome in ("breached", "unknown"):
                misses.append(f"{row.day} {json.loads(row.document)['reason'] or 'unknown'}")
            documents.append(row.document or json.dumps(_pending(row, published), separators=(",", ":")))
        sums[name], missed[name] = total.text, ",".join(misses)
        shown[name] = ",".join(documents[-MAX_SHOWN:])
    excluded = exclusion_texts(connection, namespace, list(spans))
    held = Held(sums, missed, {}, excluded, shown, as_of)
    return dict.fromkeys(spans.values(), held), behind


def _pending(row: Any, published: Published) -> dict[str, Any]:  # noqa: ANN401 - a row of the statement below
    window = ReportedWindow(
        id=row.id,
        opens_at=row.opens_at,
        deadline_utc=row.deadline_at,
        deadline_local=row.deadline_local,
        status="pending",
        backfilled=bool(row.backfilled),
    )
    return window_json(window, published.definition.layer)


def _rows(connection: Connection, published: Published, span: Span, position: int) -> list[Any]:
    revision = SloWindowRevision
    latest = (
        select(
            col(revision.window_id).label("window_id"),
            func.max(col(revision.revision)).label("revision"),
        )
        .where(
            col(revision.namespace) == published.namespace,
            col(revision.slo) == published.name,
            col(revision.position) <= position,
        )
        .group_by(col(revision.window_id))
        .subquery()
    )
    window, judged = sql_table(SloWindow).columns, sql_table(revision).columns
    named = ("id", "opens_at", "deadline_at", "due_at", "deadline_local", "day", "backfilled")
    outcome = ("status", "predicted", "good", "bad", "unsure", "document")
    query = (
        select(*(window[name] for name in named), *(judged[name] for name in outcome))
        .select_from(SloWindow)
        .outerjoin(latest, latest.c.window_id == window["id"])
        .outerjoin(
            revision,
            (judged["window_id"] == window["id"])
            & (judged["namespace"] == window["namespace"])
            & (judged["revision"] == latest.c.revision),
        )
        .where(
            window["namespace"] == published.namespace,
            window["slo"] == published.name,
            window["status"] != WITHDRAWN,
            window["expected_position"] <= position,
            window["deadline_at"] >= span.start,
            window["deadline_at"] < span.end,
        )
        .order_by(window["deadline_at"], window["id"])
        .limit(MAX_WINDOWS)
    )
    return list(connection.execute(query))
