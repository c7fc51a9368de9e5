"""Commands that work on the core alone, as typer calls them where its extra is there: they read their own arguments."""

import typer

from shipworthy.cli.execute import execute
from shipworthy.cli.sync import sync
from shipworthy.cli.verify import verify


def exec_command(context: typer.Context) -> None:
    """Run a program as a recorded run: shipworthy exec -- CMD."""
    raise typer.Exit(execute(context.args))


def sync_command(context: typer.Context) -> None:
    """Send what journals in a folder still keep: shipworthy sync DIR."""
    raise typer.Exit(sync(context.args))


def verify_command(context: typer.Context) -> None:
    """Prove offline that files were allowed to ship: shipworthy verify PATH --evidence BUNDLE --trust FILE."""
    raise typer.Exit(verify(context.args))
