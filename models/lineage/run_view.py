"""A run's view: a fold over its facts that is commutative and idempotent.

Every merge takes a view (a JSON document) and one fact and returns a new view; no order and no repetition of the
same facts gives another result. Scalars that were stated differently keep the smallest value in canonical order and
are named in `conflicts`. Instants are text of fixed width, so that text order is time order.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias, cast

from models.fields import instant_text
from models.kinds.facts import ArtifactFact, CheckpointFact
from models.kinds.runs import TERMINAL_STATES, Heartbeat, RunEventFact, RunRegistered, RunState
from models.ledger.entries import Entry
from models.lineage.made_of import MadeOf, identity_of, input_of, recipes, role_order
from shipworthy.formats.jcs import canonicalize

View: TypeAlias = dict[str, Any]

DEFAULT_HEARTBEAT_SECONDS: Final = 3600
"""Silence after which a run that promised nothing about heartbeats counts as lost."""
# Of two states reported for one instant the one further on counts.
_RANK: Final = {state: rank for rank, state in enumerate(RunState)}


def empty_view(run_id: str) -> View:
    return {
        "run_id": run_id,
        "record": None,
        "position": None,
        "owner": None,
        "identity": {},
        "tags": {},
        "ingredients": {},
        "family_parts": {},
        "unpinned": [],
        "inputs": [],
        "transformations": [],
        "artifacts": [],
        "latest_checkpoint": None,
        "last_step": None,
        "queued_at": None,
        "started_at": None,
        "attempts": {},
        "last_event_at": None,
        "received_at": None,
        "conflicts": [],
        "sealed": [],
        "recipe_digest": None,
        "family_digest": None,
    }


def merge_registration(view: View, entry: Entry, made_of: MadeOf) -> View:
    """Identity and ingredients; what the registration nests is merged fact by fact (models/lineage/merging.py)."""
    fact, body = cast(RunRegistered, entry.fact), entry.body
    merged = dict(view)
    conflicts = set(view["conflicts"])
    if view["position"] is None or entry.position < view["position"]:
        merged |= {"record": entry.digest, "position": entry.position, "owner": entry.owner}
    merged["identity"] = _merge_scalars(view["identity"], identity_of(body), "", conflicts)
    merged["tags"] = _merge_scalars(view["tags"], body.get("tags", {}), "tags.", conflicts)
    merged["ingredients"] = _merge_scalars(view["ingredients"], made_of.parts, "", conflicts)
    merged["family_parts"] = _merge_scalars(view["family_parts"], made_of.family, "", set())
    unpinned = set(view["unpinned"])
    if fact.code is not None and (
        fact.code.commit is None or (fact.code.dirty is not False and not fact.code.diff)
    ):
        unpinned.add("code")
    merged["unpinned"] = sorted(unpinned)
    merged["inputs"] = _union(
        view["inputs"],
        [input_of(given, sent) for given, sent in zip(fact.inputs, body.get("inputs", []), strict=True)],
        _input_order,
    )
    merged["transformations"] = sorted({*view["transformations"], *made_of.transformations})
    merged["started_at"] = _earliest(view["started_at"], fact.started_at)
    merged["last_event_at"] = _latest(view["last_event_at"], fact.started_at)
    merged["conflicts"] = sorted(conflicts)
    merged["recipe_digest"], merged["family_digest"] = recipes(merged)
    return merged


def merge_event(view: View, event: RunEventFact) -> View:
    """States and attempts; phases and notes only prove that the run lived then."""
    merged = dict(view)
    merged["last_event_at"] = _latest(view["last_event_at"], event.at)
    merged["last_step"] = _furthest(view["last_step"], event.step)
    if event.type not in ("state", "attempt.started"):
        return merged
    at = instant_text(event.at)
    name = str(event.attempt)
    attempt = dict(
        view["attempts"].get(
            name, {"started_at": None, "state": None, "state_at": None, "terminal": [], "ended_at": None}
        )
    )
    state = event.state
    if event.type == "attempt.started":
        attempt["started_at"] = _earliest(attempt["started_at"], event.at)
        merged["started_at"] = _earliest(view["started_at"], event.at)
    elif state in TERMINAL_STATES:
        ends = {tuple(end) for end in attempt["terminal"]} | {(at, str(state))}
        # The latest end is the state; one other is enough to show that there was a conflict.
        attempt["terminal"] = _two_ends(ends)
        attempt["ended_at"] = attempt["terminal"][0][0]
        if len({end[1] for end in attempt["terminal"]}) > 1:
            merged["conflicts"] = sorted({*view["conflicts"], f"state of attempt {name}"})
    elif state is not None:
        if state is RunState.QUEUED:
            merged["queued_at"] = _earliest(view["queued_at"], event.at)
        else:
            merged["started_at"] = _earliest(view["started_at"], event.at)
        now = (at, _RANK[state], str(state))
        known = attempt["state"]
        if known is None or now > (attempt["state_at"], _RANK[RunState(known)], known):
            attempt["state"], attempt["state_at"] = str(state), at
    merged["attempts"] = {**view["attempts"], name: attempt}
    return merged


def merge_checkpoint(view: View, fact: CheckpointFact) -> View:
    trained_until = instant_text(fact.trained_until)
    saved = {"step": fact.step, "digest": fact.digest, "trained_until": trained_until}
    known = view["latest_checkpoint"]
    return view | {
        "latest_checkpoint": saved if known is None else max(known, saved, key=_checkpoint_order),
        "last_step": _furthest(view["last_step"], fact.step),
        "last_event_at": max(view["last_event_at"] or trained_until, trained_until),
    }


def _checkpoint_order(checkpoint: Mapping[str, Any]) -> tuple[Any, ...]:
    return checkpoint["step"], checkpoint["digest"], checkpoint["trained_until"]


def merge_artifact(view: View, fact: ArtifactFact) -> View:
    made = {"role": fact.role, "digest": fact.digest}
    known = view["artifacts"]
    # Searched and not sorted anew: a run may have thousands, and one post adds a thousand of them.
    place = bisect_left(known, role_order(made), key=role_order)
    if place < len(known) and known[place] == made:
        return view
    return view | {"artifacts": [*known[:place], made, *known[place:]]}


def reported_state(view: View) -> str:
    """The state by the facts alone: that of the highest attempt, where an end counts before anything else."""
    if not view["attempts"]:
        return RunState.RUNNING if view["started_at"] else RunState.QUEUED
    attempt = view["attempts"][max(view["attempts"], key=int)]
    if attempt["terminal"]:
        return str(attempt["terminal"][0][1])
    return str(attempt["state"] or RunState.RUNNING)


def ended_at(view: View) -> str | None:
    """When the highest attempt ended, None while it goes on."""
    if not view["attempts"]:
        return None
    ended: str | None = view["attempts"][max(view["attempts"], key=int)]["ended_at"]
    return ended


def heartbeat_seconds(heartbeat: Mapping[str, Any] | None) -> int | None:
    """After how many seconds of silence a run is lost; None when no sign of life is promised."""
    if heartbeat is None:
        return DEFAULT_HEARTBEAT_SECONDS
    if not heartbeat.get("expected", True):
        return None
    return int(heartbeat.get("limit_seconds", Heartbeat().limit_seconds))


def _merge_scalars(
    known: Mapping[str, Any], stated: Mapping[str, Any], prefix: str, conflicts: set[str]
) -> dict[str, Any]:
    merged = dict(known)
    for name, value in stated.items():
        if name not in merged:
            merged[name] = value
        elif merged[name] != value:
            conflicts.add(prefix + name)
            merged[name] = min(merged[name], value, key=canonicalize)
    return dict(sorted(merged.items()))


def _union(known: list[Any], stated: list[Any], order: Callable[[Any], tuple[str, ...]]) -> list[Any]:
    """Each element once, in an order that tells all elements apart; nothing is ever removed."""
    by_place = {order(element): element for element in (*known, *stated)}
    return [by_place[place] for place in sorted(by_place)]


def _input_order(given: Mapping[str, Any]) -> tuple[str, ...]:
    dataset = given["dataset"] or {"namespace": "", "name": ""}
    return given["role"], given["digest"] or "", given["grade"] or "", dataset["namespace"], dataset["name"]


def _two_ends(ends: set[tuple[str, str]]) -> list[list[str]]:
    ordered = sorted(ends, reverse=True)
    other = [end for end in ordered if end[1] != ordered[0][1]][:1]
    return [list(end) for end in (ordered[0], *other)]


def _earliest(known: str | None, when: datetime | None) -> str | None:
    stated = instant_text(when)
    return min((text for text in (known, stated) if text is not None), default=None)


def _latest(known: str | None, when: datetime | None) -> str | None:
    stated = instant_text(when)
    return max((text for text in (known, stated) if text is not None), default=None)


def _furthest(known: int | None, step: int | None) -> int | None:
    return max((each for each in (known, step) if each is not None), default=None)
