"""`shipworthy-server`: run and look after the service."""

import typer

from api.cli import keys
from api.cli.serve import serve

app = typer.Typer(
    name="shipworthy-server",
    help="Run and look after the Shipworthy service: lineage and release gates for model training.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(serve)
app.add_typer(keys.app, name="keys")
