"""What an author is told about a policy before it is published."""

import pytest

from gates.release.criteria.slices import Slices
from gates.release.linting import lint, slice_chances
from gates.release.spending import spent_alpha
from gates.release.statistics_facts import Statistics
from tests.gates.release.passing import make_facts
from tests.gates.release.policies import CRITERIA, HEAD, make_policy

RULES = CRITERIA["recall-by-country"]


def notes(*ids: str, **changed: str) -> list[tuple[str, str, str]]:
    policy = make_policy(*ids, waivers="", **changed)
    return [(each.pointer, each.severity, each.message) for each in lint(policy)]


def slices_of(rules: str) -> Slices:
    (criterion,) = make_policy("recall-by-country", waivers="", recall_by_country=rules).criteria
    assert isinstance(criterion, Slices)
    return criterion


def test_each_slice_has_the_chance_that_an_unchanged_model_passes() -> None:
    found = notes("recall-by-country", "sign-off")
    assert [(place, severity) for place, severity, _ in found] == [
        ("/criteria/0/expected/0", "info"),
        ("/criteria/0/expected/1", "info"),
        ("/criteria/0/expected/2", "info"),
        ("/criteria/0/maxRegression", "info"),
    ]
    # SE = √(0.05/1500) = 0.00577, z = 1.875: Φ(0.02/0.00577 − 1.875) = Φ(1.589).
    assert found[1][2] == (
        "country=NO: an unchanged model is shown to be no more than 0.02 worse in 94% of first attempts, when two such "
        "models disagree on 5% of the smallest slice allowed"
    )
    assert found[3][2] == "an unchanged model passes all 3 slices in about 84% of first attempts"


def test_slices_that_would_block_an_unchanged_model_are_a_warning() -> None:
    """Twenty slices of 200 rows and a drop of 2 points."""
    many = ", ".join(f"c{at}" for at in range(20))
    rules = RULES.replace('"DE", "NO", "SE"', many).replace("1500", "200")
    found = notes("recall-by-country", "sign-off", recall_by_country=rules)
    assert [severity for _, severity, _ in found] == ["warning"] * 21
    assert "in about 0% of first attempts; allow a larger maxRegression" in found[-1][2]


def test_measured_standard_errors_say_more_than_an_assumption() -> None:
    policy = make_policy("recall-by-country", "sign-off", waivers="")
    statistics = Statistics.model_validate(make_facts(policy)["statistics"])
    told = [each.message for each in lint(policy, statistics)]
    # Φ(0.02/0.004 − 1.875) = Φ(3.125).
    assert told[0].endswith("worse in 100% of first attempts, by the standard errors that were measured")
    slices = policy.criteria[0]
    assert isinstance(slices, Slices)
    alpha = spent_alpha(0.05, 1)
    assert slice_chances(slices, alpha, statistics)["NO"] == pytest.approx(0.99911, abs=1e-4)
    unusable = make_facts(policy)["statistics"]
    unusable["slices"][1]["differences"]["recall"]["standard_error"] = None
    unusable["slices"][2]["differences"]["recall"]["standard_error"] = 0
    chances = slice_chances(slices, alpha, Statistics.model_validate(unusable))
    assert chances["NO"] == pytest.approx(0.944, abs=1e-3)
    assert chances["SE"] == 1.0


def test_without_a_size_no_chance_is_known() -> None:
    rules = RULES.replace("minimumPositives: 1500, ", "")
    assert slice_chances(slices_of(rules), 0.03) == {"DE": None, "NO": None, "SE": None}
    found = notes("recall-by-country", "sign-off", recall_by_country=rules)
    assert [(place, severity) for place, severity, _ in found] == [("/criteria/0", "warning")]
    assert "has no minimumPositives or minimumRows" in found[0][2]


def test_a_floor_alone_has_no_chance_to_tell() -> None:
    rules = RULES.replace("maxRegression: 0.02, ", "")
    assert notes("recall-by-country", "sign-off", recall_by_country=rules) == []


