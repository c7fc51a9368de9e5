"""The slices of a run's days, one by one: what a page names when a promise about the age of checkpoints is broken."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection
from sqlmodel import col

from gates.slo.checkpoints import Stretch
from models.slo.definitions import slo_at
from models.slo.freshness import stretches_of
from models.slo.stored import windows_where
from models.slo.tables import SloWindow


def stretches_by_window(
    connection: Connection, namespace: str, slo: str, version: int, ids: Sequence[str], now: datetime
) -> Mapping[str, list[Stretch]]:
    """Of the windows with these ids, up to `now`, as this version of the promise counts them. Half a dozen statements,
    however many windows."""
    if not ids:
        return {}
    published = slo_at(connection, namespace, slo, version)
    if published.definition.objective != "freshness":
        return {}
    windows = windows_where(
        connection,
        col(SloWindow.namespace) == namespace,
        col(SloWindow.slo) == slo,
        col(SloWindow.id).in_(ids),
        limit=len(ids),
    )
    return stretches_of(connection, published, windows, now)
