"""The result body as it is recorded: plain JSON values that have a canonical form."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from gates.contracts.engine.bound_text import bound_text
from gates.contracts.engine.gx_values import columns_of
from gates.contracts.engine.measures.measure import Histogram, Outcome, Verdict
from gates.contracts.engine.suite import Check, NotEvaluated
from shipworthy.formats.jcs import MAX_SAFE_INTEGER, JsonValue

OUTCOMES: Final[tuple[Outcome, ...]] = ("error", "failed", "not_evaluated", "passed")
"""Worst first."""


def check_result(check: Check, verdict: Verdict) -> dict[str, JsonValue]:
    names = columns_of(dict(check.kwargs))
    of: dict[str, JsonValue] = (
        {"column": names[0]} if len(names) == 1 else {"columns": names} if names else {}
    )
    return {
        "id": check.id,
        "type": check.type,
        **of,
        "severity": check.severity,
        "blocking": check.blocking,
        "dimension": check.dimension,
        "rule": check.rule,
        "outcome": verdict.outcome,
        "observed": plain_number(verdict.observed),
        "bound": bound_text(check.type, check.kwargs),
        "rows": verdict.rows,
        "unexpected": verdict.unexpected,
        "nulls": verdict.nulls,
        "reason": verdict.reason,
        "histogram": None if verdict.histogram is None else _histogram(verdict.histogram),
    }


def rule_result(rule: NotEvaluated) -> dict[str, JsonValue]:
    """A rule that is not evaluated stands among the checks: nothing is lost in silence."""
    check = Check(f"not_evaluated:{rule.rule}", "rule", {}, blocking=rule.blocking, rule=rule.rule)
    return check_result(check, Verdict("not_evaluated", rule.reason))


def overall(results: Sequence[Mapping[str, JsonValue]], implicit: frozenset[str]) -> Outcome:
    """The worst outcome of what blocks. Never passed unless something that the contract states has passed."""
    blocking = {each["outcome"] for each in results if each["blocking"]}
    worst: Outcome = next((outcome for outcome in OUTCOMES if outcome in blocking), "passed")
    stated = any(each["outcome"] == "passed" and each["id"] not in implicit for each in results)
    return "not_evaluated" if worst == "passed" and not stated else worst


def counts(results: Sequence[Mapping[str, JsonValue]]) -> dict[str, JsonValue]:
    found = Counter(str(each["outcome"]) for each in results)
    return {outcome: found[outcome] for outcome in reversed(OUTCOMES)}


def plain_number(value: int | float | str | None) -> JsonValue:
    """JSON has no infinity, no NaN and no integer beyond 2^53 - 1: those are texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "infinity" if value > 0 else "-infinity"
    if isinstance(value, int) and abs(value) > MAX_SAFE_INTEGER:
        return str(value)
    return value


def _histogram(histogram: Histogram) -> dict[str, JsonValue]:
    axis: dict[str, JsonValue] = (
        {"edges": list(histogram.edges)}
        if histogram.edges is not None
        else {"labels": list(histogram.labels or ())}
    )
    return {**axis, "baseline": list(histogram.baseline), "observed": list(histogram.observed)}
