"""Kinds of release gates: policies, reviews, waivers and decisions."""

from typing import Final

from models.actor import Role
from models.kinds import gates
from models.kinds.kind import SERVER_ONLY, Kind

REVIEWS: Final = "POST /v1/reviews"


def _judged_subject(fact: gates.Judged | gates.BreakGlassAsked, run_id: str | None) -> str:
    return f"digest:{fact.artifact}"


def _judged_artifact(fact: gates.Judged | gates.BreakGlassAsked) -> list[tuple[str, str]]:
    return [("artifact", fact.artifact)]


GATES: Final = (
    Kind(
        "gate.published",
        gates.GatePublished,
        frozenset({Role.AUTHOR}),
        lambda fact, _: f"gate:{fact.name}",
        key=lambda fact, _: f"{fact.name}|{fact.version}",
        own_call="PUT /v1/gates/{name}",
    ),
    Kind(
        "review.requested",
        gates.Review,
        frozenset({Role.APPROVER, Role.EVALUATOR, Role.AUTHOR}),
        _judged_subject,
        subjects=_judged_artifact,
        own_call=REVIEWS,
    ),
    Kind(
        "review.approved",
        gates.Review,
        frozenset({Role.APPROVER}),
        _judged_subject,
        subjects=_judged_artifact,
        own_call=REVIEWS,
    ),
    Kind(
        "review.denied",
        gates.Review,
        frozenset({Role.APPROVER}),
        _judged_subject,
        subjects=_judged_artifact,
        own_call=REVIEWS,
    ),
    Kind(
        "waiver",
        gates.Waiver,
        frozenset({Role.APPROVER}),
        _judged_subject,
        subjects=_judged_artifact,
        own_call="POST /v1/waivers",
    ),
    Kind(
        "break_glass.asked",
        gates.BreakGlassAsked,
        frozenset({Role.APPROVER}),
        _judged_subject,
        subjects=_judged_artifact,
        own_call="POST /v1/break-glass",
    ),
    Kind(
        "decision",
        gates.DecisionMade,
        SERVER_ONLY,
        lambda fact, _: f"digest:{fact.statement.predicate.artifact.digest}",
        subjects=lambda fact: [("artifact", fact.statement.predicate.artifact.digest)],
    ),
)
