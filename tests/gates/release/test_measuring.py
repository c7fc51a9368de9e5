"""What counts as a measurement: the attempt, its statistics and the data it was made on."""

from datetime import timedelta
from typing import Any

import pytest

from gates.release.criteria.base import MetricCriterion
from tests.gates.release.passing import NOW, make_facts
from tests.gates.release.policies import HEAD, digest, make_policy
from tests.gates.release.scenes import decide, drop, put

POLICY = make_policy("auc-floor")
OTHER = digest("something else")


def found(*changes: Any) -> tuple[str, str | None, str]:
    """Outcome, code and effect of the one criterion."""
    (result,) = decide(POLICY, *changes).criteria
    return result.outcome, result.finding.code, result.effect


def test_a_measured_candidate_passes_and_says_by_what() -> None:
    (result,) = decide(POLICY).criteria
    said = result.as_json()
    assert (said["outcome"], said["effect"], said["code"]) == ("passed", "none", None)
    assert (said["n"], said["method"], said["seed"], said["bound"]) == (40_000, "delong", 42, "≥ 0.9")
    assert said["alpha"] == pytest.approx(0.030396355 / 4)
    assert said["evidence"] == [
        digest("statistics"),
        digest("attempt"),
        digest("evaluation"),
        digest("eval record"),
    ]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ([put("attempt", None), put("evaluations", [])], "no_attempt"),
        ([put("attempt", None)], "unregistered"),
        ([put("attempt/revoked", True)], "revoked"),
        ([put("attempt/candidate", OTHER)], "wrong_candidate"),
        ([put("attempt/dataset", OTHER)], "wrong_dataset"),
        ([put("attempt/evaluator", OTHER)], "wrong_evaluator"),
        ([put("attempt/config", OTHER)], "wrong_config"),
        ([put("attempt/protocol_digest", OTHER)], "wrong_protocol"),
        ([put("attempt/state", "open")], "attempt_open"),
        ([put("attempt/state", "abandoned")], "attempt_abandoned"),
        ([put("attempt/opened_at", "2026-11-29T12:00:01Z")], "future"),
        ([put("attempt/level", "self_reported")], "level_too_low"),
        ([put("attempt/number", 4)], "wrong_count"),
        ([put("attempt/number", 0)], "no_number"),
        ([put("attempts/count", 0)], "no_number"),
        ([put("dataset", None)], "no_dataset"),
        ([put("dataset/digest", OTHER)], "wrong_dataset"),
        ([put("dataset/dataset", "team-a/my-fraud-eval-2026q4")], "wrong_dataset_name"),
        ([put("dataset/revoked", True)], "revoked"),
        ([put("dataset/received_at", "2026-11-29T12:00:01Z")], "future"),
        ([put("dataset/received_at", "2026-08-31T12:00:00Z")], "stale"),
        ([put("statistics", None)], "no_statistics"),
        ([put("statistics/attempt", OTHER)], "wrong_statistics"),
        ([put("statistics/candidate", OTHER)], "wrong_statistics"),
        ([put("statistics/dataset", OTHER)], "wrong_statistics"),
        ([put("statistics/protocol_digest", OTHER)], "wrong_statistics"),
        ([put("statistics/revoked", True)], "revoked"),
        ([put("statistics/received_at", "2026-11-29T12:00:01Z")], "future"),
        ([put("statistics/received_at", "2026-11-28T11:59:59Z")], "known_before"),
        ([put("statistics/level", "self_reported")], "level_too_low"),
        ([put("statistics/outcome", "error"), put("statistics/reason", "no id")], "statistics_error"),
        ([put("statistics/rows", 19_999)], "too_few_rows"),
        ([put("statistics/rows", None)], "no_number"),
        ([put("statistics/metrics", {})], "not_measured"),
        ([put("statistics/reported/0/agrees", False)], "reported_differs"),
        ([put("statistics/disjointness/status", "unknown")], "disjointness_unknown"),
        ([put("statistics/disjointness/method", "none")], "disjointness_unknown"),
        ([put("statistics/disjointness/missing", [OTHER])], "disjointness_unknown"),
        ([put("statistics/disjointness/training", [])], "disjointness_unknown"),
        ([put("statistics/disjointness/status", "overlap")], "overlap"),
        ([put("statistics/disjointness/overlap", 1)], "overlap"),
        ([put("statistics/disjointness/overlap", None)], "no_number"),
        ([put("training_run", None)], "no_training_run"),
        ([put("training_run/snapshots", [])], "no_training_data"),
        ([put("training_run/snapshots/0/role", "test")], "no_training_data"),
    ],
)
def test_what_is_no_measurement_by_the_protocol_is_no_value(changes: list[Any], code: str) -> None:
    assert found(*changes) == ("error", code, "block")


