"""`shipworthy decision` and `shipworthy trust`: decisions shown, and handed out for whoever verifies them offline."""

from pathlib import Path
from typing import Annotated

import typer

from shipworthy.cli.asking import Json, Url, ask
from shipworthy.cli.decision_parts import show_decision
from shipworthy.cli.screen import messages, output, print_json
from shipworthy.cli.words import short_digest, size
from shipworthy.errors import UsageError
from shipworthy.query.gates import Decision

decisions = typer.Typer(help="Decisions of gates, and what proves them.", no_args_is_help=True)
_Id = Annotated[str, typer.Argument(metavar="DECISION", help="Its id, sha256:….", show_default=False)]
_Out = Annotated[Path | None, typer.Option("--out", "-o", help="File to write; standard output otherwise.")]


@decisions.command("list")
def list_decisions(
    model: Annotated[str | None, typer.Option(help="Name of the model.")] = None,
    to: Annotated[str | None, typer.Option(help="Alias or stage.")] = None,
    gate: Annotated[str | None, typer.Option(help="Name of the gate.")] = None,
    verdict: Annotated[str | None, typer.Option(help="passed, review_required or blocked.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 20,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """List decisions, the latest first."""
    found: list[Decision] = []
    with ask(url) as client:
        listed = client.decisions(model=model, to=to, gate=gate, verdict=verdict, page=min(limit, 200))
        for each, _ in zip(listed, range(limit), strict=False):
            found.append(each)
    if as_json:
        print_json([dict(each.document) for each in found])
        return
    console = output()
    for each in found:
        version = f":{each.version}" if each.version else ""
        what = f"{each.model}{version} {short_digest(each.artifact)} → {each.target}"
        console.print(f"{each.verdict:<16} {what}  {each.evaluated_at}  {each.id}")
    if not found:
        messages().print(
            "no decision yet; make one: shipworthy gate evaluate MODEL:VERSION --gate NAME", style="dim"
        )


@decisions.command()
def show(decision: _Id, url: Url = None, as_json: Json = False) -> None:
    """Show a decision with every criterion, worst first."""
    with ask(url) as client:
        found = client.decision(decision)
    if as_json:
        print_json(dict(found.document))
    else:
        show_decision(output(), found)


@decisions.command()
def bundle(
    decision: _Id,
    out: _Out = None,
    since: Annotated[
        int | None, typer.Option("--from", min=0, help="Size of the log head in your pin, when it is older.")
    ] = None,
    url: Url = None,
) -> None:
    """Fetch all that proves a decision offline.

    It is what `shipworthy verify --evidence` takes.
    """
    with ask(url) as client:
        data = client.decision_bundle(decision, since)
    _hand_out(data, out)


def trust(out: _Out = None, url: Url = None) -> None:
    """Fetch the service's keys once, for `shipworthy verify --trust`; compare them over another way before use."""
    with ask(url) as client:
        data = client.trust()
    _hand_out(data, out)


def _hand_out(data: bytes, out: Path | None) -> None:
    if out is None:
        typer.echo(data.decode())
        return
    try:
        out.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{out} can't be written: {error.strerror}") from error
    messages().print(f"{out}: {size(len(data))}", style="dim")
