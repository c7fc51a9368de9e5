"""Snapshots that a contract approved, bound to windows by the time that their data was extracted for."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, or_, select
from sqlmodel import col

from gates.release.values import LEVELS
from gates.slo.definition import EvidenceRule
from gates.slo.schedules import Interval
from gates.slo.windows import EvidenceItem
from models.contracts.tables import ContractCheck
from models.ledger.tables import Record
from models.slo.definitions import Published
from models.slo.evidence_tables import SnapshotInterval
from models.slo.measured import Found, covers
from models.slo.revoked import not_revoked
from models.slo.stored import StoredWindow

MAX_SNAPSHOTS = 50_000
"""Of one question."""


def approved_snapshots(
    connection: Connection, published: Published, windows: Sequence[StoredWindow]
) -> Mapping[str, Found]:
    """Results of the contract on the snapshots that cover each window's data, at the time of their records."""
    rule, namespace = published.definition.evidence, published.namespace
    snapshots = _snapshots(connection, namespace, rule, [each.interval for each in windows])
    results = _results(connection, namespace, rule, list(snapshots))
    found = {}
    for window in windows:
        items = [
            item
            for digest, interval in snapshots.items()
            if digest in results and covers(interval, window.interval)
            for item in results[digest]
        ]
        if items:
            found[window.id] = Found(_last_failure_is_final(items))
    return found


def _snapshots(
    connection: Connection, namespace: str, rule: EvidenceRule, intervals: Sequence[Interval]
) -> dict[str, Interval]:
    """Without those whose record was taken back: what it said that they are of is not to be relied on."""
    query = (
        select(
            col(SnapshotInterval.digest),
            col(SnapshotInterval.interval_start),
            col(SnapshotInterval.interval_end),
        )
        .join(Record, col(Record.position) == col(SnapshotInterval.position))
        .where(
            col(SnapshotInterval.namespace) == namespace,
            not_revoked(namespace, col(Record.digest)),
            col(SnapshotInterval.interval_end) >= min(each.end for each in intervals),
            col(SnapshotInterval.interval_start) <= max(each.start for each in intervals),
        )
        .limit(MAX_SNAPSHOTS)
    )
    if rule.dataset is not None:
        name = col(SnapshotInterval.dataset_name)
        whole = col(SnapshotInterval.dataset_namespace) + "/" + name
        query = query.where(or_(name == rule.dataset, whole == rule.dataset))
    return {row.digest: Interval(row.interval_start, row.interval_end) for row in connection.execute(query)}


def _results(
    connection: Connection, namespace: str, rule: EvidenceRule, digests: Sequence[str]
) -> Mapping[str, list[EvidenceItem]]:
    levels = LEVELS[: LEVELS.index(rule.level) + 1]
    query = (
        select(
            col(ContractCheck.manifest),
            col(ContractCheck.record),
            col(ContractCheck.outcome),
            col(Record.recorded_at),
        )
        .join(Record, col(Record.position) == col(ContractCheck.position))
        .where(
            col(ContractCheck.namespace) == namespace,
            col(ContractCheck.manifest).in_(digests),
            col(ContractCheck.evidence_level).in_(levels),
            not_revoked(namespace, col(ContractCheck.record)),
        )
    )
    if rule.contract is not None:
        query = query.where(col(ContractCheck.contract) == rule.contract)
    found: dict[str, list[EvidenceItem]] = defaultdict(list)
    for row in connection.execute(query) if digests else ():
        item = EvidenceItem(row.recorded_at, row.recorded_at, row.outcome == "passed", row.record)
        found[row.manifest].append(item)
    return found


def _last_failure_is_final(items: Sequence[EvidenceItem]) -> list[EvidenceItem]:
    """Data that was refused last is refused until it is delivered anew."""
    last: tuple[datetime, str] = max((each.at, each.record) for each in items)
    return [replace(each, final=not each.good) if (each.at, each.record) == last else each for each in items]
