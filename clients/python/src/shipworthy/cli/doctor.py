"""`shipworthy doctor`: what is wrong, and the command that mends it."""

import typer
from rich.console import Console
from rich.text import Text

from shipworthy.cli.asking import Json, Url
from shipworthy.cli.checks import Finding, Level, look
from shipworthy.cli.screen import output, print_json
from shipworthy.settings import read_settings

_SIGNS = {Level.GOOD: "✓", Level.WEAK: "▲", Level.BAD: "✗"}


def doctor(url: Url = None, as_json: Json = False) -> None:
    """Look whether runs can be recorded here, and say how to mend what is wrong."""
    findings: list[Finding] = []
    console = output()
    for finding in look(read_settings(url)):
        findings.append(finding)
        if not as_json:
            _show(console, finding)
    if as_json:
        print_json([finding.document() for finding in findings])
    worst = next((finding for finding in findings if finding.exit_code), None)
    if worst is not None:
        raise typer.Exit(worst.exit_code)


def _show(console: Console, finding: Finding) -> None:
    line = Text(f"{_SIGNS[finding.level]} ", finding.level.value)
    console.print(line.append(f"{finding.about:<9}", "part").append(finding.said))
    if finding.mend is not None:
        console.print(Text(f"  {'':<9}→ ", "dim").append(finding.mend, "name"))
