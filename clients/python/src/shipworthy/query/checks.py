"""What the service answers about work on data, checks of contracts and baselines, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from shipworthy.query.results import Document, instant

ENDED: Final = frozenset({"done", "failed", "cancelled", "dead"})
"""States of work that changes no more; only `done` has a result."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One check of a result; `outcome` is passed, failed, error or not_evaluated. `observed` is a number, a share or
    a count, never a value of the data. `is_added`: no rule of the contract, but one that holds for all data."""

    id: str
    type: str
    columns: tuple[str, ...]
    outcome: str
    blocking: bool
    severity: str
    observed: int | float | str | None
    bound: str | None
    reason: str | None
    is_added: bool
    document: Document = field(repr=False)


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The result of a check. `checks` are all of them, or, with `checks_blob`, those that did not pass."""

    outcome: str
    reason: str | None
    contract: str
    version: int
    table: str
    data: Document
    counts: Mapping[str, int]
    checks: tuple[Judged, ...]
    checks_blob: str | None
    document: Document = field(repr=False)


@dataclass(frozen=True, slots=True)
class Work:
    """Work that a worker does. `state` is queued, running, done, failed, cancelled or dead; `done` and `total` are
    steps, None while nothing is told. `baseline` is the digest of the baseline that was made. While it is queued
    `waits_for` is the root of its data, `worker_seen_at` when a worker that reads it was last seen, None for never."""

    id: str
    state: str
    reason: str | None
    done: int | None
    total: int | None
    text: str | None
    record: str | None
    baseline: str | None
    waits_for: str | None
    worker_seen_at: datetime | None
    document: Document = field(repr=False)

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED


@dataclass(frozen=True, slots=True)
class Check:
    """A check of a contract: how far it is and, once it is done, what came of it."""

    work: Work
    result: CheckOutcome | None

    @property
    def outcome(self) -> str:
        """That of the result; `error` for a check that ended without one, `not_evaluated` while it goes on."""
        if self.result is not None:
            return self.result.outcome
        return "error" if self.work.has_ended else "not_evaluated"


@dataclass(frozen=True, slots=True)
class Approval:
    owner: str | None
    reason: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Baseline:
    """Distributions of one snapshot. `columns` are as the service holds them; values stand in those only for which
    they were asked."""

    digest: str
    manifest: str
    rows: int
    columns: tuple[Document, ...]
    approvals: tuple[Approval, ...]
    document: Document = field(repr=False)


def work(answer: Document) -> Work:
    progress, waits = answer.get("progress") or {}, answer.get("waits_for") or {}
    return Work(
        id=answer["id"],
        state=answer["state"],
        reason=answer.get("reason"),
        done=progress.get("done"),
        total=progress.get("total"),
        text=progress.get("text"),
        record=answer.get("record"),
        baseline=answer.get("baseline"),
        waits_for=waits.get("root"),
        worker_seen_at=instant(waits.get("worker_seen_at")),
        document=answer,
    )


def check(answer: Document) -> Check:
    result = answer.get("result")
    return Check(work(answer), None if result is None else outcome(result))


def outcome(body: Document) -> CheckOutcome:
    return CheckOutcome(
        outcome=body["outcome"],
        reason=body.get("reason"),
        contract=body["contract"]["name"],
        version=body["contract"]["version"],
        table=body["object"],
        data=body["data"],
        counts=body["counts"],
        checks=tuple(_judged(each) for each in body["checks"]),
        checks_blob=body.get("checks_blob"),
        document=body,
    )


def baseline(answer: Document) -> Baseline:
    content = answer["baseline"]
    return Baseline(
        digest=answer["digest"],
        manifest=content["data"]["manifest"],
        rows=content["data"]["rows"],
        columns=tuple(content["columns"]),
        approvals=tuple(
            Approval(each.get("owner"), each["reason"], instant(each.get("recorded_at")))
            for each in answer.get("approvals", ())
        ),
        document=answer,
    )


def _judged(item: Document) -> Judged:
    column = item.get("column")
    return Judged(
        id=item["id"],
        type=item["type"],
        columns=(column,) if column is not None else tuple(item.get("columns") or ()),
        outcome=item["outcome"],
        blocking=item["blocking"],
        severity=item.get("severity", "error"),
        observed=item.get("observed"),
        bound=item.get("bound"),
        reason=item.get("reason"),
        is_added="rule" in item and item["rule"] is None,
        document=item,
    )
