"""Waivers: which criterion who may set aside, for what, and for how long."""

from datetime import timedelta
from typing import Any

import pytest

from gates.release.evaluate import Decision
from gates.release.facts import Review, Waiver
from gates.release.waivers import is_active
from tests.gates.release.passing import NOW
from tests.gates.release.policies import WAIVERS, digest, make_policy
from tests.gates.release.scenes import decide, make_review, make_waiver, put

POLICY = make_policy()
UNCERTAIN = put("statistics/differences/roc_auc/standard_error", 0.01)
"""auc-not-worse becomes inconclusive, which asks for a review."""


def approval(owner: str | None, **changed: Any) -> dict[str, Any]:
    return make_review(POLICY, owner, **changed)


def waived(*waivers: dict[str, Any], change: Any = None) -> Decision:
    failing = change or put("evidence/2/outcome", "failed")
    return decide(POLICY, failing, put("waivers", list(waivers)))


def waiver(owner: str | None, criterion: str = "bias", **changed: object) -> dict[str, Any]:
    return make_waiver(POLICY, owner, criterion, **changed)


def test_two_persons_can_waive_a_criterion_that_the_policy_lists() -> None:
    decision = waived(waiver("joan"), waiver("edsger"))
    assert decision.verdict == "passed"
    result = next(each for each in decision.criteria if each.id == "bias")
    assert (result.outcome, result.state, result.effect) == ("waived", None, "none")
    assert result.waiver in {digest("waiver bias joan"), digest("waiver bias edsger")}
    assert result.finding.sentence.startswith(
        "Waived until 2026-12-09 12:00 UTC: The protected-population report"
    )
    assert {("waiver", digest("waiver bias joan")), ("waiver", digest("waiver bias edsger"))} <= set(
        decision.inputs
    )
    assert decision.sentence.endswith("12 of 13 passed, 1 waived.")
    assert decision.counts == {"passed": 12, "failed": 0, "inconclusive": 0, "error": 0, "waived": 1}


@pytest.mark.parametrize("change", [put("evidence/2/outcome", "error"), put("evidence/2/revoked", True)])
def test_what_was_not_measured_can_be_waived(change: Any) -> None:
    assert waived(waiver("joan"), waiver("edsger"), change=change).verdict == "passed"


@pytest.mark.parametrize(
    "second",
    [
        waiver("joan", record=digest("again")),
        waiver("trainer"),
        waiver("author"),
        waiver(None),
        waiver("edsger", "latency"),
        waiver("edsger", revoked=True),
        waiver("edsger", artifact=digest("other")),
        waiver("edsger", gate="other"),
        waiver("edsger", policy_version=8),
        waiver("edsger", to="staging"),
        waiver("edsger", starts_at="2026-11-29T12:00:01Z"),
        waiver("edsger", expires_at="2026-11-29T12:00:00Z"),
        waiver("edsger", expires_at="2026-12-28T12:00:01Z"),
    ],
)
def test_a_waiver_counts_for_its_criterion_artifact_policy_target_and_time_only(
    second: dict[str, Any],
) -> None:
    assert waived(waiver("joan"), second).verdict == "blocked"


@pytest.mark.parametrize(
    "second",
    [
        waiver("edsger", starts_at="2026-11-29T12:00:00Z"),
        waiver("edsger", expires_at="2026-11-29T12:00:01Z"),
        waiver("edsger", expires_at="2026-12-28T12:00:00Z"),
    ],
)
def test_a_waiver_that_just_counts_counts(second: dict[str, Any]) -> None:
    assert waived(waiver("joan"), second).verdict == "passed"


def test_a_criterion_that_the_policy_does_not_list_is_never_waived() -> None:
    both = [waiver("joan", "contract"), waiver("edsger", "contract")]
    assert waived(*both, change=put("evidence/0/outcome", "failed")).verdict == "blocked"


@pytest.mark.parametrize("change", [put("training_run/owner", None), put("policy/owner", None)])
def test_nobody_waives_for_unknown_persons(change: Any) -> None:
    failing = put("evidence/2/outcome", "failed")
    given = put("waivers", [waiver("joan"), waiver("edsger")])
    result = next(each for each in decide(POLICY, failing, given, change).criteria if each.id == "bias")
    assert result.outcome == "failed"


def test_a_waiver_of_what_passes_is_not_used() -> None:
    given = put("waivers", [waiver("joan"), waiver("edsger")])
    decision = decide(POLICY, given)
    assert decision.counts["waived"] == 0
    assert not any(role == "waiver" for role, _ in decision.inputs)


def test_who_waived_does_not_approve() -> None:
    failing = put("evidence/2/outcome", "failed")
    given = put("waivers", [waiver("joan"), waiver("edsger")])
    by_joan = put("reviews", [approval("alan"), approval("joan")])
    assert decide(POLICY, failing, UNCERTAIN, given, by_joan).verdict == "review_required"
    by_grace = put("reviews", [approval("alan"), approval("grace")])
    assert decide(POLICY, failing, UNCERTAIN, given, by_grace).verdict == "passed"
    # A waiver that is not used excludes nobody.
    assert decide(POLICY, UNCERTAIN, given, by_joan).verdict == "passed"


def test_a_decision_waives_no_more_criteria_than_the_policy_says() -> None:
    policy = make_policy("latency", "bias", waivers=WAIVERS.replace("maxPerDecision: 2", "maxPerDecision: 1"))
    failing = put("evidence/2/outcome", "failed"), put("statistics/differences/p95_latency_ms", {})
    both = [make_waiver(policy, owner, each) for owner in ("joan", "edsger") for each in ("latency", "bias")]
    decision = decide(
        policy, put("evidence/2/outcome", "failed"), put("waivers", both), put("statistics/differences", {})
    )
    assert [each.outcome for each in decision.criteria] == ["waived", "failed"]
    assert decision.verdict == "blocked"
    one = decide(policy, failing[0], put("waivers", both))
    assert one.verdict == "passed"


def test_a_waived_budget_stays_spent() -> None:
    given = put("waivers", [waiver(owner, "latency") for owner in ("joan", "edsger")])
    late = put("attempt/number", 11), put("attempts/count", 11)
    decision = decide(POLICY, given, *late)
    assert next(each for each in decision.criteria if each.id == "latency").state == "budget_spent"


def test_a_pass_ends_with_the_first_waiver_that_ends() -> None:
    soon = (NOW + timedelta(hours=3)).isoformat()
    assert waived(waiver("joan"), waiver("edsger", expires_at=soon)).valid_until == NOW + timedelta(hours=3)


def test_one_function_says_whether_a_grant_counts_now() -> None:
    review = Review.model_validate(approval("alan", expires_at="2026-11-30T00:00:00Z"))
    begins, ends = review.at, NOW + timedelta(hours=12)
    assert is_active(review, begins)
    assert is_active(review, begins - timedelta(seconds=1)) is False
    assert is_active(review, ends - timedelta(seconds=1))
    assert not is_active(review, ends)
    assert not is_active(review, begins + timedelta(hours=2), timedelta(hours=2))
    assert is_active(review, begins + timedelta(hours=1), timedelta(hours=2))
    given = Waiver.model_validate(waiver("joan"))
    assert is_active(given, given.starts_at)
    assert is_active(given, given.expires_at) is False
    assert not is_active(given.model_copy(update={"revoked": True}), NOW)