@pytest.mark.parametrize(
    ("criterion", "rest"),
    [
        ("auc-floor", "kind: threshold, metric: roc_auc, min: 0.9, use: estimate, severity: block"),
        ("stable", "kind: stability, metric: roc_auc, runs: 5, maxCv: 0.1, use: estimate, severity: block"),
        (
            "latency",
            "kind: comparison, metric: roc_auc, better: higher, test: absolute, maxRegression: 0.1, use: estimate, "
            "severity: block",
        ),
    ],
)
def test_deciding_by_an_estimate_is_a_warning(criterion: str, rest: str) -> None:
    found = notes(criterion, "sign-off", **{criterion.replace("-", "_"): rest})
    assert [(place, severity) for place, severity, _ in found] == [("/criteria/0/use", "warning")]
    assert "passes half of the time" in found[0][2]


def test_taking_what_the_trainer_reports_is_a_warning() -> None:
    rest = "kind: threshold, metric: roc_auc, min: 0.9, level: self_reported, severity: block"
    assert notes("auc-floor", "sign-off", auc_floor=rest) == [
        ("/criteria/0/level", "warning", "takes what whoever trains the model reports about it")
    ]
    report = "kind: evidence, evidence: bias, maxAge: P1D, level: self_reported, severity: block"
    assert notes("bias", "sign-off", bias=report)[0][0] == "/criteria/0/level"


def test_a_report_without_an_age_is_a_warning() -> None:
    assert notes("bias", "sign-off", bias="kind: evidence, evidence: bias, severity: block") == [
        (
            "/criteria/0",
            "warning",
            "has no maxAge: a report that names no end counts for ever; write for example maxAge: P30D",
        )
    ]
    served = "kind: artifact, servingLoadTest: required, severity: block"
    assert notes("artifact", "sign-off", artifact=served)[0][:2] == ("/criteria/0", "warning")
    assert notes("artifact", "bias", "sign-off") == []


def test_a_review_that_nobody_may_give_is_a_warning() -> None:
    found = notes("reproduced", "bias")
    assert found[1] == (
        "/criteria",
        "warning",
        "reproduced can ask for a review, and no criterion of kind review says who gives it; add one",
    )
    assert found[0][0] == "/protocol/incumbent/onNone"
    assert notes("reproduced", "bias", "sign-off") == []


def test_a_first_release_that_triggers_no_review_is_a_warning() -> None:
    rules = CRITERIA["sign-off"].replace("first-release, ", "")
    assert notes("bias", "sign-off", sign_off=rules) == [
        (
            "/protocol/incumbent/onNone",
            "warning",
            "a first release asks for a review, but no review criterion has first-release among its triggers",
        )
    ]
    always = "kind: review, approvals: 1, roles: [r], expiresAfter: P1D, severity: block"
    assert notes("bias", "sign-off", sign_off=always) == []


def test_notes_are_in_the_order_of_the_lines() -> None:
    policy = make_policy()
    lines = [each.line for each in lint(policy)]
    assert lines == sorted(lines)
    assert all(line > 1 for line in lines)


def test_slices_of_enough_rows_have_a_chance_too() -> None:
    rules = RULES.replace("minimumPositives: 1500", "minimumRows: 1500")
    assert slice_chances(slices_of(rules), 0.03) == slice_chances(slices_of(RULES), 0.03)
    found = notes("recall-by-country", "sign-off", recall_by_country=rules)
    assert {severity for _, severity, _ in found} == {"info"}
    # Positives are the fewer, and what recall is measured on.
    both = RULES.replace("minimumPositives: 1500", "minimumPositives: 1500, minimumRows: 9000")
    assert slice_chances(slices_of(both), 0.03) == slice_chances(slices_of(RULES), 0.03)


def test_a_policy_without_a_protocol_has_no_first_release_to_warn_of() -> None:
    policy = make_policy("bias", head=HEAD[: HEAD.index("protocol:")], waivers="")
    assert lint(policy) == []
