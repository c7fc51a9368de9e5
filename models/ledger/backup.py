"""A copy of everything but the keys, while the service runs: one state of the database, then the blobs.

Blobs are only ever added, and before the records that name them: copied after the database none is missing.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, select
from sqlalchemy import Table as SqlTable

from models.bulk import sql_table
from models.columns import Table
from models.database import Database
from models.errors import InvalidInput, StartRefused
from models.keys.tables import ApiKey, EndedSession
from models.ledger.backup_files import (
    BLOBS,
    FORMAT,
    HEAD,
    BackedUpFile,
    BackupManifest,
    copy_file,
    describe,
    private,
    sync,
    write_manifest,
    write_table,
)
from models.ledger.head import read_head
from models.ledger.rebuild import PROJECTIONS
from models.ledger.schema import latest_revision, require_current
from models.ledger.tables import Disclosure, Record, TreeHead, TreeNode
from models.lineage.tables import RunProgress
from models.promotions.tables import ReconcilerSign
from models.slo.tables import SourceLife, TickLease
from models.work.tables import Work, WorkerRoot
from shipworthy.formats.times import format_instant

TABLES: Final[tuple[type[Table], ...]] = (
    Record,
    TreeNode,
    TreeHead,
    Disclosure,
    ApiKey,
    EndedSession,
    *PROJECTIONS,
    ReconcilerSign,
    RunProgress,
    SourceLife,
    TickLease,
    Work,
    WorkerRoot,
)
_FETCH_ROWS: Final = 500
_BLOB: Final = re.compile(r"[0-9a-f]{64}/[0-9a-f]{2}/[0-9a-f]{64}")
Progress = Callable[[str], None]


def backup(
    database: Database, blobs: Path | None, target: Path, progress: Progress = lambda sentence: None
) -> BackupManifest:
    """Writes a backup to a new or empty folder; the manifest, written last, makes it one.

    `blobs` is the folder of the blob store, None when an object store keeps them. Raises InvalidInput when
    the target is taken or a blob no longer hashes to its name (then there is no backup), StartRefused when
    the database has another schema or no log. Whatever is raised, nothing of the backup stays behind.
    """
    was_there = target.exists()
    if was_there and (not target.is_dir() or any(target.iterdir())):
        raise InvalidInput(f"{target} is not empty; name a new folder for the backup")
    target.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Of two backups to one folder the later one ends here, before it would take away what the other writes.
    (target / "tables").mkdir(mode=0o700)
    try:
        return _backed_up(database, blobs, target, progress)
    except BaseException:
        for made in target.iterdir():
            shutil.rmtree(made) if made.is_dir() else made.unlink()
        if not was_there:
            target.rmdir()
        raise


def _backed_up(database: Database, blobs: Path | None, target: Path, progress: Progress) -> BackupManifest:
    rows: dict[str, int] = {}
    with database.read() as session:
        connection = session.connection()
        require_current(connection)
        head = read_head(connection)
        if head is None:
            raise StartRefused(
                "the database has no log yet; start the service once, then there is something to keep"
            )
        for table in map(sql_table, TABLES):
            rows[table.name] = write_table(table_file(target, table), table, _rows(connection, table))
            progress(f"{table.name}: {rows[table.name]:,} rows")
    with open(target / HEAD, "x", encoding="utf-8", opener=private) as file:
        file.write(head.note)
        sync(file)
    files = [describe(target, path) for path in (target / HEAD, *sorted((target / "tables").iterdir()))]
    if blobs is not None:
        files += _copy_blobs(blobs, target)
        progress(f"blobs: {len(files) - len(TABLES) - 1:,} files")
    manifest = BackupManifest(
        format=FORMAT,
        made_at=format_instant(datetime.now(UTC)),
        server_version=version("shipworthy-server"),
        schema_revision=latest_revision(),
        database=database.dialect,
        origin=head.origin,
        size=head.size,
        root="sha256:" + head.frontier.root().hex(),
        rows=rows,
        blobs_included=blobs is not None,
        files=tuple(files),
    )
    write_manifest(target, manifest)
    return manifest


def table_file(folder: Path, table: SqlTable) -> Path:
    return folder / "tables" / f"{table.name}.jsonl.gz"


def blob_files(folder: Path) -> Iterator[Path]:
    """Finished blobs below a store's folder, relative to it; what is still being received is left out."""
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if _BLOB.fullmatch(relative.as_posix()) and path.is_file():
            yield relative


def _rows(connection: Connection, table: SqlTable) -> Iterator[Any]:
    query = select(table).order_by(*table.primary_key)
    with connection.execution_options(yield_per=_FETCH_ROWS).execute(query) as result:
        yield from result


def _copy_blobs(blobs: Path, target: Path) -> Iterator[BackedUpFile]:
    for relative in blob_files(blobs):
        copy = target / BLOBS / relative
        digest = copy_file(blobs / relative, copy)
        if digest != f"sha256:{relative.name}":
            raise InvalidInput(
                f"the blob {blobs / relative} is damaged: its bytes hash to {digest}; send the right ones "
                f"with PUT /v1/blobs/sha256:{relative.name}, or remove the file, then back up again"
            )
        yield BackedUpFile(path=f"{BLOBS}/{relative.as_posix()}", size=copy.stat().st_size, sha256=digest)
