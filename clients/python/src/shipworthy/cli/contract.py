"""`shipworthy contract`: look a data contract over, publish it, and have data checked against it."""

from pathlib import Path
from typing import Annotated

import typer

from shipworthy.cli.asking import Json, Url, ask
from shipworthy.cli.contract_check import check
from shipworthy.cli.contract_parts import show_problems, show_tables, show_unjudged
from shipworthy.cli.documents import CAN_BE_PUBLISHED, problems_shown, read_document
from shipworthy.cli.exits import Exit
from shipworthy.cli.screen import messages, output, print_json
from shipworthy.cli.words import count, short_digest
from shipworthy.query.contracts import UnjudgedRule

contracts = typer.Typer(
    help="Look data contracts over, publish them, check data.", no_args_is_help=True, rich_markup_mode=None
)

ContractFile = Annotated[
    Path,
    typer.Argument(help="Open Data Contract Standard (YAML or JSON), or a GX 1.x suite.", show_default=False),
]
ContractName = Annotated[str, typer.Argument(help="Name of the contract.", show_default=False)]


@contracts.command("lint")
def lint(file: ContractFile, url: Url = None, as_json: Json = False) -> None:
    """Say what is wrong with a contract, with lines. Nothing is stored; exit code 1 when a rule can't run."""
    data, media_type = read_document(file)
    with ask(url) as client:
        found = client.lint_contract(data, media_type)
    if as_json:
        print_json(dict(found.document))
    else:
        console = output()
        show_problems(console, str(file), found.problems)
        show_unjudged(console, found.not_evaluated)
        if found.ok:
            show_tables(console, found.tables)
            console.print(CAN_BE_PUBLISHED)
    if not found.ok:
        raise typer.Exit(Exit.NEGATIVE)


@contracts.command("show")
def show(
    name: ContractName,
    version: Annotated[int | None, typer.Option(min=1, help="The current one otherwise.")] = None,
    source: Annotated[bool, typer.Option("--source", help="Print the contract as it was published.")] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show a version of a contract and what it is compiled into."""
    with ask(url) as client:
        found = client.contract(name, version)
        if source:
            typer.echo(client.contract_source(found), nl=False)
            return
        compiled = client.compiled_contract(name, found.version)
    if as_json:
        print_json({**found.document, "compiled": compiled})
        return
    console = output()
    console.print(f"{found.name} version {found.version}  {found.digest}")
    if found.baseline is not None:
        console.print(f"  baseline {short_digest(found.baseline)}")
    show_tables(console, found.tables)
    show_unjudged(
        console,
        [
            UnjudgedRule(table["name"], rule["rule"], rule["reason"], rule["blocking"])
            for table in compiled["objects"]
            for rule in table["not_evaluated"]
        ],
    )


@contracts.command("publish")
def publish(name: ContractName, file: ContractFile, url: Url = None, as_json: Json = False) -> None:
    """Publish a contract or its next version.

    What the current version says already makes none.
    """
    data, media_type = read_document(file)
    with ask(url) as client, problems_shown(file, as_json=as_json):
        found = client.publish_contract(name, data, media_type)
    if as_json:
        print_json(dict(found.contract.document))
        return
    show_problems(messages(), str(file), found.problems)
    console = output()
    console.print(f"{found.contract.name} version {found.contract.version}  {found.contract.digest}")
    show_tables(console, found.contract.tables)
    unjudged = sum(table.unjudged for table in found.contract.tables)
    if unjudged:
        said = f"{count(unjudged, 'blocking rule')} can't be judged: no data passes this version"
        messages().print(said, style="bad")
    if not found.is_new:
        messages().print("the current version said the same; there is no new one", style="dim")


contracts.command("check")(check)
