"""What a registry's protected names hold, and where that differs from what was decided. Pure over what is stored."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from api.web import links
from api.web.decision_words import for_people
from api.web.verdicts import Verdict
from api.web.words import Word, plural
from shipworthy.formats.times import parse_instant

LATE: Final = timedelta(minutes=15)
"""A comparison that is older says nothing about now."""
FINDINGS: Final[Mapping[str, Word]] = {
    word.code: word
    for word in (
        Word("artifact_changed", "Exchanged", "bad"),
        Word("moved_without_grant", "Gone round", "bad"),
        Word("undecided", "Undecided", "bad"),
        Word("record_without_move", "Not moved", "broken"),
        Word("would_fail", "Would fail", "broken"),
        Word("unreadable", "Unreadable", "broken"),
        Word("unconfirmed_grant", "Unconfirmed", "open"),
    )
}
_GOOD: Final = Word("decided", "Decided", "good")
_OBSERVED: Final = Word("observed", "Observed", "open")
_NONE: Final = Word("none", "None", "open")
_REFUSED: Final = Word("refused", "Refused", "open")
_LATE: Final = Word("late", "Not compared", "broken")
_DIGEST: Final = re.compile("(sha256:[0-9a-f]{12})[0-9a-f]{52}")
_TONES: Final = ("bad", "broken", "open", "good")


@dataclass(frozen=True, slots=True)
class Look:
    """The last comparison of one registry; `findings` as the service found them, worst first."""

    registry: str
    at: datetime
    complete: bool
    observed: int
    findings: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class FindingRow:
    word: Word
    name: str
    registry: str | None
    target: str
    artifact: str | None
    sentence: str
    who: tuple[str, ...]
    since: datetime | None
    href: str


@dataclass(frozen=True, slots=True)
class HeldRow:
    """One name and what it holds by the records; `word` is the worst that a comparison found there."""

    word: Word
    registry: str | None
    model: str
    target: str
    version: str
    artifact: str | None
    decision: str | None
    since: datetime | None
    href: str


@dataclass(frozen=True, slots=True)
class RefusedRow:
    word: Word
    name: str
    target: str
    sentence: str
    by: str | None
    when: datetime


def findings_of(looks: Sequence[Look]) -> list[Mapping[str, Any]]:
    """Those of all registries, worst first."""
    order = list(FINDINGS)
    return sorted(
        (each for look in looks for each in look.findings), key=lambda each: order.index(each["kind"])
    )


def finding_row(finding: Mapping[str, Any]) -> FindingRow:
    version = finding["version"]
    return FindingRow(
        word=FINDINGS[finding["kind"]],
        name=finding["model"] if version is None else f"{finding['model']} version {version}",
        registry=_shown_registry(finding["registry"]),
        target=finding["target"],
        artifact=finding["artifact"],
        sentence=_readable(finding["sentence"]),
        who=tuple(finding["who"]),
        since=None if finding["since"] is None else parse_instant(finding["since"]),
        href=links.decisions(model=finding["model"], to=finding["target"]),
    )


def held_row(held: Mapping[str, Any], findings: Sequence[Mapping[str, Any]]) -> HeldRow:
    """`held` has the columns of a release target."""
    about = ("registry", "model", "target")
    place = (held["registry_name"], held["model"], held["target"])
    found = [FINDINGS[each["kind"]] for each in findings if tuple(each[name] for name in about) == place]
    word = _GOOD if held["decision"] is not None else _OBSERVED
    return HeldRow(
        word=min([word, *found], key=lambda each: _TONES.index(each.tone)),
        registry=_shown_registry(held["registry_name"]),
        model=held["model"],
        target=held["target"],
        version=held["version"],
        artifact=held["artifact"],
        decision=held["decision"],
        since=held["since"],
        href=links.decisions(model=held["model"], to=held["target"]),
    )


def worst_first(rows: Sequence[HeldRow]) -> list[HeldRow]:
    return sorted(rows, key=lambda row: (_TONES.index(row.word.tone), row.model, row.target))


def refused_row(event: Mapping[str, Any]) -> RefusedRow:
    version = event["version"]
    return RefusedRow(
        word=_REFUSED,
        name=event["model"] if version is None else f"{event['model']} version {version}",
        target=event["target"],
        sentence=_readable(event["sentence"]),
        by=event["registry_user"],
        when=parse_instant(event["at"]),
    )


def verdict_of(looks: Sequence[Look], held: int, now: datetime) -> Verdict:
    """Does every protected name hold what a decision put there?"""
    trouble = trouble_of(looks, now)
    if trouble is not None:
        return trouble
    if not looks:
        if held:
            sentence = "Nobody has compared the registry with what was decided."
            return Verdict(
                _NONE, sentence, "Have a worker compare it: the step below that is not done says how."
            )
        return Verdict(_NONE, "Nothing was promoted through a gate yet.", "Begin with the steps below.")
    names = sum(look.observed for look in looks)
    if not names:
        return Verdict(_NONE, "No protected name holds anything.", "Nothing to do.")
    holds = "holds" if names == 1 else "hold"
    sentence = f"Nothing needs you: {plural(names, 'protected name')} {holds} what was decided."
    return Verdict(_GOOD, sentence, "Nothing to do.")


def trouble_of(looks: Sequence[Look], now: datetime) -> Verdict | None:
    """What is not as it was decided, or not known; None when all is well."""
    findings = findings_of(looks)
    if findings:
        needs = "needs" if len(findings) == 1 else "need"
        return Verdict(
            FINDINGS[findings[0]["kind"]],
            f"The registry is not what was decided: {plural(len(findings), 'finding')} {needs} you.",
            "Begin with the first: it is the worst.",
        )
    late = [look for look in looks if now - look.at > LATE]
    if late:
        return Verdict(
            _LATE,
            f"Nobody has looked at {_names(late)} for {_span(now - min(look.at for look in late))}.",
            "See to the worker: is it up, and does MLflow answer it? Its log says why not.",
        )
    partial = [look for look in looks if not look.complete]
    if partial:
        return Verdict(
            _LATE,
            f"Not every name of {_names(partial)} could be looked at.",
            "The worker's log names those that it left out.",
        )
    return None


def _readable(sentence: str) -> str:
    """Digests by their beginning: twelve digits tell them apart, and the whole one stands beside it. Commands for
    calls."""
    return _DIGEST.sub(r"\1", for_people(sentence))


def _names(looks: Sequence[Look]) -> str:
    return ", ".join(look.registry for look in looks)


def _span(time: timedelta) -> str:
    minutes = int(time.total_seconds() // 60)
    if minutes < 120:
        return plural(minutes, "minute")
    return plural(minutes // 60, "hour") if minutes < 2880 else plural(minutes // 1440, "day")


def _shown_registry(name: str) -> str | None:
    """Only where there is more than one registry does its name tell anything."""
    return None if name == "default" else name
