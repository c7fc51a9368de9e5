"""Reviews: who may let something pass, for what, and for how long."""

from datetime import timedelta
from typing import Any

import pytest

from gates.release.evaluate import Decision
from tests.gates.release.passing import NOW
from tests.gates.release.policies import CRITERIA, digest, make_policy
from tests.gates.release.scenes import decide, make_review, put

POLICY = make_policy()
UNCERTAIN = put("statistics/differences/roc_auc/standard_error", 0.01)
"""auc-not-worse becomes inconclusive, which asks for a review."""


def reviewed(*reviews: dict[str, Any], change: Any = UNCERTAIN) -> Decision:
    return decide(POLICY, change, put("reviews", list(reviews)))


def approval(owner: str | None, **changed: Any) -> dict[str, Any]:
    return make_review(POLICY, owner, **changed)


def sign_off(decision: Decision) -> Any:
    return next(each for each in decision.criteria if each.id == "sign-off")


def test_without_a_reason_no_review_is_asked_for() -> None:
    result = sign_off(decide(POLICY))
    assert (result.outcome, result.state) == ("passed", None)
    assert result.finding.sentence == "Nothing happened that asks for a review."


def test_a_review_that_is_asked_for_waits_for_enough_approvals() -> None:
    decision = reviewed(approval("alan"))
    result = sign_off(decision)
    assert (decision.verdict, result.outcome, result.state, result.effect) == (
        "review_required",
        "error",
        "unmet",
        "review",
    )
    assert result.finding.sentence == (
        "Needs review, asked for by inconclusive and auc-not-worse: 1 of 2 approvals by model-risk, "
        "not by who trained it, who wrote the policy or who waived a criterion."
    )
    assert (result.finding.n, result.finding.bound, result.finding.code) == (
        1,
        "2 approvals",
        "too_few_approvals",
    )


def test_two_approvals_clear_what_was_measured_and_uncertain() -> None:
    decision = reviewed(approval("alan"), approval("grace"))
    assert decision.verdict == "passed"
    result = sign_off(decision)
    assert (result.outcome, result.state) == ("passed", "approved")
    cleared = {each.id: each.cleared_by for each in decision.criteria if each.cleared_by}
    assert cleared == {"auc-not-worse": "sign-off"}
    assert next(each for each in decision.criteria if each.id == "auc-not-worse").effect == "none"
    assert {("review", digest("approve alan")), ("review", digest("approve grace"))} <= set(decision.inputs)
    assert decision.sentence.endswith("12 of 13 passed, 1 cleared by review.")
    assert "2 persons approved it, asked for by inconclusive and auc-not-worse" in result.finding.sentence


def test_what_was_not_measured_can_not_be_reviewed_away() -> None:
    """The severity of `reproduced` is review, but it has no value."""
    decision = reviewed(approval("alan"), approval("grace"), change=put("repeats", []))
    assert decision.verdict == "review_required"
    assert next(each for each in decision.criteria if each.id == "reproduced").cleared_by is None
    measured = reviewed(approval("alan"), approval("grace"), change=put("repeats/0/metrics/roc_auc", 0.5))
    assert measured.verdict == "passed"


def test_an_approval_clears_no_block() -> None:
    decision = reviewed(approval("alan"), approval("grace"), change=put("evidence/2/outcome", "failed"))
    assert decision.verdict == "blocked"


@pytest.mark.parametrize(
    "second",
    [
        approval("alan", record=digest("again")),
        approval("trainer"),
        approval("author"),
        approval(None),
        approval("grace", groups=["data-platform"]),
        approval("grace", groups=[]),
        approval("grace", revoked=True),
        approval("grace", artifact=digest("another artifact")),
        approval("grace", gate="another-gate"),
        approval("grace", policy_version=6),
        approval("grace", to="staging"),
        approval("grace", at="2026-11-29T12:00:01Z"),
        approval("grace", at="2026-11-15T12:00:00Z"),
        approval("grace", expires_at="2026-11-29T12:00:00Z"),
        make_review(POLICY, "grace", "request"),
    ],
)
def test_an_approval_counts_for_its_artifact_policy_target_and_time_only(second: dict[str, Any]) -> None:
    """It survives nothing: not a new digest, not a new policy version."""
    assert reviewed(approval("alan"), second).verdict == "review_required"


