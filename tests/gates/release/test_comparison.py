"""comparison: candidate against incumbent."""

import math
from typing import Any

import pytest

from gates.release.results import CriterionResult
from tests.gates.release.passing import Body
from tests.gates.release.policies import HEAD, digest, make_policy
from tests.gates.release.scenes import decide, put

BLOCK = HEAD.replace("onNone: first-release", "onNone: block")


def judged(rest: str, *changes: Any, metric: str = "roc_auc", head: str = HEAD) -> CriterionResult:
    new = f"kind: comparison, metric: {metric}, {rest}"
    policy = make_policy("bias", head=head, new=new if "severity" in new else f"{new}, severity: block")
    return next(each for each in decide(policy, *changes).criteria if each.id == "new")


def difference(candidate: Any, incumbent: Any, error: Any, method: str = "delong", n: Any = 40_000) -> Body:
    return {
        "estimate": candidate - incumbent,
        "standard_error": error,
        "n": n,
        "method": method,
        "candidate": candidate,
        "incumbent": incumbent,
    }


def auc(incumbent: Any, error: Any = 0.001, **more: Any) -> Any:
    return put("statistics/differences/roc_auc", difference(0.92, incumbent, error, **more))


NON_INFERIOR = "better: higher, test: non-inferiority, margin: 0.005"


@pytest.mark.parametrize(
    ("rest", "incumbent", "outcome"),
    [
        # The interval reaches 0.0024 to each side.
        (NON_INFERIOR, 0.92, "passed"),
        (NON_INFERIOR, 0.922, "passed"),
        (NON_INFERIOR, 0.923, "inconclusive"),
        (NON_INFERIOR, 0.927, "inconclusive"),
        (NON_INFERIOR, 0.928, "failed"),
        ("better: higher, test: superiority", 0.917, "passed"),
        ("better: higher, test: superiority", 0.918, "inconclusive"),
        ("better: higher, test: superiority", 0.923, "failed"),
        ("better: higher, test: superiority, margin: 0.002", 0.917, "inconclusive"),
        ("better: higher, test: superiority, margin: 0.002", 0.915, "passed"),
        ("better: higher, test: absolute, maxRegression: 0.005", 0.922, "passed"),
        ("better: higher, test: absolute, maxRegression: 0.005", 0.923, "inconclusive"),
        ("better: higher, test: absolute, maxRegression: 0.005, use: estimate", 0.924, "passed"),
        ("better: higher, test: absolute, maxRegression: 0.005, use: estimate", 0.926, "failed"),
        ("better: higher, test: relative, maxRegression: 0.01", 0.92, "passed"),
        ("better: higher, test: relative, maxRegression: 0.01", 0.929, "inconclusive"),
        ("better: higher, test: relative, maxRegression: 0.01", 0.935, "failed"),
    ],
)
def test_the_interval_of_the_paired_difference_is_held_against_the_limit(
    rest: str, incumbent: float, outcome: str
) -> None:
    assert judged(rest, auc(incumbent)).outcome == outcome


def latency(candidate: float, incumbent: float, error: float = 0.3) -> tuple[Any, Any]:
    metric = {"estimate": candidate, "standard_error": 0.3, "n": 40_000, "method": "bootstrap"}
    return (
        put("statistics/metrics/p95_latency_ms", metric),
        put("statistics/differences/p95_latency_ms", difference(candidate, incumbent, error, "bootstrap")),
    )


@pytest.mark.parametrize(
    ("candidate", "outcome"),
    [(40.0, "passed"), (43.0, "passed"), (43.9, "inconclusive"), (45.5, "failed"), (30.0, "passed")],
)
def test_less_may_be_better(candidate: float, outcome: str) -> None:
    rest = "better: lower, test: relative, maxRegression: 0.10"
    assert judged(rest, *latency(candidate, 40.0), metric="p95_latency_ms").outcome == outcome
    absolute = "better: lower, test: absolute, maxRegression: 4"
    assert judged(absolute, *latency(candidate, 40.0), metric="p95_latency_ms").outcome == outcome


