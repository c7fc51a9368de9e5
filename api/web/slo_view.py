"""Promises as pages show them: a line each with its arithmetic, and its windows as a strip of shapes. Pure."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from api.web import links
from api.web.slo_words import (
    SLO_STATES,
    WINDOW_STATES,
    is_behind,
    is_utc,
    local_in_words,
    sentence_of,
    slices_in_words,
    window_word,
)
from api.web.verdicts import Verdict
from api.web.words import Word, duration_in_words, plural
from gates.slo.report import ReportedSlo
from gates.slo.sentences import backfilled_sentence
from models.slo.reporting import Reported
from shipworthy.formats.times import parse_instant

STRIP: Final = 31
"""Windows of a line's strip, the latest ones."""
CELL_WIDTH: Final = 10
"""In pixels, of which 2 are the gap to the next one."""
_NONE: Final = Word("none", "None", "open")
_ORDER: Final = tuple(SLO_STATES)
_Window = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One window in a strip, `x` pixels from its left; `shape` is what tells it without colour."""

    x: int
    shape: str
    title: str
    href: str


@dataclass(frozen=True, slots=True)
class SloLine:
    word: Word
    name: str
    title: str
    href: str
    sentence: str
    is_backfilled: bool
    team: str
    service: str
    objective: str
    notes: tuple[str, ...]
    cells: tuple[Cell, ...]
    windows_in_words: str
    earlier: int


@dataclass(frozen=True, slots=True)
class WindowRow:
    word: Word
    """`deadline` None where the local time says the same."""

    deadline: datetime | None
    local: str
    what: str
    runs: tuple[str, ...]
    is_backfilled: bool
    revision: int
    href: str


def slo_line(reported: Reported, filters: Mapping[str, str | None], shown: int = STRIP) -> SloLine:
    """`filters` of the address go on to the promise's own page."""
    slo, definition = reported.slo, reported.slo.definition
    windows: list[_Window] = json.loads(f"[{reported.windows}]")
    latest = windows[-shown:]
    return SloLine(
        word=SLO_STATES[slo.status.state],
        name=definition.name,
        title=definition.display_name or definition.name,
        href=links.slo(definition.name, **filters),
        sentence=sentence_of(_without_mark(slo)),
        is_backfilled=slo.backfilled_until is not None,
        team=definition.team,
        service=definition.service,
        objective=definition.objective,
        notes=tuple(_notes(reported)),
        cells=tuple(
            Cell(place * CELL_WIDTH, shape_of(each), _title(each), window_href(definition.name, each))
            for place, each in enumerate(latest)
        ),
        windows_in_words=_in_words(latest),
        earlier=len(windows) - len(latest),
    )


def _without_mark(slo: ReportedSlo) -> str:
    """The sentence without what a list says of many lines by a mark, and once in words."""
    since = slo.backfilled_until
    sentence = slo.status.sentence
    return sentence if since is None else sentence.removesuffix(f"; {backfilled_sentence(since)}")


def _notes(reported: Reported) -> list[str]:
    """What a reader of the sentence has to know beside it."""
    notes = [
        f"Its source {source.name} is silent"
        + (f" since {source.last_seen:%d %b %H:%M} UTC." if source.last_seen else ".")
        for source in reported.sources
        if not source.alive
    ]
    if reported.slo.corrections:
        notes.append(f"{plural(len(reported.slo.corrections), 'outcome')} judged anew after it was settled.")
    if reported.slo.closed:
        notes.append("The period is over.")
    return notes


def worst_first(reported: Sequence[Reported]) -> list[Reported]:
    return sorted(reported, key=lambda each: (_ORDER.index(each.slo.status.state), each.slo.definition.name))


def shape_of(window: _Window) -> str:
    """full: missed; hatched: unknown; hollow: left out; half: met; capped: met in grace; line: pending; dashed: pending
    and sure to be missed; raised: the day of a live run that missed slices so far."""
    if window["status"] == "pending":
        return "dashed" if window["predicted"] else "raised" if is_behind(window) else "line"
    return {
        "breached": "full",
        "unknown": "hatched",
        "excluded": "hollow",
        "met_in_grace": "capped",
        "met": "half",
    }[window["status"]]


