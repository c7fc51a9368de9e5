"""A backup put back into an empty database of either kind and an empty data folder, then checked whole."""

import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import Connection, select

from models.blob_places import make_private_folder
from models.bulk import insert_rows, sql_table
from models.columns import Table
from models.database import Database
from models.errors import InvalidInput
from models.ledger.backup import TABLES, Progress, blob_files, table_file
from models.ledger.backup_files import (
    BLOBS,
    HEAD,
    BackupManifest,
    check_files,
    copy_file,
    read_manifest,
    read_table,
    sync_folder,
)
from models.ledger.findings import Report
from models.ledger.fsck import fsck
from models.ledger.head import HeadFile
from models.ledger.lock import take_log_lock
from models.ledger.schema import latest_revision, require_current

_INSERT_ROWS: Final = 500


def restore(
    source: Path,
    database: Database,
    blobs: Path | None,
    key: Ed25519PrivateKey,
    head_file: HeadFile,
    progress: Progress = lambda sentence: None,
) -> Report:
    """Verifies the backup's hashes, fills the database in one transaction, puts blobs back, runs fsck.

    The head outside is written only when there is none: one that is there may know of more records than the
    backup has, and that is for `log accept-restore` to say. Raises InvalidInput when the backup is
    unfinished, damaged or of another schema, or when database or blob folder are not empty; nothing is
    changed then.
    """
    manifest = read_manifest(source)
    if manifest.schema_revision != latest_revision():
        raise InvalidInput(
            f"the backup has schema {manifest.schema_revision}, this version {latest_revision()}: restore it "
            f"with version {manifest.server_version} of the service, then upgrade"
        )
    if manifest.blobs_included and blobs is None:
        raise InvalidInput(
            "the backup holds blobs, but SHIPWORTHY_BLOBS names an object store; unset it to restore"
        )
    for checked, _ in enumerate(check_files(source, manifest), start=1):
        if checked % 1000 == 0 or checked == len(manifest.files):
            progress(f"verified {checked:,} of {len(manifest.files):,} files")
    if blobs is not None and next(blob_files(blobs), None) is not None:
        raise InvalidInput(f"{blobs} holds blobs already; restore into an empty data folder (--data DIR)")
    with database.connection() as connection:
        require_current(connection)
        take_log_lock(connection)
        _refuse_filled(connection)
        for table in TABLES:
            _fill(connection, table_file(source, sql_table(table)), table)
            progress(f"{sql_table(table).name}: {manifest.rows[sql_table(table).name]:,} rows")
        if blobs is not None:
            _put_blobs(source, manifest, blobs)
    if not head_file.path.exists():
        head_file.write((source / HEAD).read_text(encoding="utf-8"))
    progress("checking what was restored")
    return fsck(database, key, head_file)


def _refuse_filled(connection: Connection) -> None:
    for table in map(sql_table, TABLES):
        if connection.execute(select(*table.primary_key).limit(1)).first() is not None:
            raise InvalidInput(
                f"the database is not empty (table {table.name}); restore into a new one, migrated by "
                "`shipworthy-server db upgrade` and never started"
            )


def _fill(connection: Connection, path: Path, table: type[Table]) -> None:
    rows: Iterator[dict[str, Any]] = read_table(path, sql_table(table))
    while batch := list(islice(rows, _INSERT_ROWS)):
        insert_rows(connection, table, batch)


def _put_blobs(source: Path, manifest: BackupManifest, blobs: Path) -> None:
    """Copies beside the store, then moves each namespace's folder: half a store is never taken for one."""
    beside = blobs.with_name(f"{blobs.name}.restoring")
    shutil.rmtree(beside, ignore_errors=True)
    make_private_folder(beside)
    for file in manifest.files:
        if file.path.startswith(f"{BLOBS}/"):
            copy_file(source / file.path, beside / file.path.removeprefix(f"{BLOBS}/"))
    make_private_folder(blobs)
    for folder in sorted(beside.iterdir()):
        folder.replace(blobs / folder.name)
    sync_folder(blobs)
    beside.rmdir()