@pytest.mark.parametrize(
    "second",
    [
        approval("grace", at="2026-11-29T12:00:00Z"),
        approval("grace", at="2026-11-15T12:00:01Z"),
        approval("grace", expires_at="2026-11-29T12:00:01Z"),
        approval("grace", groups=["data-platform", "model-risk"]),
    ],
)
def test_an_approval_that_just_counts_counts(second: dict[str, Any]) -> None:
    assert reviewed(approval("alan"), second).verdict == "passed"


def test_everybody_who_made_the_artifact_is_a_trainer() -> None:
    both = put("training_run/owners", ["trainer", "grace"])
    approvals = put("reviews", [approval("alan"), approval("grace")])
    assert decide(POLICY, UNCERTAIN, both, approvals).verdict == "review_required"


@pytest.mark.parametrize(
    ("change", "whom"),
    [
        (put("training_run/owner", None), "trained the artifact"),
        (put("policy/owner", None), "wrote the policy"),
    ],
)
def test_an_unknown_person_makes_everybody_the_same(change: Any, whom: str) -> None:
    approvals = put("reviews", [approval("alan"), approval("grace")])
    result = sign_off(decide(POLICY, UNCERTAIN, change, approvals))
    assert (result.outcome, result.finding.code, result.effect) == ("error", "unknown_person", "block")
    assert f"It is not known who {whom}" in result.finding.sentence


def denial(owner: str | None, **changed: object) -> dict[str, Any]:
    return make_review(POLICY, owner, "deny", **changed)


@pytest.mark.parametrize("owner", ["joan", "trainer", None])
def test_a_denial_blocks_whoever_gives_it(owner: str | None) -> None:
    decision = reviewed(approval("alan"), approval("grace"), denial(owner))
    result = sign_off(decision)
    assert (decision.verdict, result.outcome, result.state) == ("blocked", "failed", "denied")
    assert result.finding.sentence == "The release was denied by 1 person."
    assert result.finding.inputs[0][0] == "review"


def test_a_denial_blocks_a_release_that_needs_no_review() -> None:
    assert decide(POLICY, put("reviews", [denial("joan")])).verdict == "blocked"


def test_the_last_word_of_a_person_counts() -> None:
    early, late = "2026-11-28T10:00:00Z", "2026-11-28T14:00:00Z"
    changed_mind = [denial("grace", at=early), approval("grace", at=late), approval("alan")]
    assert reviewed(*changed_mind).verdict == "passed"
    assert reviewed(*reversed(changed_mind)).verdict == "passed"
    denied = [approval("grace", at=early), denial("grace", at=late), approval("alan")]
    assert reviewed(*denied).verdict == "blocked"
    at_once = [denial("grace"), approval("grace"), approval("alan")]
    assert reviewed(*at_once).verdict == "blocked"
    assert reviewed(*reversed(at_once)).verdict == "blocked"
    asked_again = [
        approval("grace", at=early),
        make_review(POLICY, "grace", "request", at=late),
        approval("alan"),
    ]
    assert reviewed(*asked_again).verdict == "passed"
    over = [denial("grace", expires_at="2026-11-29T12:00:00Z"), approval("joan"), approval("alan")]
    assert reviewed(*over).verdict == "passed"
    other = [denial("grace", artifact=digest("other")), approval("joan"), approval("alan")]
    assert reviewed(*other).verdict == "passed"


