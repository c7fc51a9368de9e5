"""Why a window's outcome is what it is, as a page tells it. Pure over the explanation that calls give too."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api.web import links
from api.web.check_view import Evidence
from api.web.slo_view import lateness_in_words
from api.web.slo_words import (
    cause_in_words,
    is_behind,
    is_utc,
    local_in_words,
    sentence_of,
    slices_in_words,
    window_word,
)
from api.web.verdicts import Verdict
from api.web.words import Word, person_in_words
from shipworthy.formats.times import parse_instant

_Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RevisionRow:
    word: Word
    number: int
    what: str
    when: datetime
    record: str


@dataclass(frozen=True, slots=True)
class NearRow:
    """A run for overlapping data; `verdict` says why it does or doesn't count."""

    run_id: str
    job: str
    state: str
    verdict: str
    href: str


def window_verdict(told: _Told) -> Verdict:
    word = window_word(told)
    name = told["slo"]["name"]
    return Verdict(word, _outcome(told), _next(told, name))


def _outcome(told: _Told) -> str:
    late = lateness_in_words(told)
    if is_behind(told):
        return f"Not over yet: {slices_in_words(told['slices'])} so far."
    match told["status"], told["reason"]:
        case "breached", _ if told.get("slices"):
            return f"Missed: {slices_in_words(told['slices'])}."
        case "met", _:
            return "Kept: the evidence is of before the deadline."
        case "met_in_grace", _:
            return f"Kept in grace{f', {late}' if late else ''}."
        case "breached", "late":
            return f"Missed: it came {late or 'after the deadline'}."
        case "breached", "never":
            return "Missed: nothing came."
        case "breached", "failed":
            return "Missed: the last attempt failed."
        case "breached", "unresolved":
            return "Missed: nobody could tell what became of it before it was settled for good."
        case "unknown", _:
            return "Nobody knows what became of it."
        case "excluded", _:
            return "Left out of count."
        case "pending", _ if told["predicted"]:
            return "Not due yet, and sure to be missed unless another attempt succeeds."
    return "Not due yet."


def _next(told: _Told, slo: str) -> str:
    if told["exclusion"] is not None:
        exclusion = told["exclusion"]
        by = (
            "planned by the definition's author"
            if exclusion["planned"]
            else f"by {person_in_words(exclusion['approver'])}"
        )
        return sentence_of(f"{exclusion['reason']} ({by})")
    if is_behind(told):
        return "Save a checkpoint of the run and have it verified: slices are missed as long as the latest is too old."
    if told["waits_for"] is not None:
        return sentence_of(f"It waits for {told['waits_for']}")
    if told["status"] == "breached" and told["reason"] == "never" and told["runs_near"]:
        return "Look at the runs near it: they have data of the same time and don't count for it."
    if told["status"] in ("breached", "unknown"):
        return (
            f"Whoever owns {slo} says why; an approver may leave it out of count, with a reason that stays."
        )
    return "Nothing to do: the records below are the evidence."


def facts_of(told: _Told) -> list[tuple[str, str]]:
    facts = [
        ("Opens", _moment(told["opens_at"])),
        ("Deadline", _deadline(told)),
        ("Judged from", _moment(told["due"])),
    ]
    if told["data_interval"] is not None:
        interval = told["data_interval"]
        facts.append(("Data", f"{_moment(interval['start'])} to {_moment(interval['end'])}"))
    if told["backfilled"]:
        facts.append(("Backfilled", "it was over when its definition was published"))
    calendar = told["calendar"]
    by = [f"{name} {calendar[name]}" for name in ("holidays", "tzdata") if calendar[name]]
    if by:
        facts.append(("Calendar", ", ".join(by)))
    if told["cause"] is not None and told["exclusion"] is None:
        facts.append(("Because", cause_in_words(told["cause"])))
    return facts


def source_sentence(source: _Told | None) -> str | None:
    """Whether silence of this source proves that nothing happened."""
    if source is None:
        return None
    gaps = len(source["gaps"])
    proven = (
        "it was alive, so that what it did not report did not happen"
        if source["proves_life"]
        else "too little to prove that nothing happened"
    )
    listed = ", ".join(f"{_moment(gap['from'])} to {_moment(gap['to'])}" for gap in source["gaps"][:3])
    silent = f" Silent: {listed}{' and more' if gaps > 3 else ''}." if gaps else ""
    return f"{source['name']} gave signs of life over {source['coverage'] * 100:.0f} % of the window: {proven}.{silent}"


def revision_rows(told: _Told) -> list[RevisionRow]:
    """The latest first."""
    rows = []
    for each in reversed(told["revisions"]):
        parts = [lateness_in_words(each)]
        parts += [cause_in_words(each["cause"])] if each["cause"] and each["status"] != "excluded" else []
        parts += ["changed after it was settled for good"] if each.get("restated") else []
        rows.append(
            RevisionRow(
                window_word(each),
                each["revision"],
                ", ".join(filter(None, parts)),
                parse_instant(each["recorded_at"]),
                each["record"],
            )
        )
    return rows


def evidence_of(told: _Told) -> list[Evidence]:
    expected = told["expected"]
    return [
        Evidence(
            "Expected by",
            expected["record"],
            links.record(expected["record"]),
            f"written down {_moment(expected['recorded_at'])}",
        ),
        *(Evidence("Run", each, links.run(each)) for each in told["run_ids"]),
        *(
            Evidence(
                each["kind"],
                each["record"],
                links.record(each["record"]),
                f"{each['level']}, {_moment(each['recorded_at'])}",
            )
            for each in told["evidence_records"]
        ),
    ]


def near_rows(told: _Told, counted: Sequence[str]) -> list[NearRow]:
    """Runs for overlapping data that don't count."""
    return [
        NearRow(
            each["run_id"],
            each["job"],
            each["state"],
            "covers the window's data"
            if each["covers"]
            else f"has data of {_moment(each['data_interval']['start'])} to {_moment(each['data_interval']['end'])}",
            links.run(each["run_id"]),
        )
        for each in told["runs_near"]
        if each["run_id"] not in counted
    ]


def _deadline(told: _Told) -> str:
    local, moment = told["deadline_local"], _moment(told["deadline_utc"])
    return moment if is_utc(local) else f"{local_in_words(local)}, {moment}"


def _moment(text: str) -> str:
    return f"{parse_instant(text):%Y-%m-%d %H:%M:%S} UTC"
