"""What a test's database holds before the test starts."""

from models.database import Database
from models.ledger.schema import upgrade
from tests.support.databases import DatabaseUrls


def prepare_template(owner_url: str, service_role: str | None = None) -> None:
    """Migrates the template that tests' databases are copied from; called once per server, and once for SQLite.

    `owner_url` is the address of the empty template for the role that owns it, `service_role` the role to
    grant to (PostgreSQL). Every connection must be closed on return, else PostgreSQL refuses to copy the database.
    """
    database = Database(owner_url)
    upgrade(database, service_role)
    database.dispose()


def migrated(urls: DatabaseUrls) -> Database:
    """A database as the service sees it, its schema up to date."""
    if not urls.is_migrated:
        prepare_template(urls.migration_url)
    return Database(urls.service_url)
