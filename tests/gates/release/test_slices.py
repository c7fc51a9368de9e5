"""slices: no expected part of the data is left behind, and chance in many parts blocks nobody."""

from typing import Any

import pytest

from gates.release.results import CriterionResult
from tests.gates.release.passing import Body
from tests.gates.release.policies import CRITERIA, HEAD, make_policy
from tests.gates.release.scenes import decide, drop, put

RULES = CRITERIA["recall-by-country"]
NOTHING = {"artifact": None, "how": "none", "record": None}


def judged(*changes: Any, rules: str = RULES, head: str = HEAD) -> CriterionResult:
    policy = make_policy("bias", head=head, recall_by_country=rules)
    return next(each for each in decide(policy, *changes).criteria if each.id == "recall-by-country")


def share(successes: int, trials: int) -> Body:
    return {
        "estimate": successes / trials,
        "standard_error": 0.01,
        "n": 4 * trials,
        "method": "wilson",
        "successes": successes,
        "trials": trials,
    }


def recall(at: int, successes: int, trials: int) -> tuple[Any, ...]:
    """Puts a recall into a slice, a point better than the incumbent's."""
    value = successes / trials
    difference = {
        "estimate": 0.01,
        "standard_error": 0.004,
        "n": 4 * trials,
        "method": "closed-form",
        "candidate": value,
        "incumbent": value - 0.01,
    }
    place = f"statistics/slices/{at}"
    return (
        put(f"{place}/metrics/recall", share(successes, trials)),
        put(f"{place}/differences/recall", difference),
        put(f"{place}/positives", trials),
    )


def regression(at: int, change: float, error: float = 0.004) -> Any:
    difference = {
        "estimate": change,
        "standard_error": error,
        "n": 8000,
        "method": "closed-form",
        "candidate": 0.8 + change,
        "incumbent": 0.8,
    }
    return put(f"statistics/slices/{at}/differences/recall", difference)


def part(result: CriterionResult, name: str) -> Any:
    return next(each for each in result.finding.parts if each.name == name)


def test_all_expected_slices_pass_and_are_told_one_by_one() -> None:
    result = judged()
    assert (result.outcome, result.finding.method) == ("passed", "holm")
    assert sorted(each.name for each in result.finding.parts) == [
        "country=DE",
        "country=DE regression",
        "country=NO",
        "country=NO regression",
        "country=SE",
        "country=SE regression",
    ]
    floor = part(result, "country=NO")
    assert (floor.observed, floor.n, floor.bound, floor.outcome) == (0.8, 2000, "≥ 0.7", "passed")
    assert floor.sentence.endswith("which is ≥ 0.7.")
    assert part(result, "country=NO regression").bound == "≥ -0.02"
    assert result.finding.sentence == "Every expected slice of country keeps its limits."
    assert ("incumbent_evaluation") in {role for role, _ in result.finding.inputs}


def test_a_slice_that_is_proven_worse_fails_and_is_told_first() -> None:
    result = judged(*recall(1, 1300, 2000))
    assert (result.outcome, result.effect) == ("failed", "block")
    first = result.finding.parts[0]
    assert (first.name, first.outcome) == ("country=NO", "failed")
    assert (result.finding.observed, result.finding.n) == (0.65, 2000)
    assert (result.finding.bound, result.finding.interval) == ("≥ 0.7", first.interval)
    assert "recall of country=NO is 0.65" in result.finding.sentence
    assert result.finding.sentence.endswith("which is not ≥ 0.7.")


def test_a_regression_fails_though_the_floor_holds() -> None:
    result = judged(regression(2, -0.06))
    assert result.outcome == "failed"
    assert result.finding.parts[0].name == "country=SE regression"
    assert "recall is 0.06 worse than the incumbent's" in result.finding.sentence


