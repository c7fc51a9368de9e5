"""Lists of contract checks: a row each, worst first, and the sentence above them. Pure over stored documents."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from api.web import links
from api.web.verdicts import Verdict, summary_sentence
from api.web.words import OUTCOMES, STATES, Word, marked, plural
from models.work.states import WorkItem
from shipworthy.formats.times import parse_instant

_TONES: Final = ("bad", "broken", "open", "busy", "good")


@dataclass(frozen=True, slots=True)
class Row:
    word: Word
    contract: str
    version: int
    data: str
    summary: str
    when: datetime
    href: str


def result_row(document: str, effect: str | None) -> Row:
    """The row of a result, from the summary that is stored of it; `effect` is what a revocation says of it."""
    result: Mapping[str, Any] = json.loads(document)
    return Row(
        word=OUTCOMES[result["outcome"]] if effect is None else marked(effect),
        contract=result["contract"]["name"],
        version=result["contract"]["version"],
        data=f"{result['data']['root']}/{result['data']['path']}",
        summary=_summary(result),
        when=parse_instant(result["completed_at"]),
        href=links.contract_check(result.get("check") or result["record"]),
    )


def _summary(result: Mapping[str, Any]) -> str:
    summary = summary_sentence(result["counts"])
    has_others = result["outcome"] == "passed" and result["counts"]["passed"] < sum(result["counts"].values())
    return f"{summary}, none of them blocking" if has_others else summary


def work_row(item: WorkItem, now: datetime) -> Row:
    """The row of a check that has no result."""
    state, reason = item.state_at(now)
    request: Mapping[str, Any] = json.loads(item.request)
    progress = (
        f"{item.progress_done:,} of {item.progress_total:,} done"
        if item.progress_done is not None and item.progress_total is not None
        else ""
    )
    return Row(
        word=STATES[state],
        contract=request["contract"]["name"],
        version=request["contract"]["version"],
        data=f"{request['root']}/{request['path']}",
        summary=reason or progress or "no worker has taken it yet",
        when=item.finished_at or item.created_at,
        href=links.contract_check(item.id),
    )


def worst_first(rows: Sequence[Row]) -> list[Row]:
    """Worst first, the newest of those before older ones."""
    return sorted(rows, key=lambda row: (_TONES.index(row.word.tone), -row.when.timestamp()))


def list_verdict(rows: Sequence[Row], is_filtered: bool, has_more: bool) -> Verdict:
    """What the rows say together."""
    bad = [row for row in rows if row.word.tone in ("bad", "broken", "open")]
    if not rows:
        word = Word("none", "None", "open")
        return Verdict(word, "No check is listed.", "Nothing is known of data that was not checked.")
    of_these = f"of the {len(rows):,} newest" if has_more else f"of {plural(len(rows), 'check')}"
    if is_filtered:
        of_these = f"{of_these} that {'fits' if len(rows) == 1 else 'fit'} the filters"
    if not bad:
        busy = sum(row.word.tone == "busy" for row in rows)
        if busy == len(rows):
            return Verdict(STATES["running"], f"{plural(busy, 'check')} under way.", "Wait for the results.")
        return Verdict(
            OUTCOMES["passed"],
            f"Nothing needs you: {len(rows) - busy:,} {of_these} passed.",
            "Nothing to do.",
        )
    needs = "needs" if len(bad) == 1 else "need"
    worst = worst_first(bad)[0]
    return Verdict(
        worst.word,
        f"{len(bad):,} {of_these} {needs} you.",
        "Begin with the first line: it is the worst, and the newest of its kind.",
    )
