"""evidence: reports that somebody attested."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from gates.release.results import CriterionResult
from tests.gates.release.passing import NOW, Body
from tests.gates.release.policies import digest, make_policy
from tests.gates.release.scenes import decide, put

CONTRACT, RESTORE, BIAS = 0, 1, 2


def judged(name: str, *changes: Any, **rules: str) -> CriterionResult:
    policy = make_policy("contract", "restore", "bias", "auc-floor", **rules)
    return next(each for each in decide(policy, *changes).criteria if each.id == name)


def found(name: str, *changes: Any, **rules: str) -> tuple[str, str | None]:
    result = judged(name, *changes, **rules)
    return result.outcome, result.finding.code


def report(facts: Body, at: int, **changed: object) -> Body:
    again: Body = facts["evidence"][at] | {"record": digest(f"another report {changed}")} | changed
    return again


def adding(at: int, *, before: bool = False, **changed: Any) -> Any:
    def change(facts: Body) -> None:
        facts["evidence"].insert(0 if before else len(facts["evidence"]), report(facts, at, **changed))

    return change


def test_a_report_that_passed_counts_until_it_is_too_old() -> None:
    result = judged("restore")
    assert (result.outcome, result.finding.code) == ("passed", None)
    assert result.finding.good_until == (datetime.fromisoformat("2026-12-05T12:00:00+00:00"),)
    assert result.finding.inputs == (("evidence", digest(f"report checkpoint-restore {digest('artifact')}")),)
    assert result.finding.parts == ()
    assert result.finding.sentence == (
        "The checkpoint-restore report of 2026-11-28 12:00 UTC passed, and counts until 2026-12-05 12:00 UTC."
    )


@pytest.mark.parametrize(
    ("member", "value", "outcome"),
    [
        ("outcome", "failed", ("failed", None)),
        ("outcome", "error", ("error", "evidence_error")),
        ("revoked", True, ("error", "no_evidence")),
        ("kind", "protected-population", ("error", "no_evidence")),
        ("subject", digest("other"), ("error", "no_evidence")),
        ("level", "self_reported", ("error", "level_too_low")),
        ("expires_at", "2026-11-29T12:00:00Z", ("error", "expired")),
        ("expires_at", "2026-11-29T12:00:01Z", ("passed", None)),
        ("expires_at", None, ("passed", None)),
        ("produced_at", "2026-11-22T12:00:00Z", ("error", "stale")),
        ("produced_at", "2026-11-22T12:00:01Z", ("passed", None)),
        ("produced_at", "2026-11-29T12:00:01Z", ("error", "future")),
        ("received_at", "2026-11-22T12:00:00Z", ("error", "stale")),
        ("received_at", "2026-11-29T12:00:01Z", ("error", "future")),
        ("produced_at", "2026-11-29T12:00:00Z", ("passed", None)),
        ("received_at", "2026-11-29T12:00:00Z", ("passed", None)),
        ("level", "server_run", ("passed", None)),
    ],
)
def test_what_is_no_good_report_does_not_pass(
    member: str, value: object, outcome: tuple[str, str | None]
) -> None:
    assert found("restore", put(f"evidence/{RESTORE}/{member}", value)) == outcome


def test_a_report_that_does_not_count_is_named_all_the_same() -> None:
    result = judged("restore", put(f"evidence/{RESTORE}/outcome", "failed"))
    assert result.finding.inputs == (("evidence", digest(f"report checkpoint-restore {digest('artifact')}")),)
    assert result.finding.sentence == "The checkpoint-restore report of 2026-11-28 12:00 UTC says: failed."


def test_the_newest_report_counts() -> None:
    newer = "2026-11-29T11:00:00Z"
    failed: Body = {"outcome": "failed", "received_at": newer}
    assert found("restore", adding(RESTORE, **failed))[0] == "failed"
    assert found("restore", adding(RESTORE, before=True, **failed))[0] == "failed"
    older = put(f"evidence/{RESTORE}/outcome", "failed")
    assert found("restore", older, adding(RESTORE, outcome="passed", received_at=newer))[0] == "passed"
    same: Body = {"outcome": "failed"}
    assert found("restore", adding(RESTORE, **same))[0] == "failed"
    assert found("restore", adding(RESTORE, before=True, **same))[0] == "failed"


def test_a_failure_counts_whoever_tells_it_and_a_pass_only_from_who_may() -> None:
    """Re-verification fails: the model is no longer promotable."""
    newer: Body = {"level": "self_reported", "received_at": "2026-11-29T11:00:00Z"}
    assert found("restore", adding(RESTORE, outcome="failed", **newer))[0] == "failed"
    failed = put(f"evidence/{RESTORE}/outcome", "failed")
    assert found("restore", failed, adding(RESTORE, outcome="passed", **newer))[0] == "failed"


def test_a_restore_of_the_checkpoint_speaks_for_the_artifact() -> None:
    checkpoint = put(f"evidence/{RESTORE}/subject", digest("checkpoint"))
    assert found("restore", checkpoint) == ("passed", None)
    assert found("restore", checkpoint, put("artifact/checkpoint", None)) == ("error", "no_evidence")
    assert found("restore", adding(RESTORE, subject=digest("checkpoint"), outcome="failed"))[0] == "failed"
    broken = adding(RESTORE, subject=digest("checkpoint"), outcome="error")
    assert found("restore", broken) == ("error", "evidence_error")


@pytest.mark.parametrize(
    ("about", "subject"),
    [
        ("artifact", "artifact"),
        ("checkpoint", "checkpoint"),
        ("evaluation-data", "eval"),
        ("training-data", "train"),
    ],
)
def test_a_policy_may_say_what_a_report_is_about(about: str, subject: str) -> None:
    rules = {"bias": f"kind: evidence, evidence: protected-population, about: {about}, severity: block"}
    named = put(f"evidence/{BIAS}/subject", digest(subject))
    assert found("bias", named, **rules) == ("passed", None)
    wrong = put(f"evidence/{BIAS}/subject", digest("other"))
    assert found("bias", wrong, **rules) == ("error", "no_evidence")


def test_a_report_about_a_checkpoint_needs_one() -> None:
    rules = {"bias": "kind: evidence, evidence: protected-population, about: checkpoint, severity: block"}
    assert found("bias", put("artifact/checkpoint", None), **rules) == ("error", "no_checkpoint")


def test_all_training_data_needs_a_contract_check() -> None:
    """A check of some other data says nothing."""

    def more_data(facts: Body) -> None:
        facts["training_run"]["snapshots"].append(
            facts["training_run"]["snapshots"][0] | {"digest": digest("train 2"), "role": "validation"}
        )
        facts["statistics"]["disjointness"]["training"].append(digest("train 2"))

    result = judged("contract", more_data)
    assert (result.outcome, result.finding.code) == ("error", "no_evidence")
    assert [part.outcome for part in result.finding.parts] == ["error", "passed"]
    assert result.finding.sentence.endswith("(2 subjects)")
    both = judged("contract", more_data, adding(CONTRACT, subject=digest("train 2")))
    assert both.outcome == "passed"
    assert len(both.finding.inputs) == 2
    assert found("contract", put(f"evidence/{CONTRACT}/subject", digest("eval")))[0] == "error"


@pytest.mark.parametrize(
    ("member", "value", "code"),
    [
        ("checks", 9, "too_few"),
        ("checks", 0, "too_few"),
        ("checks", None, "no_number"),
        ("checks", True, "no_number"),
        ("rows", 999, "too_few"),
        ("rows", 0, "too_few"),
        ("rows", None, "no_number"),
        ("rows", float("nan"), "no_number"),
    ],
)
def test_a_contract_check_of_nothing_does_not_pass(member: str, value: object, code: str) -> None:
    """Great Expectations passes an empty suite and an empty table."""
    assert found("contract", put(f"evidence/{CONTRACT}/{member}", value)) == ("error", code)


def test_a_contract_check_that_just_covers_enough_passes() -> None:
    enough = put(f"evidence/{CONTRACT}/checks", 10), put(f"evidence/{CONTRACT}/rows", 1000)
    assert found("contract", *enough) == ("passed", None)
    assert found("contract", put(f"evidence/{CONTRACT}/level", "trusted_runner")) == (
        "error",
        "level_too_low",
    )


def test_an_empty_list_of_evidence_passes_nothing() -> None:
    policy = make_policy("contract", "restore", "bias")
    decision = decide(policy, put("evidence", []))
    assert [each.finding.code for each in decision.criteria] == ["no_evidence"] * 3
    assert decision.verdict == "blocked"


def test_a_pass_ends_with_the_first_report_that_ends() -> None:
    policy = make_policy("restore", "bias")
    assert decide(policy).valid_until == datetime.fromisoformat("2026-12-05T12:00:00+00:00")
    soon = (NOW + timedelta(hours=1)).isoformat()
    assert decide(policy, put("evidence/2/expires_at", soon)).valid_until == NOW + timedelta(hours=1)
    endless = "kind: evidence, evidence: protected-population, severity: block"
    assert decide(
        make_policy("bias", bias=endless), put("evidence/2/expires_at", None)
    ).valid_until == NOW + timedelta(days=7)


def test_of_two_good_restores_the_one_of_the_artifact_itself_is_named() -> None:
    result = judged("restore", adding(RESTORE, subject=digest("checkpoint")))
    assert result.finding.inputs == (("evidence", digest(f"report checkpoint-restore {digest('artifact')}")),)


@pytest.mark.parametrize(
    ("member", "value", "sentence"),
    [
        ("checks", 9, "The data-contract report covers 9 checks; the policy asks for 10."),
        ("checks", 1, "The data-contract report covers 1 check; the policy asks for 10."),
        ("rows", 999, "The data-contract report covers 999 rows; the policy asks for 1,000."),
        ("rows", None, "The number of rows of the data-contract report has no value."),
        ("checks", None, "The number of checks of the data-contract report has no value."),
        ("outcome", "error", "The data-contract report of 2026-11-28 12:00 UTC ended with an error."),
        ("produced_at", "2026-12-01T00:00:00Z", "The data-contract report has a time that is yet to come."),
        ("expires_at", "2026-11-29T00:00:00Z", "The data-contract report expired at 2026-11-29 00:00 UTC."),
        (
            "produced_at",
            "2026-10-01T00:00:00Z",
            "The data-contract report of 2026-10-01 00:00 UTC is older than 30 days.",
        ),
        (
            "level",
            "trusted_runner",
            "The data-contract report has the level trusted runner; the policy asks for server run.",
        ),
        (
            "subject",
            digest("other"),
            f"There is no data-contract report for {digest('train')[:19]}….",
        ),
    ],
)
def test_what_is_wrong_with_a_report_is_said_in_a_sentence(member: str, value: object, sentence: str) -> None:
    assert judged("contract", put(f"evidence/{CONTRACT}/{member}", value)).finding.sentence == sentence


def test_of_several_subjects_without_a_good_report_the_first_gives_the_reason() -> None:
    def more_data(facts: Body) -> None:
        facts["training_run"]["snapshots"].append(
            facts["training_run"]["snapshots"][0] | {"digest": digest("train 2")}
        )

    few = put(f"evidence/{CONTRACT}/checks", 9)
    result = judged("contract", more_data, few)
    assert (result.outcome, result.finding.code) == ("error", "too_few")
    assert [part.outcome for part in result.finding.parts] == ["error", "error"]
    assert result.finding.inputs == (("evidence", digest(f"report data-contract {digest('train')}")),)
