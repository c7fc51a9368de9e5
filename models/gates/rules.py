"""What is read ahead and refused under the log lock for records about gates."""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final, cast

from models.bulk import Row, select_among
from models.errors import FieldProblem, GateMoved, InvalidInput, NotFound, SeparationOfDuties, TargetTaken
from models.gates import tables
from models.kinds import gates as kinds
from models.ledger.drafts import Draft
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace

GATE_NOT_FOUND: Final = "no gate of this name in this namespace; list them with GET /v1/gates"
DECISION_NOT_FOUND: Final = "no decision with this id in this namespace; list them with GET /v1/decisions"
MAX_BREAK_GLASS: Final = timedelta(days=7)
_AT_TARGET: Final = (
    "SELECT name, model FROM gate WHERE namespace = :namespace AND model IN :keys AND target = :target"
)


def load_publications(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    named = [(draft.namespace, cast(kinds.GatePublished, draft.fact).name) for draft in drafts]
    workspace.load(tables.Gate, "name", named)


def check_publication(workspace: Workspace, entry: Entry) -> None:
    """Raises GateMoved when somebody published a version meanwhile, TargetTaken when another gate stands there."""
    fact = cast(kinds.GatePublished, entry.fact)
    current = workspace.get(tables.Gate, entry.namespace, fact.name)
    if current is not None:
        check_follows(fact.name, current["version"], fact.version)
    model, target = fact.applies_to.model, fact.applies_to.to
    for name in _gates_at(workspace, entry.namespace, model, target):
        if name != fact.name:
            raise TargetTaken(
                f"gate {name} stands before {target} of model {model} already, and a second one would let an artifact "
                f"choose; publish this policy as the next version of {name}, or move {name} away first"
            )


def check_follows(name: str, current: int, version: int) -> None:
    """Raises GateMoved unless the version is the next one."""
    if version != current + 1:
        raise GateMoved(
            f"gate {name} has version {current}, this says that it is version {version}; a published version never "
            f"changes, so write version {current + 1} into its metadata"
        )


def _gates_at(workspace: Workspace, namespace: str, model: str, target: str) -> set[str]:
    rows = select_among(workspace.connection, _AT_TARGET, namespace, [model], target=target)
    found = {row[0] for row in rows}
    for row in workspace.pending(tables.Gate):
        if row["namespace"] == namespace:
            found.discard(row["name"])
            if (row["model"], row["target"]) == (model, target):
                found.add(row["name"])
    return found


def load_reviews(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    facts = [(draft.namespace, cast(kinds.Review, draft.fact)) for draft in drafts]
    workspace.load(tables.GateDecision, "record", [(namespace, fact.decision) for namespace, fact in facts])
    workspace.load(tables.Gate, "name", [(namespace, fact.gate) for namespace, fact in facts])


def check_review(workspace: Workspace, entry: Entry) -> None:
    """Raises NotFound for an unknown decision, GateMoved for one of another policy version than the latest,
    SeparationOfDuties for who may not approve it."""
    fact = cast(kinds.Review, entry.fact)
    decision = workspace.get(tables.GateDecision, entry.namespace, fact.decision)
    if decision is None or decision["gate"] is None:
        raise NotFound(DECISION_NOT_FOUND)
    _check_bound(workspace, entry.namespace, fact)
    _check_unexpired(fact.expires_at, entry.recorded_at)
    if entry.kind == "review.approved":
        check_separation(entry.owner, json.loads(decision["document"])["separation"])


def check_separation(owner: str | None, separation: dict[str, Any]) -> None:
    """Whether this person may approve. Persons are compared, and one who is not known satisfies nothing.

    Raises SeparationOfDuties.
    """
    if owner is None:
        raise SeparationOfDuties(
            "this key names no person, so its approval could be anybody's; have a key made with --owner"
        )
    trainer = separation.get("trainer")
    if trainer is None:
        raise SeparationOfDuties(
            "nobody knows who trained the model, so nobody can be shown to be another person; record the run with a "
            "key that has an owner, or name `initiated_by`, and decide again"
        )
    excluded = set(separation.get("excluding", ()))
    if owner == trainer or owner in separation.get("trainers", ()):
        raise SeparationOfDuties(
            "the model was trained by the person who would approve it; somebody else has to"
        )
    if "policy-author" in excluded and owner == separation.get("policy_author"):
        raise SeparationOfDuties(
            "the policy was published by the person who would approve what it holds back; somebody else has to"
        )
    if "waiver-grantor" in excluded and owner in separation.get("waiver_grantors", ()):
        raise SeparationOfDuties(
            "a criterion was waived for this artifact by the person who would approve it; somebody else has to"
        )


def load_waivers(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    named = [(draft.namespace, cast(kinds.Waiver, draft.fact).gate) for draft in drafts]
    workspace.load(tables.Gate, "name", named)


def check_waiver(workspace: Workspace, entry: Entry) -> None:
    """Raises GateMoved when it is about another policy version than the latest, InvalidInput when it is over."""
    fact = cast(kinds.Waiver, entry.fact)
    _check_bound(workspace, entry.namespace, fact)
    _check_unexpired(fact.expires_at, entry.recorded_at)


def check_break_glass(workspace: Workspace, entry: Entry) -> None:
    """Raises InvalidInput for an end that has passed or is more than MAX_BREAK_GLASS ahead."""
    fact = cast(kinds.BreakGlassAsked, entry.fact)
    _check_unexpired(fact.expires_at, entry.recorded_at)
    if fact.expires_at > entry.recorded_at + MAX_BREAK_GLASS:
        message = (
            f"is more than {MAX_BREAK_GLASS.days} days ahead; a gate is passed by for days, not for good"
        )
        raise InvalidInput(f"/expires_at {message}", problems=[FieldProblem("/expires_at", message)])


def _check_bound(workspace: Workspace, namespace: str, fact: kinds.Judged) -> None:
    gate = workspace.get(tables.Gate, namespace, fact.gate)
    if gate is None:
        raise NotFound(GATE_NOT_FOUND)
    if not _is_latest(gate, fact):
        raise GateMoved(
            f"this is about version {fact.policy_version} of gate {fact.gate}, which has version {gate['version']} by "
            "now; a new policy version voids reviews and waivers: decide again with POST /v1/gates/{name}/decisions"
        )


def _is_latest(gate: Row, fact: kinds.Judged) -> bool:
    return (gate["version"], gate["model"], gate["target"]) == (fact.policy_version, fact.model, fact.to)


def _check_unexpired(expires_at: datetime | None, now: datetime) -> None:
    if expires_at is not None and expires_at <= now:
        message = "has passed; name a time in the future"
        raise InvalidInput(f"/expires_at {message}", problems=[FieldProblem("/expires_at", message)])
