"""The fixed words of promises and of their windows."""

from collections.abc import Mapping
from typing import Any, Final

from api.web.words import Word, by_code, plural

SLO_STATES: Final = by_code(
    Word("breached", "Broken", "bad"),
    Word("at_risk", "At risk", "broken"),
    Word("unknown", "Unknown", "open"),
    Word("no_data", "No data", "open"),
    Word("on_track", "On track", "good"),
    Word("met", "Kept", "good"),
)
"""Worst first. What nobody knows is not kept."""

WINDOW_STATES: Final = by_code(
    Word("breached", "Missed", "bad"),
    Word("unknown", "Unknown", "open"),
    Word("excluded", "Excluded", "open"),
    Word("pending", "Pending", "busy"),
    Word("met_in_grace", "Met in grace", "good"),
    Word("met", "Met", "good"),
)
_FORESEEN: Final = Word("foreseen", "Will be missed", "bad")
_BEHIND: Final = Word("behind", "Missed so far", "bad")
_REASONS: Final = {
    "late": "late",
    "never": "never came",
    "failed": "failed",
    "unresolved": "never explained",
}
_CAUSES: Final = {
    "late_evidence": "evidence of it came after it was judged",
    "before_its_data": "what covers it is older than its data",
    "no_evidence": "its source was alive and sent nothing",
    "in_progress": "an attempt was still running",
    "over_limit": "it took longer than the limit",
    "source_not_proven": "its source was not proven alive",
    "checkpoint_too_old": "a checkpoint was older than the limit",
    "level_lost": "a checkpoint lost its level",
    "run_silent": "the run was silent",
}


def window_word(window: Mapping[str, Any]) -> Word:
    """Of a window's document. A pending one whose last attempt failed is foreseen to be missed; of the day of a live
    run slices can be missed before it is over."""
    status, reason = window["status"], window["reason"]
    if status == "pending" and window["predicted"]:
        return _FORESEEN
    if is_behind(window):
        return _BEHIND
    word = WINDOW_STATES[status]
    return Word(word.code, f"{word.text}: {_REASONS.get(reason, reason)}", word.tone) if reason else word


def is_behind(window: Mapping[str, Any]) -> bool:
    """Whether it is the day of a live run that missed slices already."""
    return window["status"] == "pending" and bool((window.get("slices") or {}).get("bad"))


def slices_in_words(slices: Mapping[str, int]) -> str:
    """ "8 of 10 slices good, 2 missed"."""
    parts = [f"{slices['good']:,} of {plural(sum(slices.values()), 'slice')} good"]
    parts += [f"{slices['bad']:,} missed"] if slices["bad"] else []
    parts += [f"{slices['unknown']:,} unknown"] if slices["unknown"] else []
    return ", ".join(parts)


def cause_in_words(cause: str) -> str:
    """Beside a reason; an unknown cause is its own name."""
    if cause.startswith("exclusion:"):
        return "it was left out of count"
    return _CAUSES.get(cause, cause.replace("_", " "))


def local_in_words(text: str) -> str:
    """A local time with its offset, to the minute: "2026-11-25 12:00 +01:00"; without one "2026-11-25 11:00 UTC"."""
    return f"{text[:10]} {text[11:16]} {'UTC' if is_utc(text) else text[19:]}"


def is_utc(text: str) -> bool:
    """Whether a local time is that of UTC, so that saying both would say it twice."""
    return text[19:] in ("Z", "+00:00")


def sentence_of(text: str) -> str:
    """With a capital and a full stop."""
    sentence = text[:1].upper() + text[1:]
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
