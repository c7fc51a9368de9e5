"""Projections made again from the records: the same rules as live, in log order."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from sqlalchemy import Connection

from models.bulk import sql_table, write_all
from models.columns import Table
from models.contracts import tables as contract_tables
from models.database import Database
from models.errors import LedgerDamaged, StartRefused
from models.evaluations import tables as evaluation_tables
from models.gates import tables as gate_tables
from models.ledger.entries import Entry
from models.ledger.lock import take_log_lock
from models.ledger.reading import StoredRecord, entry_of, read_records
from models.ledger.schema import require_current
from models.ledger.storage import wrong_storage
from models.ledger.tables import Record
from models.ledger.verified import check_bytes
from models.ledger.workspace import Workspace
from models.lineage import tables
from models.lineage.rules import RULES
from models.lineage.run_rows import view_of, write_views
from models.lineage.snapshot_rows import load_snapshots
from models.promotions import tables as promotion_tables
from models.slo import evidence_tables
from models.slo import tables as slo_tables
from shipworthy.formats.canonical_json import parse_canonical

PROJECTIONS: Final[tuple[type[Table], ...]] = (
    tables.Run,
    tables.RunLink,
    tables.Ingredient,
    tables.DataSnapshot,
    tables.SnapshotBefore,
    tables.SnapshotName,
    tables.Checkpoint,
    tables.CheckpointVerification,
    tables.Artifact,
    tables.Evaluation,
    tables.ModelVersion,
    tables.LineageManifest,
    tables.Revocation,
    contract_tables.Contract,
    contract_tables.ContractVersion,
    contract_tables.Baseline,
    contract_tables.BaselineApproval,
    contract_tables.ContractCheck,
    evaluation_tables.EvaluationAttempt,
    evaluation_tables.AttemptCount,
    evaluation_tables.AttemptExtension,
    evaluation_tables.Statistic,
    evaluation_tables.Evidence,
    gate_tables.Gate,
    gate_tables.GateVersion,
    gate_tables.GateDecision,
    gate_tables.DecisionInput,
    gate_tables.Review,
    gate_tables.Waiver,
    gate_tables.BreakGlass,
    promotion_tables.ReleaseTarget,
    promotion_tables.PromotionGrant,
    promotion_tables.PromotionEvent,
    promotion_tables.ReleasedVersion,
    promotion_tables.Reconciliation,
    slo_tables.Slo,
    slo_tables.SloVersion,
    slo_tables.SloWindow,
    slo_tables.SloWindowRevision,
    slo_tables.SloMonth,
    slo_tables.SloExclusion,
    evidence_tables.RunTiming,
    evidence_tables.RunEnd,
    evidence_tables.SnapshotInterval,
    evidence_tables.EvaluationReport,
)
"""Every table that holds nothing but what the records say."""


def rebuild(database: Database, progress: Callable[[int], None] = lambda records: None) -> int:
    """Empties the projections and fills them from the records in one transaction; gives how many those are.

    Readers see the old rows until the end, writers wait. `progress` is told how many records are done.
    Raises StartRefused, with nothing changed, when a record can't be read, and LedgerDamaged when it is not what
    was written.
    """
    done = 0
    with database.connection() as connection:
        require_current(connection)
        take_log_lock(connection)
        for sentence in wrong_storage(connection, sql_table(Record)):
            raise LedgerDamaged(f"{sentence}; nothing was changed; run `shipworthy-server fsck`")
        for table in PROJECTIONS:
            connection.execute(sql_table(table).delete())
        for chunk in read_records(connection):
            for entry in replay(connection, [_readable(record) for record in chunk]):
                raise StartRefused(
                    f"the record at position {entry.position} is about run {entry.run_id}, which no record "
                    "before registered; nothing was changed; run `shipworthy-server fsck`"
                )
            done += len(chunk)
            progress(done)
    return done


def replay(connection: Connection, entries: Sequence[Entry]) -> list[Entry]:
    """Projects entries that follow in log order on what was replayed into this connection's tables before.

    Gives those that were left out because no entry before them registered their run.
    """
    workspace, orphans = Workspace(connection), []
    workspace.load(
        tables.Run, "run_id", {(entry.namespace, entry.run_id) for entry in entries if entry.run_id}
    )
    load_snapshots(workspace, [each for each in entries if each.kind in ("run.registered", "snapshot")])
    for entry in entries:
        needed = None if entry.kind == "run.registered" else entry.run_id
        if needed is not None and view_of(workspace, entry.namespace, needed) is None:
            orphans.append(entry)
            continue
        RULES[entry.kind].project(workspace, entry)
    write_views(workspace)
    write_all(connection, workspace.writes())
    return orphans


def _readable(record: StoredRecord) -> Entry:
    check_bytes(f"record at position {record.position}", record.digest, record.payload)
    try:
        return entry_of(record, cast(Mapping[str, Any], parse_canonical(record.payload)))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StartRefused(
            f"the record at position {record.position} can't be read ({type(error).__name__}), nothing was "
            "changed; run `shipworthy-server fsck`, which says what is wrong with it"
        ) from error
