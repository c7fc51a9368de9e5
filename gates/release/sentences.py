"""The sentence that a decision opens with."""

from collections.abc import Sequence
from datetime import datetime

from gates.release.policy import Policy
from gates.release.results import CriterionResult
from gates.release.texts import day, joined
from shipworthy.formats.decision_rule import Verdict


def verdict_sentence(
    policy: Policy, results: Sequence[CriterionResult], verdict: Verdict, valid_until: datetime
) -> str:
    """Such as "May not ship as champion: 2 failed, 1 has no value, 1 needs review." """
    place = f"as {policy.to}" if policy.to != "registration" else "as a new version"
    if verdict == "passed":
        passed = sum(result.outcome == "passed" for result in results)
        return f"May ship {place} until {day(valid_until)}: {passed} of {len(results)} passed{_but(results)}."
    opening = "May not ship" if verdict == "blocked" else "May ship after review"
    return f"{opening} {place}: {joined(_against(results))}."


def _against(results: Sequence[CriterionResult]) -> list[str]:
    open_results = [result for result in results if result.effect in ("review", "block")]
    words = (
        ("failed", [r for r in open_results if r.outcome == "failed"]),
        ("without a value", [r for r in open_results if r.outcome == "error" and r.state != "unmet"]),
        ("inconclusive", [r for r in open_results if r.outcome == "inconclusive"]),
        ("waiting for review", [r for r in open_results if r.state == "unmet"]),
    )
    return [f"{len(found)} {word}" for word, found in words if found]


def _but(results: Sequence[CriterionResult]) -> str:
    words = (
        ("waived", [r for r in results if r.outcome == "waived"]),
        ("cleared by review", [r for r in results if r.cleared_by is not None]),
        ("with a warning", [r for r in results if r.effect == "warn"]),
    )
    notes = [f"{len(found)} {word}" for word, found in words if found]
    return f", {joined(notes)}" if notes else ""
