"""`shipworthy gate`: policies looked over, published, shown, evaluated, and tried on past decisions."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from shipworthy.cli.asking import Json, Url, ask
from shipworthy.cli.decision_parts import exit_of, show_decision
from shipworthy.cli.documents import problems_shown, read_document, show_looked_over, show_published
from shipworthy.cli.exits import Exit
from shipworthy.cli.model_names import split_version
from shipworthy.cli.screen import output, print_json
from shipworthy.cli.words import count, short_digest
from shipworthy.errors import UsageError

gates = typer.Typer(help="Release gates: what has to hold before a model may ship.", no_args_is_help=True)
_File = Annotated[Path, typer.Argument(help="Policy as YAML or JSON.", show_default=False)]
_Name = Annotated[str, typer.Argument(help="Name of the gate.", show_default=False)]


@gates.command()
def lint(file: _File, url: Url = None, as_json: Json = False) -> None:
    """Say what is wrong with a policy, with line and remedy.

    It says too how likely an unchanged model passes its slices.

    Exit code: 0 it can be published, 1 it can't.
    """
    data, media_type = read_document(file)
    with ask(url) as client:
        found = client.lint_gate(data, media_type)
    show_looked_over(file, found, as_json=as_json)


@gates.command()
def publish(name: _Name, file: _File, url: Url = None, as_json: Json = False) -> None:
    """Make a policy the next version of a gate. A published version never changes."""
    data, media_type = read_document(file)
    with ask(url) as client, problems_shown(file, as_json=as_json):
        found = client.publish_gate(name, data, media_type)
    show_published(file, found, as_json=as_json)


@gates.command()
def show(
    name: _Name,
    version: Annotated[int | None, typer.Option(min=1, help="The current one otherwise.")] = None,
    source: Annotated[bool, typer.Option("--source", help="Print the policy as it was published.")] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show a version of a gate."""
    with ask(url) as client:
        if source:
            typer.echo(client.gate_source(name, version), nl=False)
            return
        found = client.gate(name, version)
    if as_json:
        print_json(dict(found.document))
        return
    console = output()
    console.print(f"{found.name} version {found.version}: {found.model} → {found.target}")
    for criterion in found.document["criteria"]:
        console.print(f"  {criterion}")
    console.print(Text(f"  {found.document_digest}", "dim"))


@gates.command()
def evaluate(
    what: Annotated[
        str, typer.Argument(metavar="MODEL:VERSION", help="A registered version.", show_default=False)
    ],
    gate: Annotated[str, typer.Option(help="Name of the gate.", show_default=False)],
    to: Annotated[str | None, typer.Option(help="Alias or stage; the gate's own otherwise.")] = None,
    shadow: Annotated[bool, typer.Option("--shadow", help="Try the policy out; lets nothing pass.")] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Have a gate decide on what is recorded now.

    Exit codes: 0 ship, 1 blocked, 3 needs review, 4 evidence is missing or stale.
    """
    model, version = split_version(what)
    with ask(url) as client:
        artifact = client.version(model, version).artifact
        target = to or client.gate(gate).target
        found = client.decide(
            gate,
            model=model,
            artifact=artifact,
            version=version,
            to=target,
            mode="shadow" if shadow else "enforce",
        )
    if as_json:
        print_json(dict(found.document))
    else:
        show_decision(output(), found)
    code = exit_of(found)
    if code is not Exit.OK:
        raise typer.Exit(code)


@gates.command()
def replay(
    name: _Name,
    file: Annotated[Path | None, typer.Option("--policy", help="A policy that is not published yet.")] = None,
    version: Annotated[int | None, typer.Option(min=1, help="A published version.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=500, help="Past decisions, the latest first.")] = 100,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Tell what another policy would have decided otherwise.

    Exit code: 0 none, 1 some.
    """
    if (file is None) == (version is None):
        raise UsageError("name one policy: --policy FILE, or --version N")
    policy = None if file is None else _text(file)
    with ask(url) as client:
        replayed, flips = client.replay(name, policy=policy, version=version, limit=limit)
    if as_json:
        print_json({"replayed": replayed, "flips": [asdict(each) for each in flips]})
    else:
        console = output()
        for each in flips:
            line = Text(f"  {each.model} {short_digest(each.artifact)}: {each.before} → {each.after}", "name")
            console.print(line.append(f"  by {', '.join(each.because) or 'the policy as a whole'}", "dim"))
        console.print(f"{count(len(flips), 'decision')} of {replayed} would have come out otherwise")
    if flips:
        raise typer.Exit(Exit.NEGATIVE)


def _text(file: Path) -> str:
    try:
        return read_document(file)[0].decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8 text") from error
