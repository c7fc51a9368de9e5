"""`shipworthy-server`: run and look after the service."""

import os

import typer

from api.cli import keys
from api.cli.serve import serve

app = typer.Typer(
    name="shipworthy-server",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def private_files() -> None:
    """Run and look after the Shipworthy service: lineage and release gates for model training."""
    # The database holds what tokens are checked against, and persons' addresses: files are for their owner.
    os.umask(0o077)


app.command()(serve)
app.add_typer(keys.app, name="keys")