@pytest.mark.parametrize(
    ("change", "trigger"),
    [
        (UNCERTAIN, "inconclusive"),
        (put("repeats", []), "inconclusive"),
        (put("training_run/snapshots/0/contested", True), "contested-data-provenance"),
        (put("training_run/snapshots/0/revoked", True), "contested-data-provenance"),
        (put("dataset/contested", True), "contested-data-provenance"),
        (put("contested", [digest("report of somebody")]), "contested-data-provenance"),
        (put("dataset", None), "contested-data-provenance"),
        (put("training_run", None), "contested-data-provenance"),
        (put("incumbent", {"artifact": None, "how": "none", "record": None}), "first-release"),
        (put("flags", ["business-conditions-changed"]), "business-conditions-changed"),
    ],
)
def test_what_happened_triggers_a_review(change: Any, trigger: str) -> None:
    decision = decide(POLICY, change)
    assert trigger in decision.triggers
    assert sign_off(decision).effect != "none"
    assert decide(POLICY).triggers == ()


def test_a_review_without_triggers_is_always_asked_for() -> None:
    always = "kind: review, approvals: 1, roles: [model-risk], expiresAfter: P14D, severity: block"
    policy = make_policy("auc-floor", sign_off=always, waivers="")
    decision = decide(policy)
    assert decision.verdict == "review_required"
    assert "asked for by every release" in sign_off(decision).finding.sentence
    assert decide(policy, put("reviews", [make_review(policy, "alan")])).verdict == "passed"


def test_a_trigger_that_the_policy_does_not_name_asks_for_nothing() -> None:
    rules = CRITERIA["sign-off"].replace("business-conditions-changed", "inconclusive")
    policy = make_policy("auc-floor", sign_off=rules, waivers="")
    decision = decide(policy, put("flags", ["business-conditions-changed"]))
    assert (decision.triggers, decision.verdict) == (("business-conditions-changed",), "passed")


def test_a_review_effect_asks_for_a_review_without_a_trigger() -> None:
    rules = CRITERIA["sign-off"].replace("inconclusive, contested", "contested")
    policy = make_policy("reproduced", sign_off=rules, waivers="")
    decision = decide(policy, put("repeats/0/metrics/roc_auc", 0.5))
    assert "asked for by reproduced" in sign_off(decision).finding.sentence
    approvals = [make_review(policy, "alan"), make_review(policy, "grace")]
    assert (
        decide(policy, put("repeats/0/metrics/roc_auc", 0.5), put("reviews", approvals)).verdict == "passed"
    )


def test_an_approved_review_does_not_answer_for_another_review() -> None:
    second = CRITERIA["sign-off"].replace("model-risk", "legal")
    policy = make_policy("auc-not-worse", "sign-off", legal=second, waivers="")
    approvals = [make_review(policy, "alan"), make_review(policy, "grace")]
    decision = decide(policy, UNCERTAIN, put("reviews", approvals))
    assert decision.verdict == "review_required"


def test_a_first_release_ships_when_people_answer_for_it() -> None:
    nothing = put("incumbent", {"artifact": None, "how": "none", "record": None})
    alone = put("statistics/incumbent", None)
    assert decide(POLICY, nothing, alone).verdict == "review_required"
    approvals = put("reviews", [approval("alan"), approval("grace")])
    decision = decide(POLICY, nothing, alone, approvals)
    assert decision.verdict == "passed"
    cleared = {each.id for each in decision.criteria if each.cleared_by}
    assert cleared == {"auc-not-worse", "latency", "recall-by-country"}


def test_a_pass_ends_with_the_first_approval_that_ends() -> None:
    soon = (NOW + timedelta(hours=2)).isoformat()
    decision = reviewed(approval("alan", expires_at=soon), approval("grace"))
    assert decision.valid_until == NOW + timedelta(hours=2)
    old = reviewed(approval("alan", at="2026-11-16T12:00:00Z"), approval("grace"))
    assert old.valid_until == NOW + timedelta(days=1)
