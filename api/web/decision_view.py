"""A decision as a page shows it: the verdict, what unblocks it, then every measurement, worst first.

Pure over the predicate that was signed, what stands now, and what people said of it since.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from api.web import links
from api.web.check_view import CountOfOutcome, Evidence
from api.web.decision_facts import evidence_of, facts_of
from api.web.decision_words import EFFECTS, RESULTS, SHADOW, VERDICTS, for_people, kind_in_words, result_word
from api.web.verdicts import Verdict
from api.web.words import Word, plural
from shipworthy.formats.times import parse_instant

_SIGNIFICANT: Final = 6
_EFFECT_ORDER: Final = tuple(EFFECTS)
_RESULT_ORDER: Final = tuple(RESULTS)


@dataclass(frozen=True, slots=True)
class PartLine:
    """One slice, report or property that a criterion looked at."""

    word: Word
    name: str
    observed: str | None
    required: str | None
    n: int | None
    sentence: str


@dataclass(frozen=True, slots=True)
class ResultLine:
    """One criterion. `observed`, `interval` and `required` are texts, None where there is no value."""

    id: str
    word: Word
    what: str
    effect: str
    sentence: str
    observed: str | None
    interval: str | None
    required: str | None
    n: int | None
    needed_n: int | None
    method: str | None
    parts: tuple[PartLine, ...]
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody said of the decision, and by which record."""

    word: Word
    by: str | None
    reason: str
    when: datetime
    record: str


@dataclass(frozen=True, slots=True)
class DecisionView:
    verdict: Verdict
    counts: tuple[CountOfOutcome, ...]
    lines: tuple[ResultLine, ...]
    unblocks: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    evidence: tuple[Evidence, ...]
    said: tuple[Said, ...]


def view(
    predicate: Mapping[str, Any],
    *,
    is_latest: bool,
    missing: Sequence[str],
    said: Sequence[Mapping[str, Any]],
) -> DecisionView:
    """`missing` is what keeps the decision from being used now, `is_latest` whether it is the newest of its artifact
    and target."""
    lines = sorted((_line(each) for each in predicate["criteria"]), key=_worst_first)
    counted = [line.word.code for line in lines]
    return DecisionView(
        verdict=_verdict(predicate, is_latest, missing),
        counts=tuple(CountOfOutcome(word, counted.count(word.code)) for word in RESULTS.values()),
        lines=tuple(lines),
        unblocks=tuple(map(for_people, predicate["unblocks"])),
        facts=facts_of(predicate),
        evidence=evidence_of(predicate),
        said=tuple(_said(each) for each in said),
    )


def _verdict(predicate: Mapping[str, Any], is_latest: bool, missing: Sequence[str]) -> Verdict:
    word, sentence = VERDICTS[predicate["verdict"]], predicate["sentence"]
    if predicate["mode"] == "shadow":
        return Verdict(
            SHADOW, f"Trial run, lets nothing pass. {sentence}", "Publish the policy to enforce it."
        )
    if not is_latest:
        return Verdict(
            word, f"Superseded. {sentence}", "A later decision counts; the model version's page shows it."
        )
    if predicate["verdict"] == "passed" and missing:
        return Verdict(
            VERDICTS["blocked"], f"Was passed, and no longer holds. {for_people(missing[0])}", sentence
        )
    if predicate["verdict"] == "passed":
        return Verdict(word, sentence, "Nothing to do: the registry will take it to its place.")
    if predicate["verdict"] == "break_glass":
        return Verdict(word, sentence, "Have the gate pass it before this ends.")
    return Verdict(
        word,
        sentence,
        "What unblocks it is listed below; then have the gate evaluated again.",
        _again(predicate),
    )


def _again(predicate: Mapping[str, Any]) -> str | None:
    gate, version = predicate["gate"], predicate["version"]
    if gate is None or version is None:
        return None
    return f"shipworthy gate evaluate {predicate['model']}:{version} --gate {gate['name']}"


def _line(result: Mapping[str, Any]) -> ResultLine:
    is_review = result["kind"] == "review"
    return ResultLine(
        id=result["id"],
        word=result_word(result),
        what=kind_in_words(result["kind"]),
        effect=EFFECTS[result["effect"]],
        sentence=result["sentence"],
        observed=_approvals(result) if is_review else _value(result["observed"]),
        interval=_interval(result["interval"]),
        required=result["bound"],
        n=None if is_review else result["n"],
        needed_n=result["needed_n"],
        method=_method(result),
        parts=tuple(sorted((_part(each) for each in result["parts"]), key=_worst_part_first)),
        evidence=tuple(Evidence("Record", each, links.record(each)) for each in result["evidence"]),
    )


def _approvals(result: Mapping[str, Any]) -> str | None:
    """How many persons approved; None where none were asked."""
    return None if result["n"] is None else plural(result["n"], "approval")


def _part(part: Mapping[str, Any]) -> PartLine:
    interval = _interval(part["interval"])
    observed = _value(part["observed"])
    return PartLine(
        word=result_word(part),
        name=part["name"],
        observed=f"{observed} ({interval})" if observed and interval else observed,
        required=part["bound"],
        n=part["n"],
        sentence=part["sentence"],
    )


def _worst_first(line: ResultLine) -> tuple[int, int]:
    effect = next(code for code, text in EFFECTS.items() if text == line.effect)
    return _EFFECT_ORDER.index(effect), _RESULT_ORDER.index(line.word.code)


def _worst_part_first(part: PartLine) -> int:
    return _RESULT_ORDER.index(part.word.code)


def _method(result: Mapping[str, Any]) -> str | None:
    if result["method"] is None:
        return None
    words = [str(result["method"]).replace("-", " ").replace("_", " ")]
    if result["alpha"] is not None:
        words.append(f"at alpha {result['alpha']:.3g}")
    if result["seed"] is not None:
        words.append(f"seed {result['seed']}")
    return ", ".join(words)


def _value(value: float | None) -> str | None:
    if value is None:
        return None
    return f"{value:,}" if isinstance(value, int) else f"{value:.{_SIGNIFICANT}g}"


def _interval(interval: Sequence[float] | None) -> str | None:
    return None if interval is None else f"{_value(interval[0])} to {_value(interval[1])}"


_SAID: Final = {
    "requested": Word("requested", "Review asked for", "open"),
    "approved": Word("approved", "Approved", "good"),
    "denied": Word("denied", "Denied", "bad"),
}


def _said(review: Mapping[str, Any]) -> Said:
    return Said(
        word=_SAID[review["action"]],
        by=review["by"],
        reason=review["reason"],
        when=parse_instant(review["at"]),
        record=review["record"],
    )
