"""A run's view: a fold over its facts that is commutative and idempotent.

Every merge takes a view (a JSON document) and one fact and returns a new view; no order and no repetition of the
same facts gives another result. Scalars that were stated differently keep the smallest value in canonical order and
are named in `conflicts`. Instants are text of fixed width, so that text order is time order.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

from models.fields import instant_text
from models.kinds.facts import (
    TERMINAL_STATES,
    ArtifactFact,
    CheckpointFact,
    Heartbeat,
    Input,
    RunEventFact,
    RunFact,
    RunState,
    Snapshot,
)
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import JsonValue, canonicalize

View: TypeAlias = dict[str, Any]

IDENTITY: Final = (
    "job",
    "pipeline",
    "team",
    "parent_run_id",
    "priority",
    "experiment",
    "initiated_by",
    "data_interval",
    "resumed_from",
    "heartbeat",
)
PARTS: Final = ("code", "environment", "config", "hardware", "seeds")
DEFAULT_HEARTBEAT_SECONDS: Final = 3600
"""Silence after which a run that promised nothing about heartbeats counts as lost."""
# Of two states reported for one instant the one further on counts.
_RANK: Final = {state: rank for rank, state in enumerate(RunState)}


@dataclass(frozen=True, slots=True)
class MadeOf:
    """Digests of what a registration names: each of PARTS that it has, and its transformations."""

    parts: Mapping[str, str]
    transformations: Sequence[str]


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
        "started_at": None,
        "attempts": {},
        "last_event_at": None,
        "received_at": None,
        "conflicts": [],
        "sealed": [],
        "recipe_digest": None,
        "family_digest": None,
    }


def identity_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of the run itself. A person is compared by pseudonym: the salted digest is new each time."""
    identity = {name: body[name] for name in IDENTITY if body.get(name) is not None}
    if "initiated_by" in identity:
        identity["initiated_by"] = identity["initiated_by"]["owner"]
    return identity


def document_digest(document: JsonValue) -> str:
    """Content address of an ingredient: sha256 of its RFC 8785 form as it was sent."""
    return sha256_digest(canonicalize(document))


def snapshot_digest(snapshot: Snapshot, body: Mapping[str, Any]) -> str | None:
    """Identity of a snapshot: its manifest digest, else that of dataset and version; None when unresolved."""
    if snapshot.digest is not None:
        return snapshot.digest
    if snapshot.version is None:
        return None
    return document_digest({"dataset": body["dataset"], "version": body["version"]})


def merge_registration(
    view: View,
    fact: RunFact,
    body: Mapping[str, Any],
    made_of: MadeOf,
    *,
    record: str,
    position: int,
    owner: str | None,
) -> View:
    """`body` is the record's body: what was sent, personal fields redacted."""
    merged = dict(view)
    conflicts = set(view["conflicts"])
    if view["position"] is None or position < view["position"]:
        merged |= {"record": record, "position": position, "owner": owner}
    merged["identity"] = _merge_scalars(view["identity"], identity_of(body), "", conflicts)
    merged["tags"] = _merge_scalars(view["tags"], body.get("tags", {}), "tags.", conflicts)
    merged["ingredients"] = _merge_scalars(view["ingredients"], made_of.parts, "", conflicts)
    family = {}
    if fact.config is not None:
        seed_keys = fact.config.seed_keys
        family["config"] = _config_family(body["config"], seed_keys) if seed_keys else made_of.parts["config"]
    if fact.seeds is not None:
        family["seeds"] = document_digest(
            {name: value for name, value in body["seeds"].items() if name not in ("values", "ranks")}
        )
    merged["family_parts"] = _merge_scalars(view["family_parts"], family, "", set())
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
    merged["recipe_digest"], merged["family_digest"] = _recipes(merged)
    return merged


def made_of(body: Mapping[str, Any]) -> MadeOf:
    """Digests of the ingredients in a registration's body."""
    return MadeOf(
        {part: document_digest(body[part]) for part in PARTS if body.get(part) is not None},
        tuple(document_digest(sent) for sent in body.get("transformations", ())),
    )


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
        if state is not RunState.QUEUED:
            merged["started_at"] = _earliest(view["started_at"], event.at)
        now = (at, _RANK[state], str(state))
        known = attempt["state"]
        if known is None or now > (attempt["state_at"], _RANK[RunState(known)], known):
            attempt["state"], attempt["state_at"] = str(state), at
    merged["attempts"] = {**view["attempts"], name: attempt}
    return merged


