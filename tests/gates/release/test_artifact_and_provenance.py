"""artifact and provenance: what will be shipped, and where it comes from."""

from datetime import datetime
from typing import Any

import pytest

from gates.release.results import CriterionResult
from tests.gates.release.passing import Body
from tests.gates.release.policies import digest, make_policy
from tests.gates.release.scenes import decide, drop, put


def judged(name: str, *changes: Any, **rules: str) -> CriterionResult:
    (result,) = decide(make_policy(name, waivers="", **rules), *changes).criteria
    return result


def outcomes(result: CriterionResult) -> dict[str, str]:
    return {part.name: part.outcome for part in result.finding.parts}


def test_an_artifact_that_keeps_everything_passes() -> None:
    result = judged("artifact")
    assert outcomes(result) == {
        "size": "passed",
        "serialization": "passed",
        "checksum": "passed",
        "serving load test": "passed",
    }
    assert result.finding.sentence == (
        "The artifact keeps what was asked of its size, serialization, checksum and serving load test."
    )
    assert [role for role, _ in result.finding.inputs] == ["artifact", "checksum", "evidence"]
    assert [end.isoformat() for end in result.finding.good_until] == ["2026-12-09T12:00:00+00:00"]


@pytest.mark.parametrize(
    ("change", "part", "outcome", "sentence"),
    [
        (
            put("artifact/size_bytes", 2_000_000_001),
            "size",
            "failed",
            "2,000,000,001 bytes; the limit is 2,000,000,000",
        ),
        (put("artifact/size_bytes", None), "size", "error", "The size of the artifact has no value."),
        (put("artifact/size_bytes", 0), "size", "error", "lies outside 1 to"),
        (put("artifact/serialization", "pickle"), "serialization", "failed", "takes safetensors or onnx"),
        (put("artifact/serialization", None), "serialization", "error", "is not recorded"),
        (put("artifact/checksum", None), "checksum", "error", "Nobody has read the artifact back"),
        (put("artifact/checksum/outcome", "failed"), "checksum", "failed", "not what its digest says"),
        (put("artifact/checksum/level", "self_reported"), "checksum", "error", "has the level self reported"),
        (put("artifact/checksum/at", "2026-11-29T12:00:01Z"), "checksum", "error", "yet to come"),
        (put("artifact/checksum/expires_at", "2026-11-29T12:00:00Z"), "checksum", "error", "counted until"),
        (put("evidence/3/outcome", "failed"), "serving load test", "failed", "says: failed"),
        (drop("evidence/3"), "serving load test", "error", "There is no serving-load-test report"),
        (
            put("evidence/3/produced_at", "2026-10-30T12:00:00Z"),
            "serving load test",
            "error",
            "older than 30 days",
        ),
    ],
)
def test_an_artifact_that_breaks_one_thing_is_told_by_it(
    change: Any, part: str, outcome: str, sentence: str
) -> None:
    result = judged("artifact", change)
    assert (result.outcome, result.effect) == (outcome, "block")
    assert {name for name, found in outcomes(result).items() if found != "passed"} == {part}
    assert result.finding.parts[0].name == part
    assert sentence in result.finding.sentence
    assert result.finding.code == ("incomplete" if outcome == "error" else None)


def test_what_just_keeps_its_limit_passes() -> None:
    assert judged("artifact", put("artifact/size_bytes", 2_000_000_000)).outcome == "passed"
    assert judged("artifact", put("artifact/size_bytes", 1)).outcome == "passed"
    assert judged("artifact", put("artifact/serialization", "onnx")).outcome == "passed"
    assert judged("artifact", put("artifact/checksum/at", "2026-11-29T12:00:00Z")).outcome == "passed"


def test_a_pass_ends_with_the_checksum_that_it_rests_on() -> None:
    result = judged("artifact", put("artifact/checksum/expires_at", "2026-11-29T12:00:01Z"))
    assert result.outcome == "passed"
    assert datetime.fromisoformat("2026-11-29T12:00:01+00:00") in result.finding.good_until


def test_a_failed_checksum_fails_whoever_tells_it() -> None:
    told = put("artifact/checksum/outcome", "failed"), put("artifact/checksum/level", "self_reported")
    assert judged("artifact", *told).outcome == "failed"


