"""threshold: bounds of a metric."""

from typing import Any

import pytest

from gates.release.results import Finding
from tests.gates.release.policies import digest, make_policy
from tests.gates.release.scenes import decide, put


def judged(rest: str, metric: dict[str, Any] | None = None, name: str = "roc_auc") -> Finding:
    policy = make_policy("bias", new=f"kind: threshold, metric: {name}, {rest}")
    changes = [] if metric is None else [put(f"statistics/metrics/{name}", metric)]
    return next(each.finding for each in decide(policy, *changes).criteria if each.id == "new")


def measured(estimate: object, error: object, n: object = 10_000, **more: object) -> dict[str, Any]:
    return {"estimate": estimate, "standard_error": error, "n": n, "method": "delong"} | more


@pytest.mark.parametrize(
    ("rest", "outcome"),
    [
        ("min: 0.9", "passed"),
        ("min: 0.919", "inconclusive"),
        ("min: 0.921", "inconclusive"),
        ("min: 0.93", "failed"),
        ("max: 0.93", "passed"),
        ("max: 0.921", "inconclusive"),
        ("max: 0.9", "failed"),
        ("min: 0.9, max: 0.93", "passed"),
        ("min: 0.9, max: 0.921", "inconclusive"),
        ("min: 0.93, max: 0.94", "failed"),
        ("min: 0.8, max: 0.9", "failed"),
        ("min: 0.919, use: estimate", "passed"),
        ("min: 0.92, use: estimate", "passed"),
        ("min: 0.921, use: estimate", "failed"),
        ("max: 0.919, use: estimate", "failed"),
        ("max: 0.92, use: estimate", "passed"),
        ("min: 0.9, use: lower-confidence-bound", "passed"),
        ("max: 0.93, use: upper-confidence-bound", "passed"),
    ],
)
def test_the_worse_end_of_the_interval_is_held_against_the_bound(rest: str, outcome: str) -> None:
    assert judged(f"{rest}, severity: block").outcome == outcome


def test_a_result_tells_what_was_measured_and_what_was_asked_for() -> None:
    found = judged("min: 0.9, max: 0.95, severity: block")
    assert (
        found.sentence == "roc_auc is 0.92 (0.915008 to 0.924723, n = 40,000), which keeps ≥ 0.9 and ≤ 0.95."
    )
    assert found.bound == "≥ 0.9 and ≤ 0.95"
    assert found.observed == 0.92
    assert found.needed_n is None
    failed = judged("min: 0.95, severity: block")
    assert failed.sentence == "roc_auc is 0.92 (0.915008 to 0.924723, n = 40,000), which breaks ≥ 0.95."


def test_an_uncertain_result_tells_how_many_examples_would_have_been_enough() -> None:
    found = judged("min: 0.918, severity: block")
    assert found.needed_n is not None
    assert 200_000 < found.needed_n < 300_000
    assert found.sentence.endswith(
        f"too uncertain to say whether it is ≥ 0.918; about {found.needed_n:,} examples would tell."
    )
    both = judged("min: 0.918, max: 0.921, severity: block")
    assert both.needed_n is not None
    assert both.needed_n > 3 * found.needed_n
    at_the_bound = judged("min: 0.92, severity: block")
    assert at_the_bound.needed_n is None
    assert at_the_bound.sentence.endswith("too uncertain to say whether it is ≥ 0.92.")


def share(successes: object, trials: object, estimate: object = None, **more: object) -> dict[str, Any]:
    value = successes / trials if estimate is None else estimate  # type: ignore[operator]
    return measured(value, 0.01, trials, successes=successes, trials=trials, **more)


def test_a_share_is_judged_by_its_counts() -> None:
    """98 of 98 say little: Wald's interval would be [1, 1] and pass any floor."""
    found = judged("min: 0.95, severity: block", share(98, 98), "recall")
    assert (found.outcome, found.method, found.n) == ("inconclusive", "wilson", 98)
    assert judged("min: 0.95, severity: block", share(980, 980), "recall").outcome == "passed"
    assert judged("min: 0.95, severity: block", share(900, 980), "recall").outcome == "failed"
    needed = judged("min: 0.95, severity: block", share(98, 98), "recall").needed_n
    assert needed is not None
    assert judged("min: 0.95, severity: block", share(needed, needed), "recall").outcome == "passed"
    assert judged("min: 0.95, severity: block", share(needed - 1, needed - 1), "recall").outcome != "passed"


@pytest.mark.parametrize(
    ("metric", "name", "code"),
    [
        (measured(0.95, 0.01), "recall", "no_number"),
        (share(95, 100) | {"successes": None}, "recall", "no_number"),
        (share(95, 100) | {"trials": 0}, "recall", "no_number"),
        (share(95, 100) | {"successes": 101}, "recall", "no_number"),
        (share(95, 100, estimate=0.99), "recall", "inconsistent"),
        (share(95, 100) | {"n": 99}, "recall", "no_number"),
        (share(95, 100), "roc_auc", "inconsistent"),
        (measured(0.95, 0.01, trials=100), "roc_auc", "inconsistent"),
        (measured(0.95, 0.01, successes=95), "roc_auc", "inconsistent"),
        (measured(0.95, 0), "roc_auc", "no_number"),
        (measured(1.05, 0.01), "roc_auc", "no_number"),
        (measured(0.95, -0.01), "roc_auc", "no_number"),
        (measured(0.95, 0.01, 0), "roc_auc", "no_number"),
        (measured(-0.1, 0.01), "log_loss", "no_number"),
    ],
)
def test_a_measurement_that_contradicts_itself_is_no_value(
    metric: dict[str, Any], name: str, code: str
) -> None:
    found = judged("min: 0.5, severity: block", metric, name)
    assert (found.outcome, found.code) == ("error", code)


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        (measured(1, 0), "roc_auc"),
        (measured(3.5, 0), "mean_latency_ms"),
        (measured(3.5, 0.1), "log_loss"),
        (share(95, 100) | {"n": 400}, "precision"),
        (measured(0.95, 0.0001, 1), "roc_auc"),
    ],
)
def test_what_can_be_certain_may_be(metric: dict[str, Any], name: str) -> None:
    assert judged("min: 0.5, severity: block", metric, name).outcome == "passed"


def test_the_seed_is_told_and_never_judged() -> None:
    policy = make_policy("auc-floor")
    assert decide(policy, put("statistics/seed", 2**53 - 1)).criteria[0].finding.seed == 2**53 - 1
    for bad in ("x", True, 2**53, None):
        (result,) = decide(policy, put("statistics/seed", bad)).criteria
        assert (result.outcome, result.finding.seed) == ("passed", None)
    assert digest("statistics") in decide(policy).criteria[0].as_json()["evidence"]  # type: ignore[operator]


def test_one_example_is_a_measurement_that_says_nearly_nothing() -> None:
    found = judged("min: 0.5, severity: block", share(1, 1), "recall")
    assert (found.outcome, found.code, found.n) == ("inconclusive", None, 1)
    none = judged("max: 0.5, severity: block", share(0, 1), "recall")
    assert (none.outcome, none.observed) == ("inconclusive", 0)
