"""`shipworthy contract check`: data checked by a worker, as a gate in CI asks for it."""

import json
from datetime import datetime
from typing import Annotated, Final

import typer

from shipworthy.cli.asking import Json, Url, ask
from shipworthy.cli.contract_parts import show_check
from shipworthy.cli.exits import Exit
from shipworthy.cli.screen import messages, output, print_json
from shipworthy.cli.working import WAIT_SECONDS, progress_of, remedy
from shipworthy.errors import UsageError
from shipworthy.formats.times import parse_instant
from shipworthy.query.client import ShipworthyClient

EXITS: Final = {"passed": Exit.OK, "failed": Exit.NEGATIVE}
"""Every other outcome is none: nothing was judged, and nothing may pass for it."""


def check(
    name: Annotated[str, typer.Argument(help="Name of the contract.", show_default=False)],
    snapshot: Annotated[str | None, typer.Option(help="Digest of a recorded snapshot.")] = None,
    root: Annotated[str | None, typer.Option(help="Registered root of a worker.")] = None,
    path: Annotated[str | None, typer.Option(help="File or folder beneath the root.")] = None,
    table: Annotated[str | None, typer.Option(help="Table of the contract, when it has several.")] = None,
    baseline: Annotated[str | None, typer.Option(help="Digest that the contract must pin.")] = None,
    as_of: Annotated[str | None, typer.Option(help="Time from which ages are told; now otherwise.")] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Parameter of the contract; repeat it for more."),
    ] = None,
    run: Annotated[
        str | None, typer.Option(metavar="RUN_ID", help="The run that the check is made for.")
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the result and end with its exit code.")
    ] = False,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds that --wait waits at most.")] = WAIT_SECONDS,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Have data checked against the current version of a contract.

    With --wait: exit code 0 passed, 1 failed, 4 error or not evaluated.
    """
    if (root is None) != (path is None) or (snapshot is None and root is None):
        raise UsageError("name the data: --snapshot DIGEST, or --root ROOT --path PATH")
    parameters = dict(_parameter(each) for each in parameter or ())
    with ask(url) as client:
        asked = client.check_contract(
            name,
            snapshot=snapshot,
            root=root,
            path=path,
            table=table,
            baseline=baseline,
            as_of=None if as_of is None else _instant(as_of),
            parameters=parameters,
            run_id=run,
        )
        if not wait:
            if as_json:
                print_json(dict(asked.document))
            else:
                output().print(asked.id)
                messages().print(f"queued; see {_page(client, asked.id)}", style="dim", soft_wrap=True)
                alone = remedy(client.check(asked.id).work, client.url)
                if alone is not None:
                    messages().print(alone, style="weak", soft_wrap=True)
            return
        with progress_of(f"checking {name}", client.url) as tell:
            found = client.wait_for_check(asked.id, timeout, tell)
    if as_json:
        print_json(dict(found.work.document))
    else:
        show_check(output(), found)
    if not found.work.has_ended:
        said = f"{found.work.state} after {timeout:g} s; it goes on: {_page(client, asked.id)}"
        messages().print(said, style="weak", soft_wrap=True)
    code = EXITS.get(found.outcome, Exit.NOT_JUDGED)
    if code is not Exit.OK:
        raise typer.Exit(code)


def _page(client: ShipworthyClient, check_id: str) -> str:
    return f"{client.url}/contract-checks/{check_id}"


def _parameter(text: str) -> tuple[str, str | int | float | bool]:
    """A number or true and false as JSON has them, else the text."""
    name, equals, value = text.partition("=")
    if not (equals and name):
        raise UsageError(f"--parameter {text!r}: write NAME=VALUE, such as day=2026-05-01")
    try:
        found = json.loads(value)
    except ValueError:
        return name, value
    return name, found if isinstance(found, int | float) else value


def _instant(text: str) -> datetime:
    try:
        return parse_instant(text)
    except ValueError as error:
        raise UsageError(
            f"--as-of {text!r}: write a time with a zone, such as 2026-05-01T12:00:00Z"
        ) from error
