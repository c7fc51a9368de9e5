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
from shipworthy.query.errors import QueryError
from shipworthy.query.lineage import Lineage


class Direction(StrEnum):
    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"
    BOTH = "both"


def lineage(
    what: Annotated[
        str,
        typer.Argument(
            metavar="MODEL:VERSION",
            help="A model version; or a run id; or NAMESPACE/NAME of a job, whose newest run it is.",
            show_default=False,
        ),
    ],
    depth: Annotated[int, typer.Option(min=0, max=32, help="Levels of runs to follow.")] = 3,
    direction: Annotated[
        Direction, typer.Option(help="What it is made of, what is made from it, or both.")
    ] = Direction.UPSTREAM,
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
    run_id = what if is_run_id(what) else None
    model, colon, version = what.rpartition(":")
    namespace, slash, job = what.partition("/")
    if not colon and slash:
        newest = next(client.runs(job_namespace=namespace, job=job, page=1), None)
        if newest is None:
            raise QueryError(f"no run of the job {what}; `shipworthy runs` lists what there is")
        run_id = newest.run_id
    if run_id is not None:
        return client.run_lineage(run_id, depth=depth, direction=direction, as_of=as_of, proof=True)
    if not colon or not model or not version:
        raise UsageError(
            f"{what!r} is neither MODEL:VERSION, such as fraud-scorer:3, nor a run id, nor a job such as fraud/train"
        )
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
