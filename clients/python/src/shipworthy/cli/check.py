"""`shipworthy check MODEL:VERSION --to TARGET`: may it ship? For people and for pipelines that stop on no."""

from enum import StrEnum
from typing import Annotated

import typer

from shipworthy.cli.asking import Json, Url, ask
from shipworthy.cli.decision_parts import exit_of_standing, markdown, show_standing
from shipworthy.cli.exits import Exit
from shipworthy.cli.model_names import split_version
from shipworthy.cli.screen import output, print_json
from shipworthy.query.gates import Standing


class Summary(StrEnum):
    MARKDOWN = "md"


def check(
    what: Annotated[
        str, typer.Argument(metavar="MODEL:VERSION", help="A registered version.", show_default=False)
    ],
    to: Annotated[str, typer.Option(help="Alias or stage that it is to take.", show_default=False)],
    summary: Annotated[
        Summary | None, typer.Option(help="Print Markdown, as for a CI job's summary page.")
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Tell whether a model version may take a place now, and if not, what unblocks it.

    Exit codes: 0 ship, 1 blocked, 2 usage, 3 needs review, 4 evidence is missing or stale, 5 service unreachable (which
    blocks), 6 key refused.
    """
    model, version = split_version(what)
    with ask(url) as client:
        found = client.standing(model, to, version=version)
    if as_json:
        print_json(dict(found.document))
    elif summary is Summary.MARKDOWN:
        typer.echo(markdown(found.decision, found.why, _missing(found)), nl=False)
    else:
        show_standing(output(), found)
    code = exit_of_standing(found)
    if code is not Exit.OK:
        raise typer.Exit(code)


def _missing(found: Standing) -> tuple[str, ...]:
    return found.missing or (() if found.decision is None else found.decision.unblocks)
