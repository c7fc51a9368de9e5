"""Why a command can't use its files or its database, in words for who started it: which, the reason, what to do."""

import os
import re
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from models.errors import Unavailable

_VARIABLES: Final = ("SHIPWORTHY_MIGRATION_URL", "SHIPWORTHY_DATABASE_URL")
_OF_THE_FILE: Final = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
)
_CAUSES: Final = (
    (
        "password authentication failed",
        "the server refuses user or password; put the right ones into the URL",
    ),
    ("no password supplied", "the server asks for a password; put it into the URL: user:password@host"),
    (
        r'role ".*" does not exist',
        "the server has no such user; create the role (docs/operations.md, “PostgreSQL”) or mend the user",
    ),
    (
        r'database ".*" does not exist',
        "the server has no such database; create it (docs/operations.md, “PostgreSQL”) or mend the name",
    ),
    (
        "could not translate host name|failed to resolve host|[Nn]ame or service not known|name resolution",
        "no host of that name is found; mend the host, or the name service of this machine",
    ),
    ("Connection refused", "nothing listens there; start PostgreSQL, or mend host and port"),
    (
        "timeout expired|timed out|No route to host|Network is unreachable",
        "nothing answers there; mend host and port, or what stands between, such as a firewall",
    ),
    ("No such file or directory", "no PostgreSQL has its socket there; start it, or mend host and port"),
    ("pg_hba.conf", "the server lets that user not in from here; allow it in the server's pg_hba.conf"),
    (
        "too many (clients|connections)|connection slots",
        "all connections of the server are taken; end some, or raise its max_connections",
    ),
)
"""What libpq and the server say of a connection that was not made, and what to do; the first that fits counts."""


def database_trouble(error: Unavailable, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Sentences about a database that is away. A caller is told no address and no role; who starts the service needs
    both, and never sees the password."""
    cause = getattr(error.__cause__, "orig", None) or error.__cause__
    said = [line.strip() for line in str(cause or "").splitlines() if line.strip()]
    if error.database is None:
        return [error.detail, *said]
    url = make_url(error.database)
    if isinstance(cause, sqlite3.Error):
        if getattr(cause, "sqlite_errorcode", 0) & 0xFF not in _OF_THE_FILE:
            return [error.detail, *said]
        return [
            f"the database file {url.database} can't be opened or written: {cause}; make it and its folder this "
            "user's own, free some space, or give a folder that you own with --data"
        ]
    where = f"{' and '.join(_variables(error.database, environment))} ({_address(url)})"
    for pattern, advice in _CAUSES:
        if re.search(pattern, str(cause)):
            return [f"{where}: {advice}"]
    return [f"{where}: the database can't be reached; try again in a second, or mend the URL", *said]


def file_trouble(error: OSError, data: Path | None) -> str:
    """A sentence about a file or folder that can't be read, made or written."""
    path = Path(os.fsdecode(error.filename)).absolute()
    reason = "it is a file, not a folder" if isinstance(error, FileExistsError) else error.strerror
    folder = None if data is None else data.absolute()
    if folder is None or not (path == folder or folder in path.parents or path in folder.parents):
        return f"{path} can't be read or written: {reason}; choose a place that this user may write"
    about = "" if path == folder else f" ({path})"
    return (
        f"the data folder {folder} can't be made, read or written{about}: {reason}; give a folder that you own with "
        "--data DIR"
    )


def _variables(address: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Those that name this database; the service's own when they can't be told apart."""
    found = [name for name in _VARIABLES if _without_password(environment.get(name, "")) == address]
    yield from found or _VARIABLES[1:]


def _without_password(url: str) -> str | None:
    try:
        return str(make_url(url))
    except ArgumentError:
        return None


def _address(url: URL) -> str:
    host = url.host or url.query.get("host") or "a local socket"
    port = f":{url.port}" if url.port else ""
    return f"user {url.username}, host {host}{port}, database {url.database}"
