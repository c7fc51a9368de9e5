"""The whole ledger, checked: every record, leaf, tree hash, signed head, key and projection.

One pass over the records in a read-only transaction, in chunks; memory does not grow with the log.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import Connection, select
from sqlalchemy import Table as SqlTable

from models.bulk import sql_table
from models.columns import Table, metadata
from models.database import Database
from models.errors import StartRefused
from models.kinds.administration import LogRestored
from models.ledger.blob_check import BlobCheck
from models.ledger.compare import differences, scratch_database
from models.ledger.entries import Entry
from models.ledger.examine import Examined, examine, named_persons
from models.ledger.findings import Findings, Part, Report
from models.ledger.guards import check_guards
from models.ledger.head import HeadFile, public_key_bytes
from models.ledger.key_check import KeyCheck
from models.ledger.opening import no_head_outside
from models.ledger.reading import StoredRecord, read_records
from models.ledger.rebuild import PROJECTIONS, replay
from models.ledger.schema import require_current
from models.ledger.storage import wrong_storage
from models.ledger.tables import Disclosure, Record, TreeHead
from models.ledger.tree_check import TreeCheck
from shipworthy.formats.notes import TreeHead as HeadText

Progress = Callable[[int], None]


def fsck(
    database: Database,
    key: Ed25519PrivateKey,
    head_file: HeadFile | None = None,
    progress: Progress = lambda records: None,
    blobs: Path | None = None,
    blob_progress: Callable[[int, int], None] = lambda blobs, bytes: None,
) -> Report:
    """Checks everything that records can prove, with read rights only; `progress` is told records done.

    `blobs` is the folder of the blob store; without it no blob is read. `blob_progress` is told blobs and bytes done.
    Raises StartRefused when the schema is not this version's: then nothing can be told.
    """
    findings = Findings()
    outside = _outside(key, head_file, findings)
    kept = None if blobs is None else BlobCheck(blobs, findings, blob_progress)
    with database.read() as session, scratch_database() as scratch:
        connection = session.connection()
        require_current(connection)
        try:
            check_guards(connection)
        except StartRefused as refusal:
            findings.add(refusal.detail)

        def project(entries: Sequence[Entry]) -> None:
            for entry in replay(scratch, entries):
                findings.add(
                    f"record {entry.position} is about run {entry.run_id}, which no record before registered"
                )
            if kept is not None:
                for entry in entries:
                    kept.feed(entry)

        for table in metadata.sorted_tables:
            Part(findings, f"the table {table.name}").run(_check_storage, connection, table, findings)
        check_log(connection, key, outside, findings, project, progress)
        if head_file is not None and not head_file.path.exists() and findings.checked["records"]:
            findings.note(no_head_outside(head_file, findings.checked["records"]))
        for model in PROJECTIONS:
            Part(findings, f"the table {model.__tablename__}").run(
                _compare, model, connection, scratch, findings
            )
    if kept is not None:
        kept.finish()
    return findings.report()


def was_opened(database: Database) -> bool:
    """Whether anything was ever written to the log: a service that starts writes its first head.

    Raises StartRefused when the schema is not this version's.
    """
    with database.read() as session:
        require_current(session.connection())
        return any(
            session.connection().execute(select(1).select_from(sql_table(table)).limit(1)).first() is not None
            for table in (TreeHead, Record)
        )


def check_log(
    connection: Connection,
    key: Ed25519PrivateKey,
    outside: HeadText | None,
    findings: Findings,
    project: Callable[[Sequence[Entry]], None],
    progress: Progress,
) -> None:
    """Records, tree, heads and keys; `project` is given the entries of each chunk in log order."""
    growing, knowing = Part(findings, "the log's tree"), Part(findings, "the table of keys")
    disclosing, replaying = Part(findings, "the table disclosure"), Part(findings, "what the records make")
    tree = growing.run(TreeCheck, connection, public_key_bytes(key), outside, findings)
    keys = KeyCheck(findings)
    latest: StoredRecord | None = None
    for records in read_records(connection, salvaging=True):
        examined = [examine(record) for record in records]
        for record, result in zip(records, examined, strict=True):
            for problem in result.problems:
                findings.add(f"record {record.position} {problem}")
            if latest is not None and record.recorded_at < latest.recorded_at:
                findings.add(f"record {record.position} was recorded before record {latest.position}")
            if result.entry is not None and result.envelope is not None:
                knowing.run(keys.feed, result.entry, result.envelope["actor"])
            latest = record
        if tree is not None:
            growing.run(tree.feed, records, dict(_restorations(examined)))
        disclosing.run(_check_disclosures, connection, examined, findings)
        replaying.run(project, [result.entry for result in examined if result.entry is not None])
        findings.checked["records"] += len(records)
        findings.checked["bytes"] += sum(len(record.payload) for record in records)
        progress(findings.checked["records"])
    if tree is not None:
        growing.run(tree.finish)
    knowing.run(keys.finish, connection)


def _check_storage(connection: Connection, table: SqlTable, findings: Findings) -> None:
    for sentence in wrong_storage(connection, table):
        findings.add(sentence)


def _compare(model: type[Table], live: Connection, replayed: Connection, findings: Findings) -> None:
    for sentence in differences(model, live, replayed):
        findings.checked["projected rows"] += 1
        if sentence is not None:
            findings.add(sentence)


def _outside(key: Ed25519PrivateKey, head_file: HeadFile | None, findings: Findings) -> HeadText | None:
    if head_file is None:
        return None
    try:
        return head_file.read(key)
    except StartRefused as refusal:
        findings.add(refusal.detail)
        return None


def _restorations(examined: Sequence[Examined]) -> list[tuple[int, str]]:
    return [
        (result.entry.position, result.entry.fact.previous_origin)
        for result in examined
        if result.entry is not None and isinstance(result.entry.fact, LogRestored)
    ]


def _check_disclosures(connection: Connection, examined: Sequence[Examined], findings: Findings) -> None:
    """Values behind `$redactable` digests must make those digests; one that is gone was erased."""
    named = [
        digest
        for result in examined
        if result.envelope is not None
        for digest in named_persons(result.envelope)
    ]
    if not named:
        return
    columns = sql_table(Disclosure).columns
    query = select(columns["digest"], columns["salt"], columns["value"]).where(
        columns["digest"].in_(set(named))
    )
    kept = set()
    for digest, salt, value in connection.execute(query):
        kept.add(digest)
        if "sha256:" + sha256(b"redact/v1\0" + salt + value.encode()).hexdigest() != digest:
            findings.add(f"the disclosed value of {digest} does not make that digest")
    findings.checked["personal values named"] += len(named)
    findings.checked["personal values erased"] += sum(digest not in kept for digest in named)
