"""stability and reproduction: what other runs of the family and of the recipe say."""

from statistics import mean, stdev
from typing import Any

import pytest
from scipy import stats

from gates.release.results import CriterionResult
from tests.gates.release.passing import Body, make_facts
from tests.gates.release.policies import digest, make_policy
from tests.gates.release.scenes import decide, drop, put

STABLE = "kind: stability, metric: roc_auc, runs: 5"
VALUES = (0.92, 0.9201, 0.9202, 0.9199, 0.9198)


def stable(rest: str, *changes: Any) -> CriterionResult:
    policy = make_policy("bias", new=f"{STABLE}, {rest}, severity: block")
    return next(each for each in decide(policy, *changes).criteria if each.id == "new")


def values(*numbers: object) -> list[Any]:
    return [put(f"family/{at}/metrics/roc_auc", number) for at, number in enumerate(numbers)]


def test_the_upper_bound_of_the_spread_is_held_against_the_limit() -> None:
    result = stable("maxCv: 0.001")
    finding = result.finding
    cv = stdev(VALUES) / mean(VALUES)
    alpha = 0.030396355 / 4
    assert finding.observed == pytest.approx(cv)
    assert finding.interval is not None
    assert finding.interval.high == pytest.approx(cv * (4 / stats.chi2.ppf(alpha, 4)) ** 0.5, rel=1e-6)
    assert finding.interval.low == pytest.approx(cv * (4 / stats.chi2.ppf(1 - alpha, 4)) ** 0.5, rel=1e-6)
    assert (finding.n, finding.method, finding.bound) == (5, "chi-square", "≤ 0.001")
    assert {digest(f"evaluation of run-{n}") for n in range(1, 6)} <= {record for _, record in finding.inputs}


@pytest.mark.parametrize(
    ("rest", "outcome"),
    [
        # CV 0.000172, interval 0.0000922 to 0.000678.
        ("maxCv: 0.0007", "passed"),
        ("maxCv: 0.0005", "inconclusive"),
        ("maxCv: 0.00009", "failed"),
        ("maxCv: 0.0002, use: estimate", "passed"),
        ("maxCv: 0.0001, use: estimate", "failed"),
        ("maxSd: 0.001", "passed"),
        ("maxSd: 0.0003", "inconclusive"),
        ("maxCv: 0.00009, maxSd: 1", "failed"),
    ],
)
def test_few_runs_say_little_about_spread(rest: str, outcome: str) -> None:
    assert stable(rest).outcome == outcome


def test_a_mean_near_zero_is_no_measure_to_divide_by() -> None:
    near = values(0.0, 0.002, 0.001, 0.0005, 0.00002)
    assert stable("maxCv: 5", *near).finding.code == "near_zero_mean"
    result = stable("maxCv: 5, maxSd: 0.01", *near)
    assert (result.outcome, result.finding.bound) == ("passed", "≤ 0.01")
    assert "the standard deviation of roc_auc" in result.finding.sentence
    assert "coefficient of variation" in stable("maxCv: 1, maxSd: 0.01").finding.sentence


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ([drop("family/4")], "too_few_runs"),
        ([put("family", [])], "other_family"),
        ([put("family/4/seeds_digest", digest("seeds 1"))], "too_few_runs"),
        ([put("family/4/seeds_digest", None)], "no_seeds"),
        (values(0.92, 0.92), "identical_values"),
        (values(*[0.92] * 5), "identical_values"),
        ([put("family/0/run_id", "run-9")], "other_family"),
        ([put("family/4/dataset", digest("other"))], "wrong_protocol"),
        ([put("family/4/protocol_digest", digest("other"))], "wrong_protocol"),
        ([put("family/4/level", "self_reported")], "level_too_low"),
        ([put("family/4/metrics", {})], "no_number"),
        (values(float("nan")), "no_number"),
        (values(1.2), "no_number"),
        ([put("training_run", None)], "no_training_run"),
        ([put("statistics/metrics", {})], "not_measured"),
        ([put("attempt", None)], "unregistered"),
    ],
)
def test_a_family_that_can_not_be_judged_is_no_value(changes: list[Any], code: str) -> None:
    result = stable("maxCv: 0.5", *changes)
    assert (result.outcome, result.finding.code, result.effect) == ("error", code, "block")


def test_the_oldest_run_with_its_seeds_counts() -> None:
    """Running some seeds again until the spread is small shows nothing. The newest come first."""

    def again(facts: Body) -> None:
        newest = facts["family"][1] | {"run_id": "run-2b", "metrics": {"roc_auc": 0.5}}
        facts["family"].insert(0, newest)

    assert stable("maxCv: 0.0007", again).outcome == "passed"

    def before(facts: Body) -> None:
        oldest = facts["family"][1] | {"run_id": "run-0", "metrics": {"roc_auc": 0.5}}
        facts["family"].append(oldest)

    assert stable("maxCv: 0.0007", before).outcome == "failed"


