"""What a test's PostgreSQL database holds before the test starts."""

from models.database import Database
from models.ledger.schema import upgrade


def prepare_template(owner_url: str, service_role: str) -> None:
    """Migrates the template that each test's database is copied from; called once per server.

    `owner_url` is the address of the empty template for the role that owns it, `service_role` the role to
    grant to. Every connection must be closed on return, else PostgreSQL refuses to copy the database.
    """
    database = Database(owner_url)
    upgrade(database, service_role)
    database.dispose()
