"""Policies as their authors write them, and what they are told when something is wrong."""

import pytest

from gates.documents.problems import DocumentError
from gates.release.criteria.slices import Slices
from gates.release.loading import load_policy, policy_digests
from shipworthy.formats.digests import sha256_digest
from tests.gates.release.policies import CRITERIA, HEAD, WAIVERS, digest, make_policy, policy_text


def problems(data: bytes) -> list[tuple[int, str, str]]:
    with pytest.raises(DocumentError) as refused:
        load_policy(data)
    return [(each.line, each.pointer, each.message) for each in refused.value.problems]


def changed(old: str, new: str) -> bytes:
    text = policy_text().decode()
    assert text.count(old) == 1, old
    return text.replace(old, new).encode()


def test_a_policy_is_read_as_it_is_written() -> None:
    policy = make_policy()
    assert (policy.name, policy.version, policy.model, policy.to) == (
        "fraud-classifier-champion",
        7,
        "fraud-classifier",
        "champion",
    )
    assert [each.id for each in policy.criteria] == list(CRITERIA)
    assert policy.valid_for.days == 7
    slices = policy.criteria[4]
    assert isinstance(slices, Slices)
    # YAML 1.1 reads the country NO as false.
    assert slices.expected == ("DE", "NO", "SE")


def test_a_policy_has_a_digest_of_its_bytes_and_one_of_its_document() -> None:
    data = policy_text()
    respaced = data.replace(b"min: 0.900", b"min:   0.9")
    first, second = load_policy(data), load_policy(respaced)
    assert first.digest == sha256_digest(data)
    assert policy_digests(data) == (first.digest, first.document_digest)
    assert first.digest != second.digest
    assert first.document_digest == second.document_digest
    other = load_policy(data.replace(b"min: 0.900", b"min: 0.901"))
    assert other.document_digest != first.document_digest


def test_a_policy_may_be_json_too() -> None:
    data = (
        '{"apiVersion": "shipworthy/v1", "kind": "ReleaseGate",\n'
        ' "metadata": {"name": "g", "version": 1, "owner": "team", "reason": "first"},\n'
        ' "appliesTo": {"model": "m", "to": "registration", "validFor": "PT12H"},\n'
        ' "criteria": [{"id": "restore", "kind": "evidence", "evidence": "checkpoint-restore", "severity": "block"}]}'
    )
    policy = load_policy(data.encode(), "json")
    assert policy.valid_for.total_seconds() == 12 * 3600
    assert (policy.protocol, policy.protocol_digest) == (None, None)


@pytest.mark.parametrize(
    ("old", "new", "line", "pointer", "message"),
    [
        ("version: 7,", 'version: "7",', 3, "/metadata/version", "whole number, without quotes"),
        ("version: 7,", "version: 0,", 3, "/metadata/version", "must be greater than or equal to 1"),
        ("version: 7, ", "", 3, "/metadata/version", "is missing; write it"),
        ("owner: team-risk", "owner: 12", 3, "/metadata/owner", "must be text; put it in quotes"),
        ("owner: team-risk", "ownr: team-risk", 3, "/metadata/ownr", "did you mean owner?"),
        ("validFor: P7D", "validFor: 7 days", 4, "/appliesTo/validFor", "write it like P7D"),
        ("validFor: P7D", "validFor: P1M", 4, "/appliesTo/validFor", "write it like P7D"),
        ("validFor: P7D", "validFor: P0D", 4, "/appliesTo/validFor", "longer than nothing"),
        ("validFor: P7D", "validFor: 7", 4, "/appliesTo/validFor", "must be a duration such as P7D"),
        (digest("evaluator"), "evaluator:latest", 6, "/protocol/evaluator", "never a tag or an alias"),
        (
            "onNone: first-release",
            "onNone: pass",
            10,
            "/protocol/incumbent/onNone",
            "'first-release' or 'block'",
        ),
        ("alpha: 0.05", "alpha: 0", 11, "/protocol/attempts/alpha", "must be greater than 0"),
        ("alpha: 0.05", "alpha: 0.21", 11, "/protocol/attempts/alpha", "must be less than or equal to 0.2"),
        ("budget: 10", "budget: 1001", 11, "/protocol/attempts/budget", "must be less than or equal to 1000"),
        ("alpha: 0.05", "alpha: .nan", 11, "/protocol/attempts/alpha", "must be a number, without quotes"),
        ("alpha: 0.05", "alpha: true", 11, "/protocol/attempts/alpha", "must be a number, without quotes"),
        (
            "kind: threshold, metric: roc_auc",
            "kind: score, metric: roc_auc",
            13,
            "/criteria/0",
            "write kind: and one of threshold, comparison, slices, stability, reproduction, evidence, artifact, "
            "provenance, review",
        ),
        ("min: 0.900", "min: .inf", 13, "/criteria/0/min", "must be a number"),
        (
            "min: 0.900, use: lower",
            "minimum: 0.900, use: lower",
            13,
            "/criteria/0/minimum",
            "no member of a policy",
        ),
        ("id: auc-floor", "id: AUC floor", 13, "/criteria/0/id", "short name of lower-case letters"),
        ("metric: log_loss", "metric: Log-Loss", 14, "/criteria/1/metric", "such as roc_auc"),
        ('["DE", "NO", "SE"]', "[]", 17, "/criteria/4/expected", "must not be empty"),
        ('["DE", "NO", "SE"]', "DE", 17, "/criteria/4/expected", "must be a list"),
        ('["DE", "NO", "SE"]', "[true]", 17, "/criteria/4/expected/0", "must be text"),
        (
            "to: champion, validFor",
            "to: the champion, validFor",
            4,
            "/appliesTo/to",
            "must be one line of at most 256 letters",
        ),
        ("gitClean: true", "gitClean: false", 24, "/criteria/11/gitClean", "must be True"),
    ],
)
def test_each_problem_has_its_line_its_place_and_a_fix(
    old: str, new: str, line: int, pointer: str, message: str
) -> None:
    told = {(at, place): text for at, place, text in problems(changed(old, new))}
    assert message in told[line, pointer]
    assert len(told) <= 2


