"""Runs, evaluations and decisions, bound to windows by the data interval of the run chain that they are about."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, or_, select
from sqlmodel import col

from gates.release.values import LEVELS
from gates.slo.definition import EvidenceRule
from gates.slo.windows import EvidenceItem
from models.gates.tables import GateDecision
from models.ledger.tables import Record
from models.lineage.tables import Artifact, Evaluation
from models.slo.chains import Attempt, Chain, chains_over
from models.slo.datasets import runs_reading, snapshots_of
from models.slo.definitions import Published
from models.slo.measured import Found, covers
from models.slo.revoked import not_revoked
from models.slo.stored import StoredWindow
from shipworthy.formats.times import parse_instant


def completed_runs(
    connection: Connection, published: Published, windows: Sequence[StoredWindow]
) -> Mapping[str, Found]:
    """The ends of all attempts. A failure is final once no attempt follows it."""
    rule = published.definition.evidence
    chains = chains_over(connection, published.namespace, rule.job, [each.interval for each in windows])
    if rule.dataset is not None:
        readers = runs_reading(
            connection, published.namespace, rule.dataset, [id for each in chains for id in each.run_ids]
        )
        chains = [each for each in chains if readers.intersection(each.run_ids)]
    return _bound(windows, [(chain, list(_items(chain))) for chain in chains])


def _items(chain: Chain) -> Iterable[EvidenceItem]:
    began, goes_on = chain.began_at, any(each.is_open for each in chain.attempts)
    for attempt in chain.attempts:
        for index, end in enumerate(attempt.ends):
            last = attempt.is_last and not attempt.is_open and index == len(attempt.ends) - 1
            # It can't have ended before it began.
            ended = end.at if attempt.started_at is None else max(end.at, attempt.started_at)
            yield EvidenceItem(
                # A clock that runs ahead makes nothing late: it had happened when it was received.
                at=min(ended, end.recorded_at),
                recorded_at=end.recorded_at,
                good=end.completed,
                record=end.record,
                final=last and not end.completed and not goes_on,
                run_id=attempt.run_id,
                measured=_seconds(began, end.at) if end.completed else None,
            )
        if attempt.is_open and not _had_success(attempt):
            yield EvidenceItem(
                at=attempt.started_at or attempt.recorded_at,
                recorded_at=attempt.recorded_at,
                good=False,
                record=attempt.record,
                run_id=attempt.run_id,
            )


def _had_success(attempt: Attempt) -> bool:
    return any(end.completed for end in attempt.ends)


def _seconds(began: datetime | None, ended: datetime) -> float | None:
    """None where that makes no sense: nobody knows how long it took."""
    return None if began is None or ended < began else (ended - began).total_seconds()


def of_artifacts(
    connection: Connection, published: Published, windows: Sequence[StoredWindow]
) -> Mapping[str, Found]:
    """Evaluations or decisions about what the chains made, or evaluations of the runs themselves."""
    rule, namespace = published.definition.evidence, published.namespace
    chains = chains_over(connection, namespace, rule.job, [each.interval for each in windows])
    makers = {run_id: chain for chain in chains for run_id in chain.run_ids}
    made = _artifacts(connection, namespace, list(makers))
    if rule.event == "decision.passed":
        found = _decisions(connection, namespace, rule, made)
    else:
        found = _evaluations(connection, namespace, rule, made, list(makers))
    by_chain: dict[int, list[EvidenceItem]] = defaultdict(list)
    for item in found:
        if item.run_id is not None:
            by_chain[id(makers[item.run_id])].append(item)
    return _bound(windows, [(chain, by_chain[id(chain)]) for chain in chains if id(chain) in by_chain])


def _artifacts(connection: Connection, namespace: str, run_ids: list[str]) -> Mapping[str, list[str]]:
    """Which runs made each artifact: runs for other data may make the same one, and take nothing from each other."""
    query = (
        select(col(Artifact.digest), col(Artifact.run_id))
        .where(col(Artifact.namespace) == namespace, col(Artifact.run_id).in_(run_ids))
        .distinct()
        .order_by(col(Artifact.digest), col(Artifact.run_id))
    )
    found: dict[str, list[str]] = defaultdict(list)
    for row in connection.execute(query) if run_ids else ():
        found[row.digest].append(row.run_id)
    return found


def _decisions(
    connection: Connection, namespace: str, rule: EvidenceRule, made: Mapping[str, list[str]]
) -> list[EvidenceItem]:
    query = (
        select(
            col(GateDecision.record),
            col(GateDecision.artifact),
            col(GateDecision.verdict),
            col(Record.recorded_at),
        )
        .join(Record, col(Record.position) == col(GateDecision.position))
        .where(
            col(GateDecision.namespace) == namespace,
            col(GateDecision.artifact).in_(list(made)),
            col(GateDecision.mode) == "enforce",
            not_revoked(namespace, col(GateDecision.record)),
        )
    )
    for column, wanted in (
        (GateDecision.gate, rule.gate),
        (GateDecision.model, rule.model),
    ):
        if wanted is not None:
            query = query.where(col(column) == wanted)
    return [
        EvidenceItem(
            at=row.recorded_at,
            recorded_at=row.recorded_at,
            good=row.verdict == "passed",
            record=row.record,
            run_id=run_id,
        )
        for row in (connection.execute(query) if made else ())
        for run_id in made[row.artifact]
    ]


def _evaluations(
    connection: Connection,
    namespace: str,
    rule: EvidenceRule,
    made: Mapping[str, list[str]],
    run_ids: Sequence[str],
) -> list[EvidenceItem]:
    """An evaluation occurred when it says that it was completed, but not after it was received."""
    levels = LEVELS[: LEVELS.index(rule.level) + 1]
    query = select(
        col(Evaluation.record),
        col(Evaluation.subject),
        col(Evaluation.run_id),
        col(Evaluation.dataset),
        col(Evaluation.recorded_at),
        col(Evaluation.document),
    ).where(
        col(Evaluation.namespace) == namespace,
        or_(col(Evaluation.subject).in_(list(made)), col(Evaluation.run_id).in_(list(run_ids))),
        col(Evaluation.evidence_level).in_(levels),
        not_revoked(namespace, col(Evaluation.record)),
    )
    rows = connection.execute(query).all() if run_ids else ()
    if rule.dataset is not None:
        wanted = snapshots_of(
            connection, namespace, rule.dataset, [row.dataset for row in rows if row.dataset]
        )
        rows = [row for row in rows if row.dataset in wanted]
    known, found = set(run_ids), list[EvidenceItem]()
    for row in rows:
        completed = json.loads(row.document).get("completed_at")
        at = row.recorded_at if completed is None else min(parse_instant(completed), row.recorded_at)
        about = {row.run_id} if row.run_id in known else set(made.get(row.subject, ()))
        found += [
            EvidenceItem(at=at, recorded_at=row.recorded_at, good=True, record=row.record, run_id=run_id)
            for run_id in sorted(about)
        ]
    return found


def _bound(
    windows: Sequence[StoredWindow], chains: Sequence[tuple[Chain, list[EvidenceItem]]]
) -> Mapping[str, Found]:
    """Each window with the evidence of the chains for its very data, and of those that cover more than any window's,
    such as a month of days."""
    bounds = {(each.interval.start, each.interval.end) for each in windows}
    exact: dict[tuple[datetime, datetime], list[EvidenceItem]] = defaultdict(list)
    wider = []
    for chain, items in chains:
        its_own = (chain.interval.start, chain.interval.end)
        if its_own in bounds:
            exact[its_own] += items
        else:
            wider.append((chain.interval, items))
    found = {}
    for window in windows:
        bound = list(exact.get((window.interval.start, window.interval.end), ()))
        for interval, items in wider:
            if covers(interval, window.interval):
                bound += items
        if bound:
            found[window.id] = Found(bound)
    return found
