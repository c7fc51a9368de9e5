"""`shipworthy lineage`: what a model version, or a run, is made of."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

import typer

from shipworthy.cli.asking import Json, Url, ask
from shipworthy.cli.lineage_tree import lineage_tree
from shipworthy.cli.screen import output, print_json
from shipworthy.errors import UsageError
from shipworthy.formats.times import parse_instant
from shipworthy.identity import is_run_id
from shipworthy.query.client import ShipworthyClient
from shipworthy.query.lineage import Lineage


class Direction(StrEnum):
    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"
    BOTH = "both"


def lineage(
    what: Annotated[
        str, typer.Argument(metavar="MODEL:VERSION", help="A model version, or a run id.", show_default=False)
    ],
    depth: Annotated[int, typer.Option(min=0, max=32, help="Levels of runs to follow.")] = 3,
    direction: Annotated[Direction, typer.Option()] = Direction.UPSTREAM,
    as_of: Annotated[
        str | None, typer.Option(help="As received by then: a log position, or a time with a zone.")
    ] = None,
    registry: Annotated[str, typer.Option(help="Registry that the model is in.")] = "default",
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show what a model version is made of, and what is not known of it."""
    then = None if as_of is None else _as_of(as_of)
    with ask(url) as client:
        found = _find(client, what, registry, depth, direction, then)
    if as_json:
        print_json(dict(found.document))
        return
    output().print(lineage_tree(found))


def _find(
    client: ShipworthyClient,
    what: str,
    registry: str,
    depth: int,
    direction: str,
    as_of: int | datetime | None,
) -> Lineage:
    if is_run_id(what):
        return client.run_lineage(what, depth=depth, direction=direction, as_of=as_of, proof=True)
    model, colon, version = what.rpartition(":")
    if not colon or not model or not version:
        raise UsageError(f"{what!r} is neither MODEL:VERSION, such as fraud-scorer:3, nor a run id")
    return client.lineage(
        model, version, registry=registry, depth=depth, direction=direction, as_of=as_of, proof=True
    )


def _as_of(text: str) -> int | datetime:
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        return parse_instant(text)
    except ValueError as error:
        raise UsageError(
            f"--as-of {text!r}: give a log position or a time such as 2026-05-01T12:00:00Z"
        ) from error