def test_only_what_is_asked_for_is_looked_at() -> None:
    size = "kind: artifact, maxBytes: 10, severity: block"
    assert list(outcomes(judged("artifact", put("artifact/size_bytes", 11), artifact=size))) == ["size"]
    checksum = "kind: artifact, checksum: required, severity: block"
    assert list(outcomes(judged("artifact", artifact=checksum))) == ["checksum"]
    served = "kind: artifact, servingLoadTest: required, level: server_run, severity: block"
    assert judged("artifact", artifact=served).finding.sentence.startswith("The serving-load-test report has")
    written = "kind: artifact, serialization: [onnx], severity: block"
    assert list(outcomes(judged("artifact", artifact=written))) == ["serialization"]


def test_provenance_that_keeps_everything_passes() -> None:
    result = judged("provenance")
    assert set(outcomes(result).values()) == {"passed"}
    assert (
        result.finding.sentence
        == "The run that made the artifact keeps what was asked of its owner, data, image and code."
    )
    assert result.finding.inputs == (("training_run", digest("run")), ("snapshot", digest("train record")))


@pytest.mark.parametrize(
    ("change", "outcome", "sentence"),
    [
        (put("training_run/owner", None), "error", "The training run names no owning person."),
        (put("training_run/image", None), "error", "is not known by its digest"),
        (put("training_run/image", digest("other")), "failed", "is not on the list of the policy"),
        (put("training_run/git", None), "error", "not known whether the code was committed"),
        (put("training_run/git/commit", None), "error", "not known whether the code was committed"),
        (put("training_run/git/dirty", None), "error", "not known whether the code was committed"),
        (put("training_run/git/dirty", True), "failed", "changes that were not committed"),
        (put("training_run/snapshots/0/revoked", True), "failed", "was revoked"),
        (put("training_run/snapshots/0/grade", "store"), "failed", "has the grade store, less than manifest"),
        (put("training_run/snapshots/0/grade", "none"), "failed", "has the grade none, less than manifest"),
    ],
)
def test_provenance_that_is_not_known_or_not_allowed_does_not_pass(
    change: Any, outcome: str, sentence: str
) -> None:
    result = judged("provenance", change)
    assert (result.outcome, result.effect) == (outcome, "block")
    assert sentence in result.finding.sentence
    assert result.finding.code == ("incomplete" if outcome == "error" else None)
    first = result.finding.parts[0]
    assert (first.outcome, first.name.split()[0] in {"owner", "image", "code", "data"}) == (outcome, True)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (put("training_run", None), "no_training_run"),
        (put("training_run/snapshots", []), "no_training_data"),
        (put("training_run/snapshots/0/role", "tokenizer"), "no_training_data"),
    ],
)
def test_an_artifact_from_nowhere_does_not_pass(change: Any, code: str) -> None:
    assert judged("provenance", change).finding.code == code


def test_a_grade_that_is_strong_enough_passes() -> None:
    assert judged("provenance", put("training_run/snapshots/0/grade", "manifest")).outcome == "passed"


def add_input(role: str, **changed: object) -> Any:
    def change(facts: Body) -> None:
        first = facts["training_run"]["snapshots"][0]
        other = first | {"role": role, "digest": digest(role), "record": digest(f"{role} record")} | changed
        facts["training_run"]["snapshots"].append(other)

    return change


def test_a_base_model_may_have_any_grade_and_must_not_be_revoked() -> None:
    assert judged("provenance", add_input("base_model", grade="none")).outcome == "passed"
    assert judged("provenance", add_input("base_model", revoked=True)).outcome == "failed"
    assert ("snapshot", digest("base_model record")) in judged(
        "provenance", add_input("base_model")
    ).finding.inputs
    assert judged("provenance", add_input("test", grade="none", revoked=True)).outcome == "passed"
    assert judged("provenance", add_input("validation", grade="none")).outcome == "failed"


def test_without_demands_provenance_is_a_known_run_and_data_that_stands() -> None:
    plain = "kind: provenance, severity: block"
    bare = put("training_run/git", None), put("training_run/image", None)
    assert judged("provenance", *bare, provenance=plain).outcome == "passed"
    assert judged("provenance", put("training_run/owner", None), provenance=plain).outcome == "error"