def merge_checkpoint(view: View, fact: CheckpointFact) -> View:
    saved = {"step": fact.step, "digest": fact.digest, "trained_until": instant_text(fact.trained_until)}
    known = view["latest_checkpoint"]
    return view | {
        "latest_checkpoint": saved if known is None else max(known, saved, key=_checkpoint_order),
        "last_step": _furthest(view["last_step"], fact.step),
        "last_event_at": _latest(view["last_event_at"], fact.trained_until),
    }


def _checkpoint_order(checkpoint: Mapping[str, Any]) -> tuple[Any, ...]:
    return checkpoint["step"], checkpoint["digest"], checkpoint["trained_until"]


def merge_artifact(view: View, fact: ArtifactFact) -> View:
    made = {"role": fact.role, "digest": fact.digest}
    known = view["artifacts"]
    # Searched and not sorted anew: a run may have thousands, and one post adds a thousand of them.
    place = bisect_left(known, _role_order(made), key=_role_order)
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


def changed_identity(view: View, body: Mapping[str, Any]) -> list[str]:
    """Fields of a later registration that differ from what is fixed; a later post may only add."""
    digests = {part: document_digest(body[part]) for part in PARTS if body.get(part) is not None}
    changed = [
        name for name, value in identity_of(body).items() if view["identity"].get(name, value) != value
    ]
    changed += [part for part, digest in digests.items() if view["ingredients"].get(part, digest) != digest]
    changed += [
        f"tags.{name}"
        for name, value in body.get("tags", {}).items()
        if view["tags"].get(name, value) != value
    ]
    return changed


def input_of(given: Input, sent: Mapping[str, Any]) -> dict[str, Any]:
    """One input as the view lists it; `digest` is None when nothing identifies the data."""
    if given.snapshot is None:
        return {"role": given.role, "digest": given.digest, "grade": None, "dataset": None}
    return {
        "role": given.role,
        "digest": snapshot_digest(given.snapshot, sent["snapshot"]),
        "grade": str(given.snapshot.grade),
        "dataset": sent["snapshot"]["dataset"],
    }


def _recipes(view: View) -> tuple[str | None, str | None]:
    """Recipe and family digest, None as long as a part is missing or not pinned: then nothing is a repeat."""
    made_of = view["ingredients"]
    if view["unpinned"] or any(part not in made_of for part in ("code", "environment", "config", "seeds")):
        return None, None
    if not view["inputs"] or any(given["digest"] is None for given in view["inputs"]):
        return None, None
    data = [{"role": given["role"], "digest": given["digest"]} for given in view["inputs"]]
    resumed = view["identity"].get("resumed_from")
    if resumed is not None:
        data.append({"role": "resumed_from", "digest": resumed["checkpoint"]})
    recipe = {
        "code": made_of["code"],
        "config": made_of["config"],
        "data": sorted(data, key=_role_order),
        "environment": made_of["environment"],
        "seeds": made_of["seeds"],
        "transformations": view["transformations"],
    }
    return document_digest(recipe), document_digest(recipe | view["family_parts"])


def _config_family(config: Mapping[str, Any], seed_keys: list[str]) -> str:
    """Digest of the config without the values its `seed_keys` point at (JSON pointers into `values`)."""
    values: JsonValue = config["values"]
    for pointer in seed_keys:
        values = _without(values, pointer.lstrip("/").split("/"))
    return document_digest({**config, "values": values})


def _without(value: JsonValue, path: list[str]) -> JsonValue:
    name = path[0].replace("~1", "/").replace("~0", "~")
    if not isinstance(value, dict) or name not in value:
        return value
    if len(path) == 1:
        return {key: kept for key, kept in value.items() if key != name}
    return {**value, name: _without(value[name], path[1:])}


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


def _role_order(element: Mapping[str, Any]) -> tuple[str, ...]:
    return element["role"], element["digest"]


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