def test_a_relative_change_is_a_share_of_the_incumbents_value() -> None:
    rest = "better: lower, test: relative, maxRegression: 0.10"
    finding = judged(rest, *latency(41.0, 40.0), metric="p95_latency_ms").finding
    assert finding.observed == pytest.approx(-0.025)
    assert finding.bound == "≥ -0.1"
    # Both estimates are uncertain: (1 + 0.1)·0.3 + 0.1·0.3 = 0.36 of 40.
    assert finding.interval is not None
    assert finding.interval.high - finding.interval.low == pytest.approx(2 * 2.4275 * 0.36 / 40, rel=1e-3)
    assert "0.025 of its value worse" in finding.sentence
    higher = judged("better: higher, test: relative, maxRegression: 0.1", auc(0.92)).finding
    assert higher.interval is not None
    # (1 − 0.1)·0.001 + 0.1·0.002 = 0.0011 of 0.92.
    assert higher.interval.high - higher.interval.low == pytest.approx(2 * 2.4275 * 0.0011 / 0.92, rel=1e-3)


@pytest.mark.parametrize(("candidate", "incumbent"), [(0.0, 0.0), (1.0, 0.0), (41.0, -40.0), (1.0, 1e-160)])
def test_nan_never_passes_through_a_relative_change(candidate: float, incumbent: float) -> None:
    """MLflow's min_relative_change passes NaN; 0/0 is one."""
    rest = "better: lower, test: relative, maxRegression: 0.10"
    result = judged(rest, *latency(candidate, incumbent), metric="p95_latency_ms")
    assert (result.outcome, result.effect) == ("error", "block")
    assert result.finding.code in ("no_relative_change", "no_number")


@pytest.mark.parametrize("value", [math.nan, math.inf, None, "0.92", True])
def test_nan_in_a_difference_is_no_value(value: Any) -> None:
    for member in ("estimate", "standard_error", "candidate", "incumbent", "n"):
        result = judged(NON_INFERIOR, put(f"statistics/differences/roc_auc/{member}", value))
        assert (result.outcome, result.finding.code) == ("error", "no_number")


def test_identical_predictions_are_as_good_and_not_better() -> None:
    same = auc(0.92, 0.0)
    assert judged(NON_INFERIOR, same).outcome == "passed"
    assert "0.92 against 0.92 of the incumbent: 0 better" in judged(NON_INFERIOR, same).finding.sentence
    result = judged("better: higher, test: superiority", same)
    assert (result.outcome, result.finding.needed_n) == ("inconclusive", None)
    assert result.finding.sentence.endswith("too uncertain to say whether it is better.")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (auc(0.918, 0.0), "no_number"),
        (put("statistics/differences/roc_auc/estimate", 0.01), "inconsistent"),
        (auc(0.918, n=0), "no_number"),
        (put("statistics/differences/roc_auc/method", "unpaired"), "wrong_method"),
        (put("statistics/differences", {}), "not_measured"),
        (put("statistics/reported/0/agrees", False), "reported_differs"),
    ],
)
def test_a_difference_that_contradicts_itself_is_no_value(change: Any, code: str) -> None:
    assert judged(NON_INFERIOR, change).finding.code == code


def test_a_constant_difference_of_a_value_without_bounds_may_be_certain() -> None:
    rest = "better: lower, test: absolute, maxRegression: 4"
    assert judged(rest, *latency(41.0, 40.0, 0.0), metric="p95_latency_ms").outcome == "passed"


def test_the_relative_change_is_of_what_the_difference_was_made_of() -> None:
    rest = "better: lower, test: relative, maxRegression: 0.10"
    other = put("statistics/metrics/p95_latency_ms/estimate", 41.5)
    assert judged(rest, *latency(41.0, 40.0), other, metric="p95_latency_ms").finding.code == "inconsistent"


