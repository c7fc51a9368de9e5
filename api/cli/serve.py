"""`shipworthy-server serve`: the service in one process, until it is told to stop."""

from typing import Annotated

import typer

from api.cli.memory import UNUSED, collector_off, without
from api.cli.numbers import whole_number
from api.cli.opening import DATA_DEFAULT, DataOption
from api.cli.worker import RootOption


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            parser=whole_number(0, 65535), metavar="PORT", help="Port to listen on; 0 takes a free one."
        ),
    ] = 8470,
    data: DataOption = DATA_DEFAULT,
    open_mode: Annotated[
        bool,
        typer.Option("--open", help="No keys: anyone on this machine is the person “local”. For trying out."),
    ] = False,
    root: RootOption = None,
) -> None:
    """Run the service. A worker beside it makes the statistics of evaluations and, with --root, contract checks."""
    with collector_off(), without(*UNUSED):
        from api.cli.serving import serve_until_stopped

    serve_until_stopped(host, port, data, open_mode, root or [])
