"""`shipworthy-server backup` and `restore`."""

from pathlib import Path
from typing import Annotated

import typer

from api.cli.fsck import rendered
from api.cli.opening import DATA_DEFAULT, DataOption, settings_from, told_plainly
from api.cli.progress import tell
from api.services import head_file, migrate
from api.settings import Settings
from models.blobs import local_folder
from models.database import Database
from models.keys.key_files import key_folder, load_key_files
from models.ledger import backup as backups
from models.ledger import restore as restores


def backup(
    target: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
    data: DataOption = DATA_DEFAULT,
) -> None:
    """Copy database, blobs and log head to a new folder, while the service runs. Keys are not copied."""
    with told_plainly(data):
        settings = settings_from(data)
        database = Database(settings.database_url)
        try:
            manifest = backups.backup(database, _blob_folder(settings), target, tell)
        finally:
            database.dispose()
    typer.echo(f"{target} holds the log up to {manifest.size:,} records, made at {manifest.made_at}.")
    if not manifest.blobs_included:
        typer.echo("Blobs lie in an object store and are not part of it: back them up there.", err=True)
    typer.echo(
        f"The keys in {key_folder(settings.data)} are not part of it: keep a copy of them elsewhere.",
        err=True,
    )


def restore(
    source: Annotated[
        Path, typer.Argument(metavar="DIR", readable=False, help="A folder that `backup` made.")
    ],
    data: DataOption = DATA_DEFAULT,
) -> None:
    """Put a backup into an empty database and data folder, then check all of it.

    Put the keys back first. The backup may come from the other kind of database.
    """
    with told_plainly(data):
        settings = settings_from(data)
        key = load_key_files(key_folder(settings.data)).log_key
        if settings.migrate:
            migrate(settings)
        database = Database(settings.database_url)
        try:
            blobs = _blob_folder(settings)
            report = restores.restore(source, database, blobs, key, head_file(settings), tell)
        finally:
            database.dispose()
    typer.echo(rendered(report))
    if not report.clean:
        raise typer.Exit(1)
    typer.echo(f"Restored {source}.")


def _blob_folder(settings: Settings) -> Path | None:
    return local_folder(settings.blobs or settings.data / "blobs")
