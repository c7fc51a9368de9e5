"""Settings of the service, from options and SHIPWORTHY_… variables; docs/operations.md lists them all."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from models.errors import StartRefused
from models.patterns import IDENTIFIER_PATTERN

DEFAULT_DATA: Final = Path("shipworthy-data")


@dataclass(frozen=True, slots=True)
class Settings:
    """`data` holds the SQLite database, blobs, keys and the log head; URLs are SQLAlchemy's. `protect` are names of
    registries, "*" for all of them."""

    data: Path
    database_url: str
    migration_url: str | None
    migrate: bool = True
    blobs: str | None = None
    metrics_token: str | None = None
    log_level: str = "info"
    protect: tuple[str, ...] = ()

    @property
    def service_role(self) -> str | None:
        """The PostgreSQL role that the service connects as."""
        return make_url(self.database_url).username


def read_settings(data: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """Raises StartRefused naming the variable that can't be read."""
    data = data.absolute()
    return Settings(
        data=data,
        database_url=_url(environment, "SHIPWORTHY_DATABASE_URL")
        or f"sqlite:///{data}/database/shipworthy.sqlite3",
        migration_url=_url(environment, "SHIPWORTHY_MIGRATION_URL"),
        migrate=_switch(environment, "SHIPWORTHY_MIGRATE", default=True),
        blobs=environment.get("SHIPWORTHY_BLOBS") or None,
        metrics_token=environment.get("SHIPWORTHY_METRICS_TOKEN") or None,
        log_level=_level(environment),
        protect=_protect(environment),
    )


def _url(environment: Mapping[str, str], name: str) -> str | None:
    text = environment.get(name)
    if not text:
        return None
    try:
        url = make_url(text)
    except ArgumentError as error:
        raise StartRefused(
            f"{name} is not a database URL; write postgresql://user:password@host/name"
        ) from error
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise StartRefused(
            f"{name} names {url.get_backend_name()!r}; only sqlite and postgresql are known: write "
            "postgresql://user:password@host/name"
        )
    return text


def _switch(environment: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = environment.get(name, "").lower()
    if text in ("", "1", "true", "on", "yes"):
        return default if text == "" else True
    if text in ("0", "false", "off", "no"):
        return False
    raise StartRefused(f"{name} is {text!r}; write on or off")


def _protect(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Names of registries that take a decision though no gate stands there yet."""
    names = [name.strip() for name in environment.get("SHIPWORTHY_PROTECT", "").split(",")]
    for name in names:
        if name not in ("", "*") and not re.fullmatch(IDENTIFIER_PATTERN, name):
            raise StartRefused(
                f"SHIPWORTHY_PROTECT names {name!r}, which is no alias or stage; write names with commas between them, "
                "or * for all"
            )
    return tuple(sorted({name for name in names if name}))


def _level(environment: Mapping[str, str]) -> str:
    text = environment.get("SHIPWORTHY_LOG_LEVEL", "info").lower()
    if text not in ("debug", "info", "warning", "error"):
        raise StartRefused(f"SHIPWORTHY_LOG_LEVEL is {text!r}; write debug, info, warning or error")
    return text