def reproduced(*changes: Any, runs: int = 1) -> CriterionResult:
    policy = make_policy("bias", new=f"kind: reproduction, metric: roc_auc, runs: {runs}, severity: review")
    return next(each for each in decide(policy, *changes).criteria if each.id == "new")


@pytest.mark.parametrize(
    # The interval at alpha 0.05 is 0.92 ± 1.645·0.002 = 0.91671 to 0.92329.
    ("value", "outcome"),
    [(0.92, "passed"), (0.9232, "passed"), (0.9168, "passed"), (0.9234, "failed"), (0.9166, "failed")],
)
def test_a_repeat_has_to_fall_into_the_interval(value: float, outcome: str) -> None:
    result = reproduced(put("repeats/0/metrics/roc_auc", value))
    assert result.outcome == outcome
    assert result.finding.observed == value
    assert result.finding.parts[0].sentence == f"Run run-6 gave {value}."
    assert result.finding.parts[0].outcome == outcome


def test_a_late_attempt_makes_reproducing_no_easier() -> None:
    late = put("attempt/number", 10), put("attempts/count", 10)
    assert reproduced(*late).finding.interval == reproduced().finding.interval
    assert reproduced().finding.alpha == 0.05


def test_every_repeat_counts() -> None:
    policy = make_policy()
    (repeat,) = make_facts(policy)["repeats"]
    others = [repeat | {"run_id": "run-7", "metrics": {"roc_auc": 0.5}}, repeat]
    result = reproduced(put("repeats", others))
    assert (result.outcome, result.finding.observed, result.finding.n) == ("failed", 0.5, 2)
    assert "1 of 2 repeats lies outside: Run run-7 gave 0.5." in result.finding.sentence
    two = [repeat | {"run_id": "run-7", "record": digest("another evaluation")}, repeat]
    assert reproduced(put("repeats", two), runs=2).outcome == "passed"
    assert ("repeat", digest("another evaluation")) in reproduced(put("repeats", two)).finding.inputs


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ([put("repeats", [])], "too_few_runs"),
        ([put("repeats/0/run_id", "run-1")], "too_few_runs"),
        ([put("repeats/0/dataset", digest("other"))], "wrong_protocol"),
        ([put("repeats/0/level", "self_reported")], "level_too_low"),
        ([put("repeats/0/metrics/roc_auc", None)], "no_number"),
        ([put("training_run/recipe_digest", None)], "no_recipe"),
        ([put("training_run", None)], "no_training_run"),
    ],
)
def test_a_repeat_that_can_not_be_judged_is_no_value(changes: list[Any], code: str) -> None:
    result = reproduced(*changes)
    assert (result.outcome, result.finding.code, result.effect) == ("error", code, "review")


def test_what_the_measurement_of_another_run_rests_on_is_named() -> None:
    """Who doubts a repeat finds the attempt and the results that it was made of."""
    basis = [digest("attempt of run-6"), digest("result of run-6")]
    inputs = reproduced(put("repeats/0/rests_on", basis)).finding.inputs
    assert inputs[-3:] == tuple(("repeat", each) for each in (digest("evaluation of run-6"), *basis))
    assert ("family", basis[0]) in stable("maxCv: 0.5", put("family/1/rests_on", basis)).finding.inputs


def test_what_is_wrong_with_other_runs_is_said_in_a_sentence() -> None:
    def said(*changes: Any) -> str:
        return stable("maxCv: 0.5", *changes).finding.sentence

    assert said(drop("family/4")) == ("4 runs with seeds of their own were measured; the policy asks for 5.")
    assert (
        said(*values(0.92, 0.92)) == "5 runs gave 4 different values: one result may stand for several runs."
    )
    assert said(put("family/4/level", "self_reported")) == (
        "The evaluation of run run-5 has the level self reported; the policy asks for trusted runner."
    )
    assert said(*values(1.2)) == "roc_auc of run run-1 is 1.2, which lies outside 0 to 1."
    assert reproduced(put("repeats", [])).finding.sentence == (
        "0 repeats of the recipe measured; the policy asks for 1."
    )
    assert reproduced().finding.sentence == (
        "roc_auc is 0.92 (0.916648 to 0.923229), and 1 repeat of its recipe lies within."
    )
    assert (reproduced().finding.bound, reproduced().finding.n) == ("within 0.916648 to 0.923229", 1)
