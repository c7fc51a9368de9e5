"""Which metrics a policy may ask for: of which task, in which range, and which direction is better."""

from typing import Any

import pytest

from gates.documents.problems import DocumentError
from gates.release.loading import load_policy
from gates.release.metrics import METRICS
from tests.gates.release.policies import HEAD, make_policy, policy_text
from tests.gates.release.scenes import decide, put

TASKS = ("binary", "multiclass", "regression")
KNOWN = {
    "accuracy": ("binary multiclass", "higher", 1),
    "precision": ("binary", "higher", 1),
    "recall": ("binary", "higher", 1),
    "f1": ("binary", "higher", 1),
    "f1_macro": ("multiclass", "higher", 1),
    "balanced_accuracy": ("binary multiclass", "higher", 1),
    "roc_auc": ("binary", "higher", 1),
    "average_precision": ("binary", "higher", 1),
    "log_loss": ("binary multiclass", "lower", None),
    "brier_score": ("binary", "lower", 1),
    "mean_absolute_error": ("regression", "lower", None),
    "root_mean_squared_error": ("regression", "lower", None),
    "r2": ("regression", "higher", 1),
    "mean_latency_ms": ("binary multiclass regression", "either", None),
    "p50_latency_ms": ("binary multiclass regression", "either", None),
    "p95_latency_ms": ("binary multiclass regression", "either", None),
    "p99_latency_ms": ("binary multiclass regression", "either", None),
}


def refusals(rest: str, task: str) -> list[str]:
    head = HEAD.replace("protocol:\n", f"protocol:\n  task: {task}\n")
    try:
        load_policy(policy_text({"new": f"{rest}, severity: block"}, head=head, waivers=""))
    except DocumentError as error:
        return [each.message for each in error.problems]
    return []


def test_every_metric_of_the_workers_is_here() -> None:
    assert set(METRICS) == {name for name, (_, better, _) in KNOWN.items() if better != "either"}


@pytest.mark.parametrize("name", KNOWN)
def test_a_metric_belongs_to_its_tasks_and_has_its_direction(name: str) -> None:
    tasks, better, _ = KNOWN[name]
    for task in TASKS:
        told = refusals(f"kind: threshold, metric: {name}, min: 0.5", task)
        wanted = f"{name} is no metric of a {task} task; see protocol.task"
        assert told == ([] if task in tasks.split() else [wanted])
    for way in ("higher", "lower"):
        compared = f"kind: comparison, metric: {name}, better: {way}, test: absolute, maxRegression: 0.1"
        right = (
            [] if better in (way, "either") else [f"{better} is better for {name}; write better: {better}"]
        )
        assert refusals(compared, tasks.split()[0]) == right


@pytest.mark.parametrize("name", ["p90_latency_ms", "mean", "mean_", "roc_auc_2", "p95_latency ms"])
def test_what_no_worker_computes_is_refused(name: str) -> None:
    (told,) = refusals(f'kind: threshold, metric: "{name}", min: 0.5', "binary")
    assert f"no worker computes '{name}'" in told or "must be the name of a metric" in told


@pytest.mark.parametrize("name", KNOWN)
def test_a_value_outside_the_range_of_its_metric_is_no_value(name: str) -> None:
    tasks, better, high = KNOWN[name]
    task = tasks.split()[0]
    head = HEAD.replace("protocol:\n", f"protocol:\n  task: {task}\n")
    policy = make_policy(
        "bias", head=head, new=f"kind: threshold, metric: {name}, max: 1.0e+9, severity: block"
    )

    def code(value: float) -> Any:
        is_share = name in ("accuracy", "precision", "recall")
        counted = {"successes": int(value), "trials": 1} if is_share else {}
        measured = {"estimate": value, "standard_error": 0.1, "n": 100, "method": "delong"} | counted
        changes = [
            put(f"statistics/metrics/{name}", measured),
            *(put(f"{each}/protocol_digest", policy.protocol_digest) for each in ("attempt", "statistics")),
        ]
        return next(each.finding.code for each in decide(policy, *changes).criteria if each.id == "new")

    assert [code(0), code(1)] == [None, None]
    assert code(2) == ("no_number" if high == 1 else None)
    assert code(-1) == (None if better == "either" or name == "r2" else "no_number")
