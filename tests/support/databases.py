"""The addresses of one test's database."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class DatabaseUrls:
    """One database under two addresses: the service's role, and the role that owns it and migrates it.

    SQLite knows no roles: there both are the same.
    """

    dialect: Literal["sqlite", "postgresql"]
    service_url: str
    migration_url: str
