"""A run's view as it was known at a position of the log: the same fold, over fewer facts."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Connection, text

from models.columns import UTCDateTime
from models.fields import Value, instant_text
from models.kinds import facts
from models.kinds.registry import KINDS
from models.lineage.run_view import (
    View,
    empty_view,
    made_of,
    merge_artifact,
    merge_checkpoint,
    merge_event,
    merge_registration,
)

Fact = tuple[str, str, int, Mapping[str, Any], str | None, datetime]
"""Kind, record digest, position, body, owner, time of receipt."""


def fold(run_id: str, recorded: Iterable[Fact]) -> View:
    """The view of these facts in any order."""
    view = empty_view(run_id)
    for kind, digest, position, body, owner, received in recorded:
        fact = KINDS[kind].body.model_validate(body)
        view = merge(view, kind, fact, body, record=digest, position=position, owner=owner)
        stated = instant_text(received)
        view["received_at"] = max(view["received_at"] or stated, stated)
    return view


def merge(
    view: View,
    kind: str,
    fact: Value,
    body: Mapping[str, Any],
    *,
    record: str,
    position: int,
    owner: str | None,
) -> View:
    """One fact more; kinds that don't change a run's view give it back as a copy."""
    match kind:
        case "run.registered":
            return merge_registration(
                view,
                cast(facts.RunFact, fact),
                body,
                made_of(body),
                record=record,
                position=position,
                owner=owner,
            )
        case "run.event":
            return merge_event(view, cast(facts.RunEventFact, fact))
        case "checkpoint.saved":
            return merge_checkpoint(view, cast(facts.CheckpointFact, fact))
        case "artifact":
            return merge_artifact(view, cast(facts.ArtifactFact, fact))
        case _:
            return dict(view)


def view_as_of(connection: Connection, namespace: str, run_id: str, as_of: int) -> View | None:
    """From the records up to `as_of`; None when the run was not registered then."""
    rows = connection.execute(
        text(
            "SELECT kind, digest, position, payload, recorded_at FROM record WHERE namespace = :namespace "
            "AND subject = :subject AND position <= :as_of ORDER BY position"
        ).columns(recorded_at=UTCDateTime()),
        {"namespace": namespace, "subject": f"run:{run_id}", "as_of": as_of},
    )
    recorded: list[Fact] = []
    for kind, digest, position, payload, received in rows:
        envelope = json.loads(payload)
        recorded.append((kind, digest, position, envelope["body"], envelope["actor"]["owner"], received))
    view = fold(run_id, recorded)
    return None if view["position"] is None else view
