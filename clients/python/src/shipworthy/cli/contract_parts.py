"""Contracts and what came of their checks, as text for a person."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shipworthy.cli.calls import in_commands
from shipworthy.cli.screen import has_room, indented
from shipworthy.cli.words import count, short_digest, size
from shipworthy.query.checks import Check, CheckOutcome, Judged
from shipworthy.query.contracts import ContractProblem, ContractTable, UnjudgedRule

OUTCOME_STYLES: Final = {"passed": "good", "failed": "bad", "error": "bad", "not_evaluated": "weak"}
_ADDED: Final = "When data is checked, unless waived, also: at least one row, no NaN in a float column."
_NO_NAN: Final = "no_nan:"
_SIGNS: Final = {"passed": "✓", "failed": "✗", "error": "✗", "not_evaluated": "▲"}
_SEVERITY_STYLES: Final = {"error": "bad", "warning": "weak", "info": "dim"}
_ORDER: Final = ("error", "failed", "not_evaluated", "passed")


def show_problems(console: Console, file: str, problems: Iterable[ContractProblem]) -> None:
    """FILE:LINE: severity: field: message, as compilers say it, so that editors find the place."""
    for problem in problems:
        line = Text(f"{file}:{problem.line}: " if problem.line else f"{file}: ", "name")
        line.append(problem.severity, _SEVERITY_STYLES.get(problem.severity, "")).append(": ")
        if problem.pointer:
            line.append(f"{problem.pointer}: ", "dim")
        console.print(line.append(in_commands(problem.message)))


def show_tables(console: Console, tables: Sequence[ContractTable]) -> None:
    for each in tables:
        line = Text(f"  {each.name or 'the data'}: ").append(count(each.checks, "check"))
        line.append(f", {each.blocking} blocking", "dim")
        if each.not_evaluated:
            line.append(f", {count(each.not_evaluated, 'rule')} not evaluated", "weak")
        console.print(line)
    if tables:
        console.print(Text(f"  {_ADDED}", "dim"))


def show_unjudged(console: Console, rules: Iterable[UnjudgedRule]) -> None:
    for each in rules:
        style = "bad" if each.blocking else "weak"
        where = f"{each.table} {each.rule}".strip()
        console.print(Text("  ▲ ", style).append(where, "name").append(f": {each.reason}"))


def show_check(console: Console, check: Check) -> None:
    """The outcome, then every check that did not pass, worst first."""
    result = check.result
    if result is None:
        console.print(
            Text(check.work.state, "bad" if check.work.has_ended else "weak").append(
                _because(check.work.reason)
            )
        )
        return
    headline = Text(
        f"{_SIGNS.get(result.outcome, '')} {_word(result.outcome)}", OUTCOME_STYLES.get(result.outcome, "")
    )
    headline.append(f"  {result.contract} version {result.version}", "name")
    headline.append(f" on {_data(result)}{_because(result.reason)}")
    console.print(headline)
    counted = [(name, result.counts.get(name, 0)) for name in _ORDER]
    said = ", ".join(f"{number} {_word(name)}" for name, number in counted if number)
    console.print(Text(f"  {said} of {sum(result.counts.values())}{_made_up(result)}", "dim"))
    shown = sorted(
        (each for each in result.checks if each.outcome != "passed"),
        key=lambda each: _ORDER.index(each.outcome),
    )
    if shown and has_room(console):
        console.print(_table(shown))
    else:
        _show_lines(console, shown)
    if result.checks_blob is not None:
        console.print(Text(f"  All checks are in the blob {result.checks_blob}.", "dim"))


def _made_up(result: CheckOutcome) -> str:
    """How many of the checks the contract states, as its lint counts them, and which are added to every contract."""
    added = [each.id for each in result.checks if each.is_added]
    if not added or result.checks_blob is not None:
        return ""
    unjudged = sum(each.type == "rule" for each in result.checks)
    stated = count(len(result.checks) - len(added) - unjudged, "check")
    if unjudged:
        stated += f" and {count(unjudged, 'rule')} not evaluated"
    names = [each for each in added if not each.startswith(_NO_NAN)]
    floats = len(added) - len(names)
    if floats:
        names.append(f"no_nan of {count(floats, 'column')}")
    return f": {stated} of the contract; {', '.join(names)} of every contract"


def _table(checks: Sequence[Judged]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 2), pad_edge=False, header_style="dim")
    for name in ("OUTCOME", "CHECK", "COLUMN", "OBSERVED", "BOUND", "WHY"):
        table.add_column(name, overflow="fold")
    for each in checks:
        outcome = Text(_word(each.outcome), OUTCOME_STYLES.get(each.outcome, ""))
        table.add_row(
            outcome.append("" if each.blocking else " (advisory)", "dim"),
            Text(_id(each)),
            Text(", ".join(each.columns)),
            Text("–" if each.observed is None else str(each.observed)),
            Text(each.bound or "–"),
            Text(each.reason or ""),
        )
    return table


def _show_lines(console: Console, checks: Iterable[Judged]) -> None:
    for each in checks:
        style = OUTCOME_STYLES.get(each.outcome, "")
        start = Text(f"  {_SIGNS.get(each.outcome, '')} {_word(each.outcome)}", style)
        start.append("  " if each.blocking else " (advisory)  ", "dim")
        named = Text(_id(each), "name").append(f"  {', '.join(each.columns)}" if each.columns else "", "part")
        console.print(indented(start, named))
        observed = None if each.observed is None else f"observed {each.observed}"
        bound = None if each.bound is None else f"bound {each.bound}"
        said = "; ".join(part for part in (observed, bound, each.reason) if part)
        if said:
            console.print(indented(Text("      "), Text(said)))


def _id(check: Judged) -> str:
    """That of a rule which nothing checks is its place in the document; its outcome stands beside it."""
    return check.id.removeprefix("not_evaluated:")


def _word(outcome: str) -> str:
    return outcome.replace("_", " ")


def _data(result: CheckOutcome) -> str:
    data = result.data
    rows = "" if data.get("rows") is None else f"{count(data['rows'], 'row')}, "
    return f"{data['root']}/{data['path']} ({rows}{size(data['bytes'])}, {short_digest(data['manifest'])})"


def _because(reason: str | None) -> str:
    return f": {reason}" if reason else ""