@pytest.mark.parametrize(
    "change",
    [
        put("attempt/opened_at", "2026-11-28T12:00:00Z"),
        put("attempt/number", 3),
        put("dataset/dataset", "fraud-eval-2026q4"),
        put("dataset/received_at", "2026-08-31T12:00:01Z"),
        put("dataset/received_at", "2026-11-29T12:00:00Z"),
        put("attempt/opened_at", "2026-11-28T11:00:00Z"),
        put("statistics/received_at", "2026-11-29T12:00:00Z"),
        put("dataset/row_count", None),
        put("statistics/disjointness/method", "declared-split"),
        put("attempt/level", "server_run"),
        put("statistics/level", "trusted_runner"),
    ],
)
def test_what_just_keeps_the_protocol_counts(change: Any) -> None:
    assert found(change) == ("passed", None, "none")


@pytest.mark.parametrize("rows", [20_000, 39_999, 40_001])
def test_all_rows_of_the_snapshot_are_evaluated_and_no_others(rows: int) -> None:
    """Who may leave rows out chooses the result; a snapshot that says nothing of its rows leaves the minimum."""
    assert found(put("statistics/rows", rows)) == ("error", "other_rows", "block")
    assert found(put("statistics/rows", rows), put("dataset/row_count", rows)) == ("passed", None, "none")
    assert found(put("statistics/rows", rows), put("dataset/row_count", None)) == ("passed", None, "none")
    assert found(put("dataset/row_count", "many")) == ("error", "no_number", "block")


def test_a_declared_split_needs_no_count_of_keys() -> None:
    declared = put("statistics/disjointness/method", "declared-split")
    assert found(declared, put("statistics/disjointness/overlap", None))[0] == "passed"


def test_data_that_chose_the_model_has_to_be_disjoint_too() -> None:
    validation = {
        "role": "validation",
        "digest": OTHER,
        "grade": "content",
        "record": digest("validation record"),
        "revoked": False,
        "contested": False,
    }

    def add(facts: dict[str, Any]) -> None:
        facts["training_run"]["snapshots"].append(validation)

    assert found(add)[1] == "disjointness_unknown"
    assert found(add, put("statistics/disjointness/training", [digest("train"), OTHER]))[0] == "passed"


def test_disjointness_that_is_only_reported_asks_for_nothing() -> None:
    head = HEAD.replace("disjointFromTraining: required", "disjointFromTraining: reported")
    policy = make_policy("auc-floor", head=head)
    assert decide(policy, put("statistics/disjointness/status", "overlap")).verdict == "passed"


def test_an_error_of_the_worker_is_told() -> None:
    change = put("statistics/reason", "the ids repeat"), put("statistics/outcome", "error")
    (result,) = decide(POLICY, *change).criteria
    assert result.finding.sentence == "The worker could not compute: the ids repeat."


def test_another_metric_that_was_reported_wrong_is_no_matter() -> None:
    wrong = {"repeat": 0, "metric": "f1", "reported": 1, "recomputed": 0.5, "agrees": False}
    assert found(put("statistics/reported", [wrong]))[0] == "passed"
    unknown = wrong | {"metric": "roc_auc", "recomputed": None}
    assert found(put("statistics/reported", [unknown]))[0] == "passed"


def test_a_policy_may_ask_for_the_services_own_workers() -> None:
    policy = make_policy(
        "auc-floor",
        auc_floor="kind: threshold, metric: roc_auc, min: 0.9, level: server_run, severity: block",
    )
    assert decide(policy, put("attempt/level", "server_run")).verdict == "passed"
    assert decide(policy).criteria[0].finding.code == "level_too_low"
    mild = make_policy(
        "auc-floor",
        auc_floor="kind: threshold, metric: roc_auc, min: 0.9, level: self_reported, severity: block",
    )
    assert decide(mild, put("attempt/level", "self_reported")).verdict == "passed"


def test_a_pass_ends_with_the_evaluation_snapshot() -> None:
    decision = decide(POLICY, put("dataset/received_at", "2026-09-01T12:00:00Z"))
    assert decision.valid_until == NOW + timedelta(days=1)
    assert decide(POLICY).valid_until == NOW + timedelta(days=7)


