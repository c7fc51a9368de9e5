"""What the routes share: opened once, closed in order."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from prometheus_client import CollectorRegistry
from sqlalchemy import make_url
from starlette.requests import Request

from api.auth import Authenticator
from api.settings import Settings
from models.blobs import BlobStore
from models.database import Database
from models.errors import StartRefused
from models.keys.key_files import KeyRing, ensure_key_files, key_folder
from models.ledger import schema
from models.ledger.head import HeadFile
from models.ledger.opening import open_ledger
from models.ledger.writer import Ledger


@dataclass(frozen=True, slots=True)
class Services:
    settings: Settings
    database: Database
    ledger: Ledger
    ring: KeyRing
    authenticator: Authenticator
    blobs: BlobStore
    registry: CollectorRegistry


def services_of(request: Request) -> Services:
    return cast(Services, request.app.state.services)


def head_file(settings: Settings) -> HeadFile:
    return HeadFile(settings.data / "log-head")


def migrate(settings: Settings) -> None:
    """Brings the schema up to date as the owner of the tables.

    With PostgreSQL that needs SHIPWORTHY_MIGRATION_URL; without it an old schema is refused when the ledger opens.
    """
    url = settings.migration_url
    if url is None and settings.database_url.startswith("sqlite"):
        # A folder of its own: keys lie beside it, not in it, so that a copy of one is no copy of the other.
        database = make_url(settings.database_url).database
        if database:
            Path(database).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        url = settings.database_url
    if url is None:
        return
    owner = Database(url)
    try:
        schema.upgrade(owner, settings.service_role)
    finally:
        owner.dispose()


@contextmanager
def opened_services(settings: Settings, *, open_mode: bool = False) -> Iterator[Services]:
    """Everything the service needs, checked; on leaving, what is queued is committed before anything closes.

    Raises StartRefused when something is not as it must be, OSError for a folder or file that can't be written.
    """
    ring = ensure_key_files(key_folder(settings.data))
    if settings.migrate:
        migrate(settings)
    _require_writable(settings)
    database = Database(settings.database_url)
    try:
        ledger = open_ledger(database, ring.log_key, head_file(settings))
        authenticator = Authenticator(database, ring.pepper, open_mode)
        try:
            yield Services(
                settings=settings,
                database=database,
                ledger=ledger,
                ring=ring,
                authenticator=authenticator,
                blobs=_blobs(settings),
                registry=CollectorRegistry(),
            )
        finally:
            ledger.close()
            authenticator.close()
    finally:
        database.dispose()


def _require_writable(settings: Settings) -> None:
    """SQLite opens what it may only read without a word, and the head is written later: the service would start, and
    fail at its first record."""
    places, database = [settings.data], make_url(settings.database_url).database
    if settings.database_url.startswith("sqlite") and database:
        places += [Path(database).parent, Path(database)]
    for place in places:
        if place.exists() and not os.access(place, os.W_OK):
            reason = errno.EROFS if os.statvfs(place).f_flag & os.ST_RDONLY else errno.EACCES
            raise OSError(reason, os.strerror(reason), str(place))


def _blobs(settings: Settings) -> BlobStore:
    try:
        return BlobStore(settings.blobs or settings.data / "blobs")
    except (OSError, ValueError) as error:
        raise StartRefused(f"the blob store can't be opened: {error}; check SHIPWORTHY_BLOBS") from error
