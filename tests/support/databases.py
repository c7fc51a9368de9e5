"""The addresses of one test's database."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class DatabaseUrls:
    """One database under two addresses: the service's role, and the role that owns it and migrates it.

    SQLite knows no roles: there both are the same. What `is_migrated` holds the tables already and nothing in them.
    """

    dialect: Literal["sqlite", "postgresql"]
    service_url: str
    migration_url: str
    is_migrated: bool = False


def sqlite_copy(template: Path, path: Path) -> DatabaseUrls:
    """A new SQLite database, a copy of the session's template: to create its tables takes 40 ms."""
    shutil.copyfile(template, path)
    url = f"sqlite:///{path}"
    return DatabaseUrls("sqlite", url, url, is_migrated=True)
