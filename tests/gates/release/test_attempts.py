"""The budget of attempts on one evaluation snapshot, and what a later attempt has to show."""

from typing import Any

import pytest

from tests.gates.release.policies import digest, make_policy
from tests.gates.release.scenes import decide, put

POLICY = make_policy("auc-floor")


def extension(extra: object, *owners: str) -> dict[str, Any]:
    return {
        "records": [digest(f"extension by {owner}") for owner in owners],
        "extra": extra,
        "owners": list(owners),
        "reason": "a new quarter",
    }


def test_attempts_beyond_the_budget_block_whatever_the_severity() -> None:
    warning = make_policy(
        "bias", late="kind: threshold, metric: roc_auc, min: 0.5, severity: warn", waivers=""
    )
    late = put("attempt/number", 11), put("attempts/count", 11)
    decision = decide(warning, *late)
    result = next(each for each in decision.criteria if each.id == "late")
    assert (result.finding.code, result.effect, decision.verdict) == ("budget_spent", "block", "blocked")
    assert result.finding.sentence == "This is attempt 11 on an evaluation snapshot that allows 10."
    assert decide(warning, put("attempt/number", 10), put("attempts/count", 11)).verdict == "passed"


@pytest.mark.parametrize(
    ("extensions", "verdict"),
    [
        ([extension(1, "alan", "grace")], "passed"),
        ([extension(1, "alan")], "blocked"),
        ([extension(1, "alan", "alan")], "blocked"),
        ([extension(1, "alan", "grace") | {"records": []}], "blocked"),
        ([extension(0, "alan", "grace")], "blocked"),
        ([extension(True, "alan", "grace")], "blocked"),
    ],
)
def test_two_persons_can_allow_more_attempts(extensions: list[Any], verdict: str) -> None:
    late = put("attempt/number", 11), put("attempts/count", 11)
    decision = decide(POLICY, *late, put("attempts/extensions", extensions))
    assert decision.verdict == verdict
    if verdict == "passed":
        assert ("extension", digest("extension by alan")) in decision.inputs


def test_a_later_attempt_has_less_alpha_and_a_wider_interval() -> None:
    def interval(number: int) -> tuple[float, float]:
        (result,) = decide(POLICY, put("attempt/number", number), put("attempts/count", number)).criteria
        assert result.finding.interval is not None
        return result.finding.interval.low, result.finding.interval.high

    (low_1, high_1), (low_10, high_10) = interval(1), interval(10)
    assert low_10 < low_1 < high_1 < high_10
