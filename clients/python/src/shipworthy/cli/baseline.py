"""`shipworthy baseline`: distributions of data that is known to be good, for contracts to compare with."""

from typing import Annotated

import typer

from shipworthy.cli.asking import Json, Url, ask
from shipworthy.cli.exits import Exit
from shipworthy.cli.screen import messages, output, print_json
from shipworthy.cli.words import count, short_digest
from shipworthy.cli.working import WAIT_SECONDS, progress_of
from shipworthy.errors import UsageError

baselines = typer.Typer(
    help="Measure data that is known to be good.", no_args_is_help=True, rich_markup_mode=None
)
Digest = Annotated[str, typer.Argument(help="Digest of the baseline.", show_default=False)]


@baselines.command("make")
def make(
    snapshot: Annotated[str | None, typer.Option(help="Digest of a recorded snapshot.")] = None,
    root: Annotated[str | None, typer.Option(help="Registered root of a worker.")] = None,
    path: Annotated[str | None, typer.Option(help="File or folder beneath the root.")] = None,
    number: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Column to keep bins of; repeat it for more.")
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Column to keep values of; repeat it for more.")
    ] = None,
    bins: Annotated[int, typer.Option(min=2, max=100, help="Bins of each number column.")] = 10,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds to wait at most.")] = WAIT_SECONDS,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Have a worker measure data.

    Prints the digest that a contract pins.
    """
    if (root is None) != (path is None) or (snapshot is None and root is None):
        raise UsageError("name the data: --snapshot DIGEST, or --root ROOT --path PATH")
    if not number and not label:
        raise UsageError("name the columns: --number COLUMN for numbers, --label COLUMN for values")
    with ask(url) as client:
        asked = client.make_baseline(
            snapshot=snapshot, root=root, path=path, numbers=number or (), labels=label or (), bins=bins
        )
        with progress_of("measuring", client.url) as tell:
            found = client.wait_for_work(asked.id, timeout, tell)
    if as_json:
        print_json(dict(found.document))
    elif found.baseline is not None:
        output().print(found.baseline)
    if found.baseline is None:
        reason = found.reason or f"after {timeout:g} s; it goes on as {found.id}"
        messages().print(f"{found.state}: {reason}", style="bad")
        raise typer.Exit(Exit.NOT_JUDGED)


@baselines.command("show")
def show(digest: Digest, url: Url = None, as_json: Json = False) -> None:
    """Show what a baseline was made of and who approved it."""
    with ask(url) as client:
        found = client.baseline(digest)
    if as_json:
        print_json(dict(found.document))
        return
    console = output()
    console.print(f"{found.digest}\n  {count(found.rows, 'row')} of {short_digest(found.manifest)}")
    for column in found.columns:
        what = "bins" if column["kind"] == "number" else "labels"
        nulls = f", {count(column['nulls'], 'null')}" if column["nulls"] else ""
        console.print(f"  {column['name']}: {count(column['n'], 'value')}{nulls}, kept as {what}")
    for approval in found.approvals:
        console.print(f"  approved by {approval.owner or 'somebody'}: {approval.reason}")
    if not found.approvals:
        console.print("  not approved", style="weak")


@baselines.command("approve")
def approve(
    digest: Digest,
    reason: Annotated[str, typer.Option(help="Why it may be compared with; it stays in the log.")],
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Approve a baseline that somebody else asked for."""
    with ask(url) as client:
        record = client.approve_baseline(digest, reason)
    if as_json:
        print_json({"baseline": digest, "record": record})
    else:
        output().print(f"{short_digest(digest)} is approved; record {record}")
