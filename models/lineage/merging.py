"""One fact more for a run's view: the same merge live, when projections are made again, and as of a time."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from models.ledger.entries import Entry
from models.lineage.made_of import MadeOf, made_of
from models.lineage.run_view import (
    View,
    merge_artifact,
    merge_checkpoint,
    merge_event,
    merge_registration,
)

_MERGES: Final[Mapping[str, Callable[[View, Any], View]]] = {
    "run.event": merge_event,
    "checkpoint.saved": merge_checkpoint,
    "artifact": merge_artifact,
}


OF_THE_RUN: Final = frozenset({"run.registered", *_MERGES})
"""Kinds that say something of a run's view; what else is filed under a run is about it, such as an evaluation."""


def merge(view: View, entry: Entry) -> View:
    """Kinds that don't change a run's view give it back as it is."""
    if entry.kind == "run.registered":
        return merge_whole(view, entry, made_of(entry))
    if entry.kind in _MERGES:
        return _MERGES[entry.kind](view, entry.fact)
    return view


def merge_whole(view: View, entry: Entry, named: MadeOf) -> View:
    """A registration with what it keeps; its digests are given, since the caller needs them too."""
    view = merge_registration(view, entry, named)
    for each in entry.kept:
        view = merge(view, each)
    return view