def test_all_problems_are_told_at_once_by_line() -> None:
    text = policy_text().decode().replace("version: 7,", "version: 0,").replace("min: 0.900", "min: high")
    assert [line for line, _, _ in problems(text.encode())] == [3, 13]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (b"", 1, "is empty"),
        (b"- a\n", 1, "is no policy"),
        (b"a: 1\na: 2\n", 2, "stands already on line 1"),
        (b"a: 9007199254740993\n", 1, "write it as text, in quotes"),
    ],
)
def test_what_is_no_policy_document_is_refused(text: bytes, line: int, message: str) -> None:
    found, _, told = problems(text)[0]
    assert found == line
    assert message in told


def test_an_empty_policy_is_refused() -> None:
    """Great Expectations passes an empty suite, and `all()` of nothing is true."""
    found = problems(f"{HEAD}criteria: []\n".encode())
    assert [(place, message) for _, place, message in found] == [
        ("/criteria", "must not be empty; write at least one")
    ]


def test_a_policy_that_can_only_warn_is_refused() -> None:
    found = problems(policy_text({"latency": CRITERIA["latency"].replace("review", "warn")}, waivers=""))
    assert [(place, message) for _, place, message in found] == [
        ("/criteria", "can't stop anything: give at least one criterion severity block or review")
    ]


def test_two_criteria_of_one_id_are_refused() -> None:
    text = policy_text().decode().replace("id: loss", "id: auc-floor")
    ((line, place, message),) = problems(text.encode())
    assert (line, place) == (14, "/criteria/1/id")
    assert message == "'auc-floor' is already the id of criterion 1; choose another one"


def test_a_policy_that_measures_needs_a_protocol() -> None:
    head = HEAD[: HEAD.index("protocol:")]
    ((_, place, message),) = problems(
        policy_text({"auc-floor": CRITERIA["auc-floor"]}, head=head, waivers="")
    )
    assert (place, message) == ("", "has no protocol, by which 'auc-floor' would be measured; write one")
    about = "kind: evidence, evidence: bias, about: evaluation-data, severity: block"
    ((_, place, message),) = problems(policy_text({"bias": about}, head=head, waivers=""))
    assert (place, message) == (
        "/criteria/0/about",
        "the policy has no protocol that names the evaluation data; write one",
    )


@pytest.mark.parametrize(
    ("allowed", "message"),
    [("nothing", "'nothing' is the id of no criterion"), ("sign-off", "is a review, which can't be waived")],
)
def test_only_criteria_that_people_may_waive_are_waivable(allowed: str, message: str) -> None:
    found = problems(policy_text(waivers=WAIVERS.replace("bias", allowed)))
    assert [place for _, place, _ in found] == ["/waivers/allowed/1"]
    assert message in found[0][2]