def test_between_proven_harm_and_proven_safety_nothing_is_known() -> None:
    result = judged(regression(2, -0.02))
    assert (result.outcome, result.effect) == ("inconclusive", "review")
    assert result.finding.sentence.endswith("too uncertain to say whether it is ≥ -0.02.")
    floor = judged(*recall(0, 1420, 2000))
    assert (floor.outcome, floor.finding.parts[0].name) == ("inconclusive", "country=DE")


def test_harm_has_to_be_shown_beside_chance_in_all_slices() -> None:
    """With six tests at alpha 0.0076 the worst one fails at 0.0013, which is z = 3.02."""
    assert judged(regression(0, -0.02 - 3.1 * 0.004)).outcome == "failed"
    assert judged(regression(0, -0.02 - 2.9 * 0.004)).outcome == "inconclusive"
    # The second worst is held against a fifth: z = 2.97; the third against a quarter: z = 2.9.
    worst = regression(0, -0.02 - 3.1 * 0.004)
    both = judged(worst, regression(1, -0.02 - 3.0 * 0.004))
    assert [each.outcome for each in both.finding.parts[:3]] == ["failed", "failed", "passed"]
    one = judged(worst, regression(1, -0.02 - 2.9 * 0.004))
    assert [each.outcome for each in one.finding.parts[:3]] == ["failed", "inconclusive", "passed"]
    assert "1 more finding like it below" in both.finding.sentence


def test_without_the_worst_the_others_are_not_looked_at() -> None:
    """Holm stops at the first that is not shown: a later one with a small enough p-value isn't reached."""
    z = (-0.02 - 2.9 * 0.004, -0.02 - 2.89 * 0.004)
    result = judged(regression(0, z[0]), regression(1, z[1]))
    assert result.outcome == "inconclusive"


def test_an_expected_slice_that_is_missing_never_passes() -> None:
    """Kayenta scores a group without data as 100."""
    result = judged(drop("statistics/slices/1"))
    assert (result.outcome, result.effect) == ("error", "block")
    assert result.finding.sentence == "country=NO is missing from the results."
    assert judged(put("statistics/slices", [])).outcome == "error"


def test_a_slice_that_is_there_twice_is_no_value() -> None:
    result = judged(put("statistics/slices/0/value", "NO"))
    told = {each.name: each.sentence for each in result.finding.parts if each.outcome == "error"}
    assert told == {
        "country=DE": "country=DE is missing from the results.",
        "country=NO": "country=NO is in the results more than once.",
    }


def test_a_slice_of_another_dimension_is_another_slice() -> None:
    assert judged(put("statistics/slices/1/dimension", "region")).outcome == "error"


def test_a_slice_that_is_too_small_asks_for_what_the_policy_says() -> None:
    result = judged(put("statistics/slices/1/positives", 1499))
    assert (result.outcome, result.state, result.effect) == ("inconclusive", "too_small", "review")
    assert result.finding.sentence == "country=NO has 1,499 positives, fewer than 1,500."
    assert judged(put("statistics/slices/1/positives", 1500)).outcome == "passed"
    strict = RULES.replace("onTooSmall: review, ", "")
    assert judged(put("statistics/slices/1/positives", 1499), rules=strict).effect == "block"
    rows = RULES.replace("minimumPositives: 1500", "minimumRows: 8001")
    assert "NO has 8,000 rows, fewer than 8,001" in judged(rules=rows).finding.sentence


@pytest.mark.parametrize(
    "change",
    [
        put("statistics/slices/1/positives", None),
        put("statistics/slices/1/positives", True),
        put("statistics/slices/1/positives", -1),
        put("statistics/slices/1/metrics", {}),
        put("statistics/slices/1/metrics/recall/successes", None),
        put("statistics/slices/1/metrics/recall/estimate", float("nan")),
        put("statistics/slices/1/differences", {}),
        put("statistics/slices/1/differences/recall/estimate", None),
        put(
            "statistics/reported",
            [{"repeat": 0, "metric": "recall", "reported": 1, "recomputed": 0.8, "agrees": False}],
        ),
    ],
)
def test_a_slice_without_a_number_is_no_value(change: Any) -> None:
    assert (judged(change).outcome, judged(change).effect) == ("error", "block")


