"""`shipworthy slo`: promises about training windows and checkpoint age."""

from pathlib import Path
from typing import Annotated

import typer

from shipworthy.cli.asking import Json, Url, ask
from shipworthy.cli.documents import problems_shown, read_document, show_looked_over, show_published
from shipworthy.cli.exits import Exit
from shipworthy.cli.screen import messages, output, print_json
from shipworthy.cli.slo_parts import exit_of_report, exit_of_window, show_report, show_window
from shipworthy.errors import UsageError

slos = typer.Typer(help="SLOs: what is promised by when, and what came of it.", no_args_is_help=True)
_File = Annotated[Path, typer.Argument(help="Definition as YAML or JSON.", show_default=False)]


@slos.callback()
def slo_group() -> None:
    """SLOs: what is promised by when, and what came of it."""


@slos.command()
def lint(file: _File, url: Url = None, as_json: Json = False) -> None:
    """Say what is wrong with a definition, with line and remedy.

    It says too when its next deadlines are.

    Exit code: 0 it can be published, 1 it can't.
    """
    data, media_type = read_document(file)
    with ask(url) as client:
        found = client.lint_slo(data, media_type)
    show_looked_over(file, found, as_json=as_json)


@slos.command()
def publish(
    name: Annotated[str, typer.Argument(help="Name of the SLO, as in its metadata.", show_default=False)],
    file: _File,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Make a definition the next version of an SLO. A published version never changes.

    Exit code: 0 it is published, 1 something is wrong with it.
    """
    data, media_type = read_document(file)
    with ask(url) as client, problems_shown(file, as_json=as_json):
        found = client.publish_slo(name, data, media_type)
    show_published(file, found, as_json=as_json)


@slos.command()
def report(
    team: Annotated[str | None, typer.Option(help="Only promises of this team.")] = None,
    start: Annotated[str | None, typer.Option("--from", help="A time with a zone; with --to.")] = None,
    end: Annotated[str | None, typer.Option("--to", help="Up to this time; with --from.")] = None,
    as_of: Annotated[str | None, typer.Option(help="By what had been received at this time.")] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Say how the promises stand, worst first.

    Each over its own period, or all over a time.

    Exit codes: 0 none is broken, 1 some are, 4 of some nothing is known.
    """
    with ask(url) as client:
        found = client.slo_report(team=team, start=start, end=end, as_of=as_of)
    listed = found["slos"]
    if as_json:
        print_json(dict(found))
    elif listed:
        show_report(output(), listed)
    else:
        messages().print(
            "Nothing is promised" + (" by this team." if team else "; write an SLO: docs/slo.md.")
        )
    code = exit_of_report(listed)
    if code is not Exit.OK:
        raise typer.Exit(code)


@slos.command()
def explain(
    window: Annotated[str, typer.Argument(help="Its id, as reports give it: SLO/WHEN.", show_default=False)],
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Say why a window's outcome is what it is.

    It shows evidence, runs, source and revisions.

    Exit codes: 0 it was kept, is pending or left out, 1 it was missed, 4 nobody knows.
    """
    if "/" not in window.strip("/"):
        raise UsageError(
            f"{window!r} is no window; write SLO/WHEN, as `shipworthy slo report --json` lists them"
        )
    with ask(url) as client:
        told = client.slo_window(window)
    if as_json:
        print_json(dict(told))
    else:
        show_window(output(), told)
    code = exit_of_window(told)
    if code is not Exit.OK:
        raise typer.Exit(code)
