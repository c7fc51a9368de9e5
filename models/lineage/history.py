"""A run's view as it was known at a position of the log: the same fold, over fewer facts."""

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import Connection, text

from models.fields import instant_text
from models.ledger.entries import Entry
from models.ledger.reading import entries_about
from models.lineage.merging import OF_THE_RUN, merge
from models.lineage.run_view import View, empty_view

_SEALED: Final = text(
    "SELECT bound.registry_name AS registry, bound.model, bound.version, bound.artifact, sealed.revision, "
    "sealed.digest FROM model_version bound JOIN lineage_manifest sealed ON sealed.namespace = bound.namespace "
    "AND sealed.registry_name = bound.registry_name AND sealed.model = bound.model "
    "AND sealed.version = bound.version WHERE bound.run_id = :run AND bound.namespace = :namespace "
    "AND sealed.revision = (SELECT max(revision) FROM lineage_manifest latest "
    "WHERE latest.namespace = bound.namespace AND latest.registry_name = bound.registry_name "
    "AND latest.model = bound.model AND latest.version = bound.version AND latest.position <= :as_of) "
    "ORDER BY bound.position"
)


def fold(run_id: str, entries: Iterable[Entry]) -> View:
    """The view of these facts in any order."""
    view = empty_view(run_id)
    for entry in entries:
        if entry.kind in OF_THE_RUN:
            received = instant_text(entry.recorded_at)
            view = merge(view, entry) | {"received_at": max(view["received_at"] or received, received)}
    return view


def view_as_of(connection: Connection, namespace: str, run_id: str, as_of: int) -> View | None:
    """From the records up to `as_of`; None when the run was not registered then."""
    view = fold(run_id, entries_about(connection, namespace, f"run:{run_id}", as_of))
    if view["position"] is None:
        return None
    return view | {"sealed": _sealed(connection, namespace, run_id, as_of)}


def _sealed(connection: Connection, namespace: str, run_id: str, as_of: int) -> list[dict[str, Any]]:
    """The lineage manifests of its model versions, in the order in which those were registered."""
    given = {"namespace": namespace, "run": run_id, "as_of": as_of}
    return [dict(row) for row in connection.execute(_SEALED, given).mappings()]