def window_href(slo: str, window: _Window) -> str:
    return links.slo_window(slo, window["id"].removeprefix(f"{slo}/"))


def window_row(slo: str, window: _Window) -> WindowRow:
    return WindowRow(
        word=window_word(window),
        deadline=None if is_utc(window["deadline_local"]) else parse_instant(window["deadline_utc"]),
        local=local_in_words(window["deadline_local"]),
        what=slices_in_words(window["slices"]) if window.get("slices") else lateness_in_words(window),
        runs=tuple(window["run_ids"]),
        is_backfilled=window["backfilled"],
        revision=window["revision"],
        href=window_href(slo, window),
    )


def lateness_in_words(window: _Window) -> str:
    """ "31 min after the deadline", or nothing."""
    lateness = window["lateness_s"]
    return "" if not lateness or lateness < 0 else f"{duration_in_words(lateness)} after the deadline"


def _title(window: _Window) -> str:
    parts = [window_word(window).text, lateness_in_words(window), _so_far(window)]
    return f"{local_in_words(window['deadline_local'])}: {', '.join(filter(None, parts))}"


def _so_far(window: _Window) -> str:
    """Of a day of a live run its slices up to now: "10 of 12 slices good, 2 missed so far"."""
    slices = window.get("slices")
    if not slices:
        return ""
    return slices_in_words(slices) + (" so far" if window["status"] == "pending" else "")


def _in_words(windows: Sequence[_Window]) -> str:
    """ "Latest 31 windows: 2 missed, 1 unknown, 28 met"."""
    if not windows:
        return "No window yet"
    counted = Counter(each["status"] for each in windows)
    listed = ", ".join(
        f"{counted[code]:,} {word.text.lower()}" for code, word in WINDOW_STATES.items() if counted[code]
    )
    late = sum(each["slices"]["bad"] for each in windows if is_behind(each))
    listed += f", {plural(late, 'slice')} missed so far" if late else ""
    return f"Latest {plural(len(windows), 'window')}: {listed}"


def list_verdict(reported: Sequence[Reported], *, is_filtered: bool) -> Verdict:
    """Are we keeping our promises? `reported` with the worst first."""
    if not reported:
        sentence = "No promise fits these filters." if is_filtered else "Nothing is promised yet."
        action = (
            "Show all." if is_filtered else "Write down by when data, training and checkpoints are there."
        )
        return Verdict(_NONE, sentence, action)
    counted: Counter[str] = Counter(each.slo.status.state for each in reported)
    bad = [
        f"{counted[state]:,} {'is' if counted[state] == 1 else 'are'} {words}"
        for state, words in (
            ("breached", "broken"),
            ("at_risk", "at risk"),
            ("unknown", "unknown"),
            ("no_data", "without data"),
        )
        if counted[state]
    ]
    promises = plural(len(reported), "promise")
    word = SLO_STATES[reported[0].slo.status.state]
    if not bad:
        return Verdict(word, f"All of {promises} are kept.", "Nothing to do.")
    return Verdict(word, f"Of {promises} {', '.join(bad)}.", "Begin with the first line: it is the worst.")


def slo_verdict(slo: ReportedSlo) -> Verdict:
    """Is this promise kept, and what is left of its budget?"""
    state, name = slo.status.state, f"“{slo.definition.display_name or slo.definition.name}”"
    sentence = {
        "breached": f"{name} is broken.",
        "at_risk": f"{name} is at risk.",
        "unknown": f"Nobody knows whether {name} is kept.",
        "no_data": f"{name} has no data.",
        "on_track": f"{name} is on track.",
        "met": f"{name} was kept.",
    }[state]
    return Verdict(SLO_STATES[state], sentence, sentence_of(slo.status.sentence))
