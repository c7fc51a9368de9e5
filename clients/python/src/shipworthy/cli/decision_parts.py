"""Decisions as text for a person: the verdict first, then every criterion that is not plainly passed, worst first."""

from collections.abc import Iterable, Mapping
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shipworthy.cli.calls import in_commands
from shipworthy.cli.exits import Exit
from shipworthy.cli.screen import has_room, indented
from shipworthy.cli.words import number, short_digest
from shipworthy.query.gates import CriterionResult, Decision, Standing

VERDICT_EXITS: Final[Mapping[str, Exit]] = {
    "passed": Exit.OK,
    "review_required": Exit.REVIEW,
    "blocked": Exit.NEGATIVE,
}
_WORDS: Final = {
    "passed": "passed",
    "failed": "failed",
    "inconclusive": "inconclusive",
    "error": "no value",
    "waived": "waived",
}
_STALE: Final = frozenset({"stale", "expired"})
_STYLES: Final = {"block": "bad", "review": "weak", "warn": "weak", "none": "good"}
_SIGNS: Final = {"block": "✗", "review": "▲", "warn": "▲", "none": "✓"}
_WORST_FIRST: Final = ("block", "review", "warn", "none")
_VERDICTS: Final = {"passed": "MAY SHIP", "review_required": "NEEDS REVIEW", "blocked": "MAY NOT SHIP"}
_VERDICT_STYLES: Final = {"passed": "good", "review_required": "weak"}


def exit_of(decision: Decision) -> Exit:
    """4 when nothing is wrong but something was not measured, else that of the verdict."""
    if decision.verdict == "blocked" and decision.lacks_evidence:
        return Exit.NOT_JUDGED
    return VERDICT_EXITS.get(decision.verdict, Exit.NEGATIVE)


def exit_of_standing(found: Standing) -> Exit:
    """0 in force; without a decision, or with a pass that no longer holds, 4; else that of the decision."""
    if found.active:
        return Exit.OK
    if found.decision is None or found.decision.verdict not in ("blocked", "review_required"):
        return Exit.NOT_JUDGED
    return exit_of(found.decision)


def show_decision(console: Console, decision: Decision) -> None:
    word = _VERDICTS.get(decision.verdict, decision.verdict.replace("_", " ").upper())
    line = Text(word, _VERDICT_STYLES.get(decision.verdict, "bad"))
    line.append(f"  {_named(decision)} → {decision.target}", "name")
    if decision.mode == "shadow":
        line.append("  trial run, lets nothing pass", "weak")
    console.print(line)
    console.print(f"  {decision.sentence}")
    if has_room(console):
        console.print(_table(decision.criteria))
    else:
        _show_lines(console, decision.criteria)
    show_missing(console, decision.unblocks)
    lets_pass = decision.verdict in ("passed", "break_glass")
    until = f", valid until {decision.valid_until}" if lets_pass and decision.valid_until else ""
    console.print(Text(f"  decision {decision.id}{until}", "dim"))


def show_standing(console: Console, found: Standing) -> None:
    """What stands now; the decision behind it when there is one."""
    if found.decision is not None:
        show_decision(console, found.decision)
        if found.decision.verdict == "passed" and not found.active:
            console.print(Text("  BUT IT NO LONGER HOLDS: ", "bad").append(in_commands(found.why)))
            show_missing(console, _not_yet_said(found.missing, found.why))
        return
    console.print(Text("MAY NOT SHIP", "bad").append(f"  {in_commands(found.why)}"))
    show_missing(console, _not_yet_said(found.missing, found.why))


def _not_yet_said(sentences: Iterable[str], why: str) -> list[str]:
    """Where one thing alone is missing, the reason is that sentence already."""
    return [sentence for sentence in sentences if sentence != why]


def show_missing(console: Console, sentences: Iterable[str]) -> None:
    for sentence in sentences:
        console.print(indented(Text("  → ", "part"), Text(in_commands(sentence))))


def markdown(decision: Decision | None, why: str, missing: Iterable[str]) -> str:
    """For the summary page of a CI job: a sentence, a table of every criterion, what unblocks it."""
    if decision is None:
        lines = [f"### ✗ May not ship: {_cell(in_commands(why))}", ""]
    else:
        word = _VERDICTS.get(decision.verdict, decision.verdict).capitalize()
        lines = [
            f"### {word}: {_cell(_named(decision))} → {_cell(decision.target)}",
            "",
            _cell(decision.sentence if decision.verdict != "passed" else in_commands(why)),
            "",
            "| | criterion | required | measured | n | |",
            "|---|---|---|---|---|---|",
        ]
        for each in _ordered(decision.criteria):
            cells = (
                _outcome(each),
                each.id,
                each.bound or "",
                _measured(each),
                _count(each.n),
                each.sentence,
            )
            lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
        lines += ["", f"`{decision.id}`", ""]
    lines += [f"- {_cell(in_commands(sentence))}" for sentence in _not_yet_said(missing, why)]
    return "\n".join(lines).rstrip() + "\n"


def _table(criteria: Iterable[CriterionResult]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 2), pad_edge=False, header_style="dim")
    for name in ("", "CRITERION", "REQUIRED", "MEASURED", "N", "WHY"):
        table.add_column(name, overflow="fold")
    for each in _ordered(criteria):
        style = _STYLES.get(each.effect, "")
        table.add_row(
            Text(f"{_SIGNS.get(each.effect, '')} {_outcome(each)}", style),
            Text(each.id),
            Text(each.bound or "–"),
            Text(_measured(each) or "–"),
            Text(_count(each.n) or "–"),
            Text(each.sentence if each.effect != "none" else ""),
        )
    return table


def _show_lines(console: Console, criteria: Iterable[CriterionResult]) -> None:
    """Where a table would squeeze its sentences: they say what was required, measured, and of how many."""
    for each in _ordered(criteria):
        style = _STYLES.get(each.effect, "")
        line = Text(f"  {_SIGNS.get(each.effect, '')} {_outcome(each)}", style).append(f"  {each.id}", "name")
        if each.effect == "none" and each.bound is not None:
            line.append(f"  {each.bound}, measured {_measured(each) or 'nothing'}", "dim")
        console.print(line)
        if each.effect != "none":
            console.print(indented(Text("      "), Text(each.sentence)))


def _ordered(criteria: Iterable[CriterionResult]) -> list[CriterionResult]:
    """Worst first; within one effect as the policy lists them."""
    return sorted(criteria, key=lambda each: _WORST_FIRST.index(each.effect))


def _outcome(result: CriterionResult) -> str:
    """As the pages call it. What people took on themselves did not pass by itself, and says so."""
    if result.cleared_by is not None:
        return "cleared by review"
    if result.outcome == "error" and result.state == "unmet":
        return "needs review"
    if result.outcome == "error" and result.code in _STALE:
        return "stale"
    return _WORDS.get(result.outcome, result.outcome)


def _measured(result: CriterionResult) -> str:
    if result.observed is None:
        return ""
    value = number(result.observed)
    if result.interval is None:
        return value
    return f"{value} ({number(result.interval[0])} to {number(result.interval[1])})"


def _count(n: int | None) -> str:
    return "" if n is None else f"{n:,}"


def _named(decision: Decision) -> str:
    version = f":{decision.version}" if decision.version else ""
    return f"{decision.model}{version} ({short_digest(decision.artifact)})"


def _cell(text: str) -> str:
    """Text that can't leave its cell or become markup of the page that shows it."""
    escaped = " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")
    return escaped.replace("<", "&lt;").replace("[", "\\[").replace("`", "\\`")
