"""Criteria that could not do their work, and what their author is told."""

import pytest

from gates.documents.problems import DocumentError
from gates.release.combining import combined
from gates.release.loading import load_policy
from gates.release.numbers import Unusable
from gates.release.policy import Policy
from tests.gates.release.policies import CRITERIA, make_policy, policy_text


def with_criterion(rest: str) -> list[tuple[str, str]]:
    """What is wrong with a criterion beside the others, without the lines."""
    with pytest.raises(DocumentError) as refused:
        load_policy(policy_text(CRITERIA | {"new": rest}))
    found = refused.value.problems
    assert all(each.pointer.startswith("/criteria/13") for each in found)
    return [(each.pointer.removeprefix("/criteria/13").removeprefix("/"), each.message) for each in found]


@pytest.mark.parametrize(
    ("rest", "place", "message"),
    [
        ("kind: threshold, metric: roc_auc, severity: block", "kind", "has no bound; write min, max or both"),
        (
            "kind: threshold, metric: roc_auc, min: 0.9, max: 0.8, severity: block",
            "min",
            "is more than max, so that nothing passes; write at most 0.8",
        ),
        (
            "kind: threshold, metric: log_loss, max: 0.8, use: lower-confidence-bound, severity: block",
            "use",
            "a max is held against the upper bound; leave `use` out, or remove max",
        ),
        (
            "kind: threshold, metric: roc_auc, min: 0.8, use: upper-confidence-bound, severity: block",
            "use",
            "a min is held against the lower bound; leave `use` out, or remove min",
        ),
        ("kind: threshold, metric: gini, min: 0.8, severity: block", "metric", "no worker computes 'gini'"),
        (
            "kind: threshold, metric: r2, min: 0.8, severity: block",
            "metric",
            "r2 is no metric of a binary task; see protocol.task",
        ),
        (
            "kind: threshold, metric: roc_auc, min: 0.8, onInconclusive: block, severity: review",
            "onInconclusive",
            "losing the evidence would help; make severity 'block', or this 'review'",
        ),
        (
            "kind: comparison, metric: roc_auc, better: lower, test: superiority, severity: block",
            "better",
            "higher is better for roc_auc; write better: higher",
        ),
        (
            "kind: comparison, metric: roc_auc, better: higher, test: non-inferiority, severity: block",
            "test",
            "non-inferiority needs a margin; write for example margin: 0.005",
        ),
        (
            "kind: comparison, metric: roc_auc, better: higher, test: relative, severity: block",
            "test",
            "relative needs a maxRegression",
        ),
        (
            "kind: comparison, metric: roc_auc, better: higher, test: absolute, maxRegression: 0.1, margin: 0.1, "
            "severity: block",
            "margin",
            "absolute has no margin; write maxRegression",
        ),
        (
            "kind: comparison, metric: roc_auc, better: higher, test: non-inferiority, margin: 0, severity: block",
            "margin",
            "a margin of 0 can't be shown",
        ),
        (
            "kind: comparison, metric: roc_auc, better: higher, test: relative, maxRegression: 1, severity: block",
            "maxRegression",
            "is a share of the incumbent's value; write 0.10 for 10 %",
        ),
        (
            "kind: comparison, metric: roc_auc, better: higher, test: superiority, use: estimate, severity: block",
            "use",
            "superiority is shown by an interval",
        ),
        (
            "kind: slices, metric: recall, dimension: country, expected: [DE], severity: block",
            "kind",
            "has no limit; write floor, maxRegression or both",
        ),
        (
            "kind: slices, metric: recall, dimension: country, expected: [DE, SE, DE], floor: 0.5, severity: block",
            "expected",
            "names DE twice",
        ),
        (
            "kind: slices, metric: log_loss, dimension: country, expected: [DE], floor: 0.5, severity: block",
            "metric",
            "log_loss is not one of which more is better",
        ),
        (
            "kind: slices, metric: recall, dimension: country, expected: [DE], floor: 0.5, onTooSmall: block, "
            "severity: warn",
            "onTooSmall",
            "losing the evidence would help",
        ),
        (
            "kind: stability, metric: roc_auc, runs: 4, maxCv: 0.1, severity: block",
            "runs",
            "fewer than 5 runs",
        ),
        ("kind: stability, metric: roc_auc, runs: 5, severity: block", "kind", "has no limit; write maxCv"),
        (
            "kind: evidence, evidence: data-contract, severity: block",
            "evidence",
            "a contract without checks passes any data; write minimumChecks: 1 or more",
        ),
        ("kind: evidence, severity: block", "evidence", "is missing; write it"),
        ("kind: evidence, evidence: 5, severity: block", "evidence", "must be text; put it in quotes"),
        ("kind: threshold, metric: roc_auc, min: 0.9", "severity", "is missing; write it"),
        (
            "kind: threshold, metric: roc_auc, min: 0.9, onInconclusiv: warn, severity: block",
            "onInconclusiv",
            "did you mean onInconclusive?",
        ),
        ("kind: artifact, severity: block", "kind", "asks for nothing"),
        ("kind: provenance, snapshotGrade: none, severity: block", "snapshotGrade", "none asks for nothing"),
        (
            "kind: review, approvals: 1, roles: [r], excluding: [trainer], expiresAfter: P1D, severity: block",
            "excluding",
            "add policy-author and waiver-grantor",
        ),
        (
            "kind: review, approvals: 1, roles: [r], expiresAfter: P1D, severity: warn",
            "severity",
            "must be 'block'",
        ),
        (
            "kind: review, approvals: 11, roles: [r], expiresAfter: P1D, severity: block",
            "approvals",
            "must be less than or equal to 10",
        ),
        (
            "kind: review, approvals: 0, roles: [r], expiresAfter: P1D, severity: block",
            "approvals",
            "equal to 1",
        ),
    ],
)
def test_a_criterion_that_could_not_do_its_work_is_refused(rest: str, place: str, message: str) -> None:
    found = with_criterion(rest)
    assert [each for each, _ in found] == [place]
    assert message in found[0][1]


@pytest.mark.parametrize(
    "rest",
    [
        "kind: threshold, metric: roc_auc, min: 0.8, max: 0.9, severity: block",
        "kind: threshold, metric: roc_auc, min: 0.8, max: 0.8, severity: block",
        "kind: threshold, metric: roc_auc, min: 0.8, onInconclusive: warn, severity: review",
        "kind: comparison, metric: roc_auc, better: higher, test: superiority, severity: block",
        "kind: comparison, metric: p50_latency_ms, better: higher, test: absolute, maxRegression: 5, severity: warn",
        "kind: comparison, metric: roc_auc, better: higher, test: absolute, use: estimate, maxRegression: 0, "
        "severity: block",
        "kind: stability, metric: roc_auc, runs: 5, maxSd: 0.1, severity: block",
        "kind: provenance, severity: block",
        "kind: review, approvals: 1, roles: [r], expiresAfter: P1D, severity: block",
        "kind: evidence, evidence: data-contract, minimumChecks: 1, severity: block",
    ],
)
def test_a_criterion_may_leave_out_what_it_does_not_need(rest: str) -> None:
    assert isinstance(load_policy(policy_text(CRITERIA | {"new": rest})), Policy)


def test_a_criterion_of_which_nothing_was_judged_has_not_passed() -> None:
    with pytest.raises(Unusable, match="nothing to judge"):
        combined(make_policy().criteria[0], [])
