"""A run's view as it was known at a position of the log: the same fold, over fewer facts."""

from collections.abc import Iterable

from sqlalchemy import Connection

from models.fields import instant_text
from models.ledger.entries import Entry
from models.ledger.reading import entries_about
from models.lineage.merging import merge
from models.lineage.run_view import View, empty_view


def fold(run_id: str, entries: Iterable[Entry]) -> View:
    """The view of these facts in any order."""
    view = empty_view(run_id)
    for entry in entries:
        received = instant_text(entry.recorded_at)
        view = merge(view, entry) | {"received_at": max(view["received_at"] or received, received)}
    return view


def view_as_of(connection: Connection, namespace: str, run_id: str, as_of: int) -> View | None:
    """From the records up to `as_of`; None when the run was not registered then."""
    view = fold(run_id, entries_about(connection, namespace, f"run:{run_id}", as_of))
    return None if view["position"] is None else view