def test_a_measurement_at_another_threshold_is_another_protocol() -> None:
    """Recall at threshold 0 is always 1."""
    policy = make_policy("auc-floor", head=HEAD.replace("protocol:\n", "protocol:\n  threshold: 0.01\n"))
    assert policy.protocol_digest != POLICY.protocol_digest
    facts = make_facts(policy)
    assert decide(policy, facts=facts).criteria[0].finding.code == "wrong_protocol"


def test_facts_of_a_namespace_without_statistics_say_which_records_were_read() -> None:
    (result,) = decide(POLICY, put("statistics/rows", 1)).criteria
    assert ("statistics", digest("statistics")) in result.finding.inputs
    (result,) = decide(POLICY, put("statistics", None)).criteria
    assert result.finding.inputs == ()


def test_criteria_that_measure_are_told_apart_from_those_that_do_not() -> None:
    kinds = {each.kind for each in make_policy().criteria if isinstance(each, MetricCriterion)}
    assert kinds == {"threshold", "comparison", "slices", "stability", "reproduction"}


def test_naive_times_are_refused() -> None:
    decision = decide(POLICY, put("statistics/received_at", "2026-11-28T12:00:00"))
    assert decision.criteria[0].finding.code == "unreadable"
    with pytest.raises(ValueError, match="now must be aware"):
        decide(POLICY, now=NOW.replace(tzinfo=None))


def test_a_metric_that_was_not_measured_is_no_value() -> None:
    assert found(drop("statistics/metrics/roc_auc")) == ("error", "not_measured", "block")


def test_a_snapshot_without_an_age_limit_does_not_age() -> None:
    policy = make_policy("auc-floor", head=HEAD.replace(" maxAge: P90D,", ""))
    decision = decide(policy, put("dataset/received_at", "2001-01-01T00:00:00Z"))
    assert decision.verdict == "passed"
    assert decision.valid_until == NOW + timedelta(days=7)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            [put("statistics/disjointness/status", "overlap"), put("statistics/disjointness/overlap", 3)],
            "Evaluation and training data share 3 examples.",
        ),
        (
            [put("statistics/disjointness/status", "overlap"), put("statistics/disjointness/overlap", 1)],
            "Evaluation and training data share 1 example.",
        ),
        (
            [put("statistics/disjointness/status", "overlap"), put("statistics/disjointness/overlap", None)],
            "Evaluation and training data share examples.",
        ),
        (
            [put("attempt/level", "self_reported")],
            "The attempt has the level self reported; the policy asks for trusted runner.",
        ),
        (
            [put("attempt/config", OTHER)],
            f"The attempt used another evaluation config: {OTHER[:19]}… instead of {digest('config')[:19]}….",
        ),
        (
            [put("attempt/candidate", OTHER)],
            f"The attempt used another artifact: {OTHER[:19]}… instead of {digest('artifact')[:19]}….",
        ),
        ([put("attempt/state", "open")], "The attempt is still open."),
        (
            [put("dataset", None)],
            f"The evaluation snapshot {digest('eval')[:19]}… is not recorded.",
        ),
        (
            [put("dataset/digest", OTHER)],
            f"The evaluation snapshot is {OTHER[:19]}…; the policy asks for {digest('eval')[:19]}….",
        ),
        (
            [put("dataset/dataset", "team-a/other")],
            "The evaluation snapshot is recorded under the data set team-a/other; the policy calls it "
            "fraud-eval-2026q4, and protocol.dataset.id must be the recorded name.",
        ),
        (
            [put("statistics/rows", 30_000)],
            "30,000 rows were evaluated, the evaluation snapshot has 40,000; whoever picks the rows picks the result.",
        ),
        (
            [put("statistics/outcome", "error")],
            "The worker could not compute: no reason given.",
        ),
        ([put("statistics/rows", 2)], "Only 2 rows were evaluated; the policy asks for 20,000."),
        ([put("attempt/number", 0)], "The number of the attempt is 0, which lies outside 1 to 9.0072e+15."),
        ([put("attempt/state", "abandoned")], "The attempt was abandoned without a result."),
        ([put("statistics/rows", 1)], "Only 1 row was evaluated; the policy asks for 20,000."),
        (
            [put("dataset/received_at", "2026-08-01T00:00:00Z")],
            "The evaluation snapshot is older than 90 days.",
        ),
    ],
)
def test_what_is_wrong_with_a_measurement_is_said_in_a_sentence(changes: list[Any], sentence: str) -> None:
    assert decide(POLICY, *changes).criteria[0].finding.sentence == sentence
