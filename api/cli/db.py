"""`shipworthy-server db`: the schema, the service role's rights, and projections made again."""

from typing import Annotated

import typer

from api.cli.opening import DATA_DEFAULT, DataOption, fail, settings_from, told_plainly
from api.cli.progress import records_told
from api.services import migrate
from models.database import Database
from models.ledger import rebuild, schema

app = typer.Typer(no_args_is_help=True, help="Look after the database.")


@app.command("upgrade")
def upgrade(data: DataOption = DATA_DEFAULT) -> None:
    """Bring the schema up to date, as the owner of the tables (SHIPWORTHY_MIGRATION_URL)."""
    with told_plainly(data):
        settings = settings_from(data)
        if settings.migration_url is None and not settings.database_url.startswith("sqlite"):
            fail("set SHIPWORTHY_MIGRATION_URL to the owner of the tables; the service's role can't")
        migrate(settings)
    typer.echo(f"The database has schema {schema.latest_revision()}, the newest that this version knows.")


@app.command("roles")
def roles(
    role: Annotated[
        str | None, typer.Option(help="The service's role; else that of the database URL.")
    ] = None,
    data: DataOption = DATA_DEFAULT,
) -> None:
    """Print the SQL that gives the service's PostgreSQL role its rights; run it as the owner."""
    with told_plainly(data):
        name = role or settings_from(data).service_role
        if name is None:
            fail("name the service's role with --role; SQLite knows no roles")
        for statement in schema.grants(name):
            typer.echo(f"{statement};")


@app.command("rebuild")
def rebuild_command(data: DataOption = DATA_DEFAULT) -> None:
    """Make every projection again from the records. Until it is done readers see the old ones."""
    with told_plainly(data):
        database = Database(settings_from(data).database_url)
        try:
            records = rebuild.rebuild(database, records_told("replayed"))
        finally:
            database.dispose()
    typer.echo(f"Made the projections of {records:,} records again.")
