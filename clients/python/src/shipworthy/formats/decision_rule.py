"""From the results of a gate's criteria to its verdict: the last step of every decision.

The service runs it when it decides, and `shipworthy verify` runs it again over the recorded results. It trusts no
recorded effect: it derives each one, and refuses a result that says otherwise.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

Outcome: TypeAlias = Literal["passed", "failed", "inconclusive", "error", "waived"]
Effect: TypeAlias = Literal["none", "warn", "review", "block"]
Severity: TypeAlias = Literal["warn", "review", "block"]
State: TypeAlias = Literal[
    "too_small", "first_release", "unmet", "denied", "approved", "budget_spent", "refused"
]
Verdict: TypeAlias = Literal["passed", "review_required", "blocked"]

OUTCOMES: Final[tuple[Outcome, ...]] = ("passed", "failed", "inconclusive", "error", "waived")
SEVERITIES: Final[tuple[Severity, ...]] = ("warn", "review", "block")

_OUTCOMES_OF_STATE: Final[Mapping[str, frozenset[Outcome]]] = {
    # Fewer examples than the policy asks for.
    "too_small": frozenset({"inconclusive"}),
    # Nothing to compare with, and the policy has people decide then.
    "first_release": frozenset({"error"}),
    # A review that is asked for and has not enough approvals yet.
    "unmet": frozenset({"error"}),
    # Somebody refused the release by name.
    "denied": frozenset({"failed"}),
    # A review that is asked for and has its approvals.
    "approved": frozenset({"passed"}),
    # No attempt is left on this evaluation snapshot.
    "budget_spent": frozenset({"error"}),
    # The facts as a whole can't be used: malformed, or about something else.
    "refused": frozenset({"error"}),
}
_EFFECT_OF_STATE: Final[Mapping[str, Effect]] = {
    "unmet": "review",
    "denied": "block",
    "budget_spent": "block",
    "refused": "block",
}


class MalformedResults(ValueError):
    """The results are not what a decision records; no verdict follows from them."""


def effect(result: Mapping[str, object]) -> Effect:
    """What one result asks for; reads its `outcome`, `state`, `severity`, `on` and `cleared_by`.

    passed and waived ask for nothing; failed and error for the severity; inconclusive for `on.inconclusive` and a
    slice that is too small for `on.too_small`, each else for the severity. A review that approvals have cleared
    asks for nothing. Raises MalformedResults.
    """
    identifier = _identifier(result)
    own = _own_effect(result, identifier)
    if result.get("cleared_by") is None:
        return own
    if own != "review" or not is_clearable(result):
        raise MalformedResults(
            f"criterion {identifier!r} is cleared by a review, but only a measured result that asks for one can be"
        )
    return "none"


def verdict(results: Sequence[Mapping[str, object]]) -> Verdict:
    """Any block: blocked; else any review: review_required; else passed.

    Raises MalformedResults for no results, for ids that repeat, for an `effect` that is not the one that follows,
    and for a result cleared by anything but an approved review among these results.
    """
    if not isinstance(results, list | tuple) or not results:
        raise MalformedResults("a verdict needs the results of at least one criterion")
    by_id: dict[str, Mapping[str, object]] = {}
    for result in results:
        identifier = _identifier(result)
        if identifier in by_id:
            raise MalformedResults(f"criterion {identifier!r} has two results")
        by_id[identifier] = result
    effects: set[Effect] = set()
    for identifier, result in by_id.items():
        found = effect(result)
        if result.get("effect") != found:
            raise MalformedResults(
                f"criterion {identifier!r} records the effect {result.get('effect')!r}, but {found!r} follows"
            )
        _require_approved(result, identifier, by_id)
        effects.add(found)
    if "block" in effects:
        return "blocked"
    return "review_required" if "review" in effects else "passed"


def _identifier(result: object) -> str:
    if not isinstance(result, Mapping):
        raise MalformedResults("a result is not a mapping")
    identifier = result.get("id")
    if not isinstance(identifier, str) or not identifier:
        raise MalformedResults("a result has no id")
    return identifier


def _own_effect(result: Mapping[str, object], identifier: str) -> Effect:
    outcome, severity, state = result.get("outcome"), result.get("severity"), result.get("state")
    if outcome not in OUTCOMES:
        raise MalformedResults(f"criterion {identifier!r} has no outcome of {', '.join(OUTCOMES)}")
    if severity not in SEVERITIES:
        raise MalformedResults(f"criterion {identifier!r} has no severity of {', '.join(SEVERITIES)}")
    if state is not None and outcome not in _OUTCOMES_OF_STATE.get(str(state), ()):
        raise MalformedResults(f"criterion {identifier!r} can't be {outcome} with the state {state!r}")
    if (outcome == "waived") != isinstance(result.get("waiver"), str):
        raise MalformedResults(f"criterion {identifier!r} is waived without a waiver, or the reverse")
    on = _on(result, identifier)
    if outcome in ("passed", "waived"):
        return "none"
    if state in _EFFECT_OF_STATE:
        return _EFFECT_OF_STATE[str(state)]
    if state == "first_release":
        return "warn" if severity == "warn" else "review"
    asked = (
        on["too_small"] if state == "too_small" else on["inconclusive"] if outcome == "inconclusive" else None
    )
    return asked or severity


def _on(result: Mapping[str, object], identifier: str) -> dict[str, Severity | None]:
    on = result.get("on")
    if not isinstance(on, Mapping) or set(on) != {"inconclusive", "too_small"}:
        raise MalformedResults(
            f"criterion {identifier!r} doesn't say what inconclusive and too_small ask for"
        )
    if any(value is not None and value not in SEVERITIES for value in on.values()):
        raise MalformedResults(f"criterion {identifier!r} asks for something else than warn, review or block")
    return dict(on)


def is_clearable(result: Mapping[str, object]) -> bool:
    """Whether people may decide about a result that asks for review; reads `kind`, `outcome` and `state`. What was not
    measured is no matter of opinion, but for a first release, where there was nothing to compare with."""
    if result.get("kind") == "review":
        return False
    return result.get("outcome") in ("failed", "inconclusive") or result.get("state") == "first_release"


def _require_approved(
    result: Mapping[str, object], identifier: str, by_id: Mapping[str, Mapping[str, object]]
) -> None:
    review = result.get("cleared_by")
    if review is None:
        return
    by = by_id.get(review) if isinstance(review, str) else None
    if by is None or by.get("kind") != "review" or by.get("state") != "approved":
        raise MalformedResults(
            f"criterion {identifier!r} is cleared by {review!r}, which is no approved review"
        )
