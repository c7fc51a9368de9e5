"""The last step of a decision, which the service and whoever verifies offline both run."""

import itertools
from typing import Any

import pytest

from shipworthy.formats.decision_rule import MalformedResults, effect, verdict

Body = dict[str, Any]


def make_result(outcome: str = "passed", **changed: Any) -> Body:
    return {
        "id": "auc-floor",
        "kind": "threshold",
        "outcome": outcome,
        "state": None,
        "severity": "block",
        "on": {"inconclusive": None, "too_small": None},
        "waiver": "sha256:0" if outcome == "waived" else None,
        "cleared_by": None,
    } | changed


def recorded(*results: Body) -> list[Body]:
    return [result | {"effect": effect(result)} for result in results]


@pytest.mark.parametrize("severity", ["warn", "review", "block"])
def test_failures_and_no_value_ask_for_the_severity_and_passes_for_nothing(severity: str) -> None:
    assert effect(make_result("failed", severity=severity)) == severity
    assert effect(make_result("error", severity=severity)) == severity
    assert effect(make_result("inconclusive", severity=severity)) == severity
    assert effect(make_result("passed", severity=severity)) == "none"
    assert effect(make_result("waived", severity=severity)) == "none"


def test_not_knowing_asks_for_what_the_policy_says_of_it() -> None:
    on = {"inconclusive": "warn", "too_small": "review"}
    assert effect(make_result("inconclusive", on=on)) == "warn"
    assert effect(make_result("inconclusive", on=on, state="too_small")) == "review"
    assert effect(make_result("inconclusive", state="too_small")) == "block"
    assert effect(make_result("error", on=on)) == "block"
    assert effect(make_result("failed", on=on)) == "block"


@pytest.mark.parametrize(
    ("outcome", "state", "severity", "expected"),
    [
        ("error", "unmet", "block", "review"),
        ("failed", "denied", "warn", "block"),
        ("error", "budget_spent", "warn", "block"),
        ("error", "refused", "warn", "block"),
        ("error", "first_release", "block", "review"),
        ("error", "first_release", "review", "review"),
        ("error", "first_release", "warn", "warn"),
        ("passed", "approved", "block", "none"),
    ],
)
def test_a_state_decides_what_is_asked_for(outcome: str, state: str, severity: str, expected: str) -> None:
    assert effect(make_result(outcome, state=state, severity=severity)) == expected


def test_the_worst_effect_is_the_verdict() -> None:
    words = {"none": "passed", "warn": "passed", "review": "review_required", "block": "blocked"}
    order = list(words)
    results = {
        "none": make_result("passed"),
        "warn": make_result("failed", severity="warn"),
        "review": make_result("failed", severity="review"),
        "block": make_result("failed"),
    }
    for several in itertools.product(order, repeat=3):
        named = [results[each] | {"id": f"c{at}"} for at, each in enumerate(several)]
        assert verdict(recorded(*named)) == words[max(several, key=order.index)]


def test_an_approved_review_clears_what_was_measured_and_nothing_else() -> None:
    approved = make_result("passed", id="sign-off", kind="review", state="approved")
    by = {"cleared_by": "sign-off", "severity": "review"}
    for cleared in (
        make_result("failed", **by),
        make_result("inconclusive", **by),
        make_result("error", state="first_release", cleared_by="sign-off"),
    ):
        assert effect(cleared) == "none"
        assert verdict(recorded(cleared, approved)) == "passed"
    for stays in (
        make_result("error", **by),
        make_result("failed", cleared_by="sign-off"),
        make_result("passed", **by),
        make_result("error", id="other", kind="review", state="unmet", cleared_by="sign-off"),
    ):
        with pytest.raises(MalformedResults, match="cleared by a review"):
            effect(stays)


@pytest.mark.parametrize(
    "review",
    [
        make_result("passed", id="sign-off", kind="review"),
        make_result("error", id="sign-off", kind="review", state="unmet"),
        make_result("passed", id="sign-off", state="approved"),
        make_result("passed", id="another", kind="review", state="approved"),
    ],
)
def test_what_is_no_approved_review_clears_nothing(review: Body) -> None:
    cleared = make_result("failed", severity="review", cleared_by="sign-off")
    with pytest.raises(MalformedResults, match="which is no approved review"):
        verdict(recorded(cleared, review))


@pytest.mark.parametrize("results", [[], (), None, "passed", b"passed", {}, 0])
def test_no_results_are_no_verdict(results: Any) -> None:
    with pytest.raises(MalformedResults, match="at least one criterion"):
        verdict(results)


def test_an_id_that_repeats_is_refused() -> None:
    with pytest.raises(MalformedResults, match="'auc-floor' has two results"):
        verdict(recorded(make_result(), make_result()))


@pytest.mark.parametrize("said", ["none", "warn", "review", None, "anything"])
def test_an_effect_that_does_not_follow_is_refused(said: Any) -> None:
    with pytest.raises(MalformedResults, match="but 'block' follows"):
        verdict([make_result("failed") | {"effect": said}])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"outcome": "ok"}, "no outcome"),
        ({"outcome": None}, "no outcome"),
        ({"outcome": True}, "no outcome"),
        ({"severity": "none"}, "no severity"),
        ({"severity": None}, "no severity"),
        ({"state": "too_small"}, "can't be passed with the state 'too_small'"),
        ({"state": "anything"}, "can't be passed"),
        ({"state": 1}, "can't be passed"),
        ({"outcome": "failed", "state": "approved"}, "can't be failed"),
        ({"outcome": "waived"}, "waived without a waiver"),
        ({"waiver": "sha256:0"}, "waived without a waiver, or the reverse"),
        ({"on": None}, "doesn't say"),
        ({"on": {"inconclusive": None}}, "doesn't say"),
        ({"on": {"inconclusive": "none", "too_small": None}}, "something else"),
        ({"on": {"inconclusive": None, "too_small": True}}, "something else"),
        ({"id": ""}, "has no id"),
        ({"id": 3}, "has no id"),
    ],
)
def test_a_malformed_result_is_refused(changed: Body, message: str) -> None:
    with pytest.raises(MalformedResults, match=message):
        verdict([make_result() | {"effect": "none"} | changed])


@pytest.mark.parametrize("result", [None, "passed", 1, []])
def test_what_is_no_mapping_is_no_result(result: Any) -> None:
    with pytest.raises(MalformedResults, match="not a mapping"):
        verdict([result])


@pytest.mark.parametrize("member", ["id", "outcome", "severity", "on"])
def test_a_result_without_a_member_that_decides_is_refused(member: str) -> None:
    result = make_result("failed") | {"effect": "block"}
    del result[member]
    with pytest.raises(MalformedResults):
        verdict([result])
