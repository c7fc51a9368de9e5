"""The fixed words of decisions: of a verdict, and of each criterion's result."""

from collections.abc import Mapping
from typing import Any, Final

from api.web.words import Word, by_code
from shipworthy.cli.calls import in_commands

VERDICTS: Final = by_code(
    Word("blocked", "May not ship", "bad"),
    Word("break_glass", "Break-glass", "bad"),
    Word("review_required", "Needs review", "open"),
    Word("passed", "May ship", "good"),
)
"""Worst first."""

SHADOW: Final = Word("shadow", "Trial run", "open")

RESULTS: Final = by_code(
    Word("failed", "Failed", "bad"),
    Word("no_value", "No value", "broken"),
    Word("stale", "Stale", "broken"),
    Word("inconclusive", "Inconclusive", "open"),
    Word("needs_review", "Needs review", "open"),
    Word("waived", "Waived", "busy"),
    Word("cleared", "Cleared by review", "good"),
    Word("passed", "Passed", "good"),
)
"""Worst first. What has no value is not passed."""

EFFECTS: Final[Mapping[str, str]] = {
    "block": "blocks",
    "review": "asks for a review",
    "warn": "warns",
    "none": "",
}
"""Worst first."""

_STALE: Final = frozenset({"stale", "expired"})
_KINDS: Final[Mapping[str, str]] = {
    "threshold": "a bound to keep",
    "comparison": "comparison with the incumbent",
    "slices": "every slice",
    "stability": "across seeds",
    "reproduction": "a repeat of the recipe",
    "evidence": "attested evidence",
    "artifact": "the artifact itself",
    "provenance": "where it comes from",
    "review": "approval by people",
}


def result_word(result: Mapping[str, Any]) -> Word:
    """Of a criterion's result, or of one of its parts."""
    if result.get("cleared_by") is not None:
        return RESULTS["cleared"]
    if result["outcome"] != "error":
        return RESULTS[result["outcome"]]
    if result["state"] == "unmet":
        return RESULTS["needs_review"]
    return RESULTS["stale" if result.get("code") in _STALE else "no_value"]


def kind_in_words(kind: str) -> str:
    """What a kind of criterion looks at; an unknown one is its own name."""
    return _KINDS.get(kind, kind.replace("_", " "))


_APPROVED: Final = "shipworthy review approve"


def for_people(sentence: str) -> str:
    """A sentence of a decision with commands in place of the calls that programs make, as plain text."""
    said = in_commands(sentence).replace("`", "")
    return said.replace(f": {_APPROVED}", f": on the decision’s page, or by {_APPROVED}")
