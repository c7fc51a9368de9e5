"""Days of runs whose checkpoints may only be so old: which slices were missed, and by which run. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from api.web.slo_view import window_href
from api.web.slo_words import WINDOW_STATES, slices_in_words, window_word
from api.web.words import Word, plural
from gates.slo.checkpoints import SliceCounts, Stretch

SHOWN: Final = 10
"""Days of a page, the worst ones."""
STRETCHES: Final = 50
"""Of a day, the latest ones."""
_Window = Mapping[str, Any]
_WORDS: Final = {"bad": WINDOW_STATES["breached"], "unknown": WINDOW_STATES["unknown"]}


@dataclass(frozen=True, slots=True)
class StretchRow:
    word: Word
    begin: datetime
    end: datetime
    what: str


@dataclass(frozen=True, slots=True)
class LiveDay:
    word: Word
    run_id: str
    day: str
    so_far: str
    stretches: tuple[StretchRow, ...]
    href: str


def behind(windows: str) -> list[_Window]:
    """Of the windows of a report the days of live runs that missed slices, or may have, the worst first."""
    found = [
        each
        for each in json.loads(f"[{windows}]")
        if each["status"] == "pending" and (each.get("slices") or {}).get("good", 0) < _total(each)
    ]
    return sorted(found, key=lambda each: (-each["slices"]["bad"], -each["slices"]["unknown"]))


def live_days(
    slo: str, windows: Sequence[_Window], stretches: Mapping[str, Sequence[Stretch]]
) -> list[LiveDay]:
    return [
        LiveDay(
            window_word(each),
            each["run_ids"][0],
            each["deadline_local"][:10],
            slices_in_words(each["slices"]),
            tuple(stretch_rows(stretches.get(each["id"], ()))),
            window_href(slo, each),
        )
        for each in windows
    ]


def stretch_rows(stretches: Sequence[Stretch]) -> list[StretchRow]:
    """What was not good, the latest first."""
    late = [each for each in reversed(stretches) if each.outcome != "good"]
    return [StretchRow(_WORDS[each.outcome], each.begin, each.end, _why(each)) for each in late[:STRETCHES]]


def counts_of(stretches: Sequence[Stretch]) -> SliceCounts:
    def total(outcome: str) -> int:
        return sum(each.slices for each in stretches if each.outcome == outcome)

    return SliceCounts(total("good"), total("bad"), total("unknown"))


def _why(stretch: Stretch) -> str:
    count = plural(stretch.slices, "slice")
    if stretch.outcome == "unknown":
        return f"{count}: the run was silent"
    if stretch.state_time is None:
        return f"{count}: no checkpoint counted yet"
    return f"{count}: the latest checkpoint that counts was of {stretch.state_time:%H:%M:%S} UTC"


def _total(window: _Window) -> int:
    return sum((window.get("slices") or {}).values())