def test_the_slice_that_asks_for_the_most_decides() -> None:
    small, harmed = put("statistics/slices/0/positives", 10), recall(1, 1300, 2000)
    assert judged(small, *harmed).outcome == "failed"
    missing = judged(small, put("statistics/slices/2/metrics", {}))
    assert (missing.outcome, missing.state) == ("error", None)
    warned = RULES.replace("onTooSmall: review", "onTooSmall: warn")
    uncertain = judged(small, regression(2, -0.02), rules=warned)
    assert (uncertain.state, uncertain.effect) == (None, "review")


def test_slices_that_the_policy_does_not_expect_are_named() -> None:
    rules = RULES.replace('["DE", "NO", "SE"]', '["DE"]')
    assert judged(rules=rules).finding.sentence == (
        "Every expected slice of country keeps its limits. Not judged: NO and SE."
    )


def test_of_many_slices_that_are_not_expected_some_are_named() -> None:
    def add(facts: Body) -> None:
        facts["statistics"]["slices"].extend(
            facts["statistics"]["slices"][0] | {"value": value} for value in "ABCDEFG"
        )

    assert judged(add).finding.sentence.endswith(" Not judged: A, B, C, D, E and others.")


def test_a_floor_needs_no_incumbent() -> None:
    rules = RULES.replace("maxRegression: 0.02, ", "")
    result = judged(put("incumbent", NOTHING), put("statistics/incumbent", None), rules=rules)
    assert result.outcome == "passed"
    assert len(result.finding.parts) == 3


def test_a_first_release_is_asked_about_when_its_floors_hold() -> None:
    result = judged(put("incumbent", NOTHING))
    assert (result.outcome, result.state, result.effect) == ("error", "first_release", "review")
    assert result.finding.code == "no_incumbent"
    harmed = judged(put("incumbent", NOTHING), *recall(1, 1300, 2000))
    assert (harmed.outcome, harmed.state, harmed.effect) == ("failed", None, "block")
    blocked = judged(put("incumbent", NOTHING), head=HEAD.replace("onNone: first-release", "onNone: block"))
    assert (blocked.state, blocked.effect) == (None, "block")


def test_a_regression_alone_may_be_asked_about() -> None:
    rules = RULES.replace("floor: 0.70, ", "")
    assert len(judged(rules=rules).finding.parts) == 3
    assert judged(regression(2, -0.06), rules=rules).outcome == "failed"


def test_a_metric_that_is_no_share_has_a_normal_interval() -> None:
    rules = RULES.replace("metric: recall", "metric: f1").replace("maxRegression: 0.02, ", "")

    def f1(value: float) -> list[Any]:
        measured = {"estimate": value, "standard_error": 0.01, "n": 8000, "method": "bootstrap"}
        return [put(f"statistics/slices/{at}/metrics/f1", measured) for at in range(3)]

    assert judged(*f1(0.75), rules=rules).outcome == "passed"
    assert judged(*f1(0.71), rules=rules).outcome == "inconclusive"
    assert judged(*f1(0.65), rules=rules).outcome == "failed"


def test_what_is_certain_is_judged_without_an_interval() -> None:
    """Identical predictions have a difference of 0 with no error; so has a value at the end of its range."""
    same = judged(regression(0, 0.0, 0.0))
    assert same.outcome == "passed"
    assert "recall is 0 better than the incumbent's" in part(same, "country=DE regression").sentence
    rules = RULES.replace("metric: recall", "metric: f1").replace("maxRegression: 0.02, ", "")
    for value, outcome in ((1, "passed"), (0, "failed")):
        measured = {"estimate": value, "standard_error": 0, "n": 8000, "method": "closed-form"}
        changes = [put(f"statistics/slices/{at}/metrics/f1", measured) for at in range(3)]
        assert judged(*changes, rules=rules).outcome == outcome
