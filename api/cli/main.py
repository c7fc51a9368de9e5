"""`shipworthy-server`: run and look after the service."""

import os
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from api.cli.memory import UNUSED, collector_off, without

with collector_off(), without(*UNUSED):
    import structlog

    from api.cli import db, keys, log
    from api.cli.backup import backup, restore
    from api.cli.fsck import fsck
    from api.cli.serve import serve
    from api.cli.variables import SERVE, unknown_variables
    from api.cli.worker import worker

app = typer.Typer(
    name="shipworthy-server",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"shipworthy-server {version('shipworthy-server')}")
        raise typer.Exit


@app.callback()
def before_every_command(
    told: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Run and look after the Shipworthy service: lineage and release gates for model training."""
    # The database holds what tokens are checked against, and persons' addresses: files are for their owner.
    os.umask(0o077)
    if not structlog.is_configured():
        # By default it speaks on standard output, where a token or a report goes.
        structlog.configure(logger_factory=structlog.WriteLoggerFactory(sys.stderr))
    for sentence in unknown_variables(os.environ):
        typer.echo(f"shipworthy-server: {sentence}", err=True)


app.command(
    epilog="\b\nVariables (docs/operations.md):\n"
    + "\n".join(f"  {name:<30}{meaning}" for name, meaning in SERVE.items())
)(serve)
for command in (worker, fsck, backup, restore):
    app.command()(command)
app.add_typer(keys.app, name="keys")
app.add_typer(db.app, name="db")
app.add_typer(log.app, name="log")
