"""Alembic's environment: runs on a connection that the service hands over, or on a URL for the command line."""

from alembic import context
from sqlalchemy import Connection, create_engine


def run(connection: Connection) -> None:
    context.configure(connection=connection, transaction_per_migration=True)
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    url = context.config.get_main_option("sqlalchemy.url")
    if not url:
        raise SystemExit("use `shipworthy-server db upgrade`, or set sqlalchemy.url")
    with create_engine(url).connect() as connection:
        run(connection)
        connection.commit()
