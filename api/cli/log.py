"""`shipworthy-server log`: going on after a loss."""

from typing import Annotated

import typer

from api.cli.opening import DATA_DEFAULT, DataOption, settings_from, told_plainly
from api.services import head_file
from models.database import Database
from models.keys.key_files import key_folder, load_key_files
from models.ledger.restore_log import accept_restore

app = typer.Typer(no_args_is_help=True, help="Look after the log.")


@app.callback()
def log() -> None:
    """Look after the log."""


@app.command("accept-restore")
def accept_restore_command(
    reason: Annotated[str, typer.Option(help="What happened; it stays in the log.")],
    data: DataOption = DATA_DEFAULT,
) -> None:
    """Go on with a database that has lost records, under a new origin whose first record says so."""
    with told_plainly(data):
        settings = settings_from(data)
        key = load_key_files(key_folder(settings.data)).log_key
        database = Database(settings.database_url)
        try:
            restored = accept_restore(database, key, head_file(settings), reason)
        finally:
            database.dispose()
    typer.echo(
        f"The log goes on as {restored.origin} with {restored.kept:,} records kept; the head that was lost "
        f"spoke of {restored.lost:,}. Its signature is in the new log's first record."
    )