@pytest.mark.parametrize(
    ("method", "recorded", "outcome"),
    [
        ("", "bootstrap", "passed"),
        ("", "delong", "passed"),
        ("", "closed-form", "passed"),
        (", method: paired-bootstrap", "delong", "passed"),
        (", method: paired-bootstrap", "bootstrap", "passed"),
        (", method: analytic", "delong", "passed"),
        (", method: analytic", "closed-form", "passed"),
        (", method: analytic", "bootstrap", "error"),
        ("", "reported", "error"),
    ],
)
def test_a_policy_may_refuse_resampling(method: str, recorded: str, outcome: str) -> None:
    assert judged(NON_INFERIOR + method, auc(0.92, method=recorded)).outcome == outcome


NOTHING = {"artifact": None, "how": "none", "record": None}


def test_without_an_incumbent_nothing_passes_by_default() -> None:
    """Keptn passes when there is no previous result."""
    result = judged(NON_INFERIOR, put("incumbent", NOTHING), head=BLOCK)
    assert (result.outcome, result.state, result.effect) == ("error", None, "block")
    assert result.finding.code == "no_incumbent"
    assert result.finding.sentence == "Nothing holds champion yet, so that there is nothing to compare with."


@pytest.mark.parametrize(
    ("severity", "effect"), [("block", "review"), ("review", "review"), ("warn", "warn")]
)
def test_a_first_release_asks_people_where_the_policy_says_so(severity: str, effect: str) -> None:
    result = judged(f"{NON_INFERIOR}, severity: {severity}", put("incumbent", NOTHING))
    assert (result.outcome, result.state, result.effect) == ("error", "first_release", effect)


@pytest.mark.parametrize(
    "incumbent",
    [
        NOTHING | {"how": "promotion"},
        NOTHING | {"how": "decision"},
        NOTHING | {"artifact": digest("incumbent"), "record": digest("promotion")},
        {"artifact": digest("incumbent"), "how": "promotion", "record": None},
    ],
)
def test_an_incumbent_that_is_not_clear_is_no_first_release(incumbent: Body) -> None:
    result = judged(NON_INFERIOR, put("incumbent", incumbent))
    assert (result.finding.code, result.effect) == ("incumbent_unclear", "block")


def test_a_comparison_with_another_incumbent_is_no_value() -> None:
    result = judged(NON_INFERIOR, put("incumbent/artifact", digest("newer")))
    assert result.finding.code == "other_incumbent"
    assert digest("incumbent")[:19] in result.finding.sentence
    alone = judged(NON_INFERIOR, put("statistics/incumbent", None))
    assert alone.finding.code == "other_incumbent"
    assert "compared with nothing" in alone.finding.sentence


def test_a_result_tells_both_values_and_what_was_read() -> None:
    finding = judged(NON_INFERIOR).finding
    assert finding.sentence == (
        "roc_auc is 0.92 against 0.918 of the incumbent: 0.002 better (gain -0.000427622 to 0.00442762, n = 40,000), "
        "which is no more than 0.005 worse."
    )
    assert {role for role, _ in finding.inputs} == {
        "statistics",
        "attempt",
        "evaluation",
        "dataset",
        "incumbent_evaluation",
        "incumbent",
    }
    assert (finding.bound, finding.method, finding.n, finding.seed) == ("≥ -0.005", "delong", 40_000, 42)
    failed = judged(NON_INFERIOR, auc(0.93)).finding
    assert "0.01 worse" in failed.sentence
    assert failed.sentence.endswith("which is not no more than 0.005 worse.")
    better = judged("better: higher, test: superiority, margin: 0.001", auc(0.9)).finding
    assert better.bound == "> 0.001"
    assert better.sentence.endswith("which is better by more than 0.001.")


def test_an_uncertain_comparison_tells_how_many_examples_would_have_been_enough() -> None:
    finding = judged(NON_INFERIOR, auc(0.923)).finding
    # z·SE = 0.0024275, the gain is 0.002 above the limit: 40,000·(0.0024275/0.002)² = 58,930.
    assert finding.needed_n == pytest.approx(58_930, rel=1e-3)
    assert f"about {finding.needed_n:,} examples would tell" in finding.sentence
