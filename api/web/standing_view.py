"""Lists of decisions, and where a model version may go: a sentence for each place. Pure over what is stored."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from api.web import links
from api.web.decision_words import SHADOW, VERDICTS, for_people
from api.web.verdicts import Verdict
from api.web.words import Word, plural
from gates.release.texts import joined
from models.gates.in_force import Standing, why
from models.gates.queries import StoredDecision
from shipworthy.formats.times import parse_instant

_NONE: Final = Word("none", "None", "open")
_STALE: Final = Word("stale", "Stale", "broken")
_UNDECIDED: Final = Word("undecided", "Not decided", "open")
_SUPERSEDED: Final = Word("superseded", "Superseded", "open")
_TONES: Final = ("bad", "broken", "open", "good")


@dataclass(frozen=True, slots=True)
class DecisionRow:
    word: Word
    model: str
    version: str | None
    to: str
    artifact: str
    sentence: str
    when: datetime
    href: str
    was: str | None = None
    """The verdict in words of one that is superseded."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place that a model version might take, and what is in the way."""

    target: str
    word: Word
    sentence: str
    missing: tuple[str, ...]
    decision: str | None
    command: str | None


def decision_row(row: StoredDecision, *, is_superseded: bool = False) -> DecisionRow:
    """One that is superseded waits for nobody and lets nothing pass, whatever it said."""
    predicate: Mapping[str, Any] = json.loads(row.document)
    word = SHADOW if predicate["mode"] == "shadow" else VERDICTS[row.verdict]
    return DecisionRow(
        word=_SUPERSEDED if is_superseded else word,
        model=row.model,
        version=predicate["version"],
        to=row.target,
        artifact=row.artifact,
        sentence=predicate["sentence"],
        when=parse_instant(predicate["evaluated_at"]),
        href=links.decision(row.record),
        was=word.text if is_superseded else None,
    )


def list_verdict(rows: Sequence[DecisionRow], waiting: int, *, is_filtered: bool) -> Verdict:
    """What waits for people comes before what is only news."""
    if not rows:
        return Verdict(_NONE, "No decision is listed.", "Nothing may take a place that no gate let it take.")
    if waiting:
        needs = "needs" if waiting == 1 else "need"
        return Verdict(
            VERDICTS["review_required"],
            f"{plural(waiting, 'decision')} {needs} a review.",
            "Open one with “Needs review”, look at what is in the way, and approve or deny.",
        )
    sentence = f"{plural(len(rows), 'decision')} listed" + (
        " that fit the filters." if is_filtered else ", newest first."
    )
    return Verdict(_NONE, sentence, "Nothing waits for a review.")


def place_of(found: Standing, target: str, name: str) -> Place:
    """`name` is MODEL:VERSION."""
    decision = found.decision
    if decision is None:
        command = (
            None
            if found.gate is None
            else f"shipworthy gate evaluate {shlex.quote(name)} --gate {found.gate.name}"
        )
        return Place(target, _UNDECIDED, for_people(why(found)), (), None, command)
    if found.is_active:
        return Place(target, VERDICTS[decision.verdict], why(found), (), decision.record, None)
    word, missing = VERDICTS[decision.verdict], tuple(map(for_people, found.missing))
    if decision.verdict in ("passed", "break_glass"):
        return Place(target, _STALE, "A pass was given, and no longer holds.", missing, decision.record, None)
    return Place(target, word, missing[0], missing[1:], decision.record, None)


def _ungated(name: str, protected: Sequence[str] | None) -> Verdict:
    """No gate judges it: names that take a decision are shut to it, and all others are open to anybody."""
    action = "Publish a policy for each name that nothing should take unjudged."
    if protected is None:
        sentence = f"{name} may not ship: every name takes a decision, and no gate judges this model."
        return Verdict(_UNDECIDED, sentence, action)
    shut = joined(protected[:5]) if len(protected) <= 5 else f"{', '.join(protected[:5])} and others"
    return Verdict(
        _UNDECIDED,
        f"No gate judges {name}: {shut} can’t be taken, every other name is free to move.",
        action,
    )


def version_verdict(name: str, places: Sequence[Place], protected: Sequence[str] | None) -> Verdict:
    """May it ship? `protected`: the names that take a decision whatever is to take them, None for all."""
    if not places:
        return _ungated(name, protected)
    worst = min(places, key=lambda place: _TONES.index(place.word.tone))
    going = [place.target for place in places if place.word.code == "passed"]
    if len(going) == len(places):
        return Verdict(VERDICTS["passed"], f"{name} may ship as {', '.join(going)}.", "Nothing to do.")
    held = [place.target for place in places if place.word.code != "passed"]
    also = f"; it may as {', '.join(going)}" if going else ""
    return Verdict(
        worst.word,
        f"{name} may not ship as {', '.join(held)}{also}.",
        "What unblocks it is listed for each place.",
    )
