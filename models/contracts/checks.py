"""One contract check: what was asked for, and what came of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from models.contracts.queries import CHECK_NOT_FOUND
from models.errors import NotFound
from models.ledger.record_queries import get_record
from models.lineage.marks import Mark, marks_at
from models.work.queue import get_work
from models.work.states import WorkItem, WorkKind
from shipworthy.formats.digests import is_digest


@dataclass(frozen=True, slots=True)
class Result:
    """A contract.checked record; `body` is the result as it was handed in."""

    record: str
    body: Mapping[str, Any]
    level: str
    position: int
    marks: Sequence[Mark]


@dataclass(frozen=True, slots=True)
class Check:
    """`work` is None for a result that was made elsewhere, `result` as long as there is none."""

    work: WorkItem | None
    result: Result | None


def get_check(session: Session, namespace: str, id: str) -> Check:
    """By the id of its work, or by the digest of its record. At most three statements. Raises NotFound."""
    if is_digest(id):
        return Check(None, _result(session, namespace, id))
    work = get_work(session.connection(), namespace, id, WorkKind.CONTRACT_CHECK)
    return Check(work, None if work.record is None else _result(session, namespace, work.record))


def _result(session: Session, namespace: str, record: str) -> Result:
    stored = get_record(session, namespace, record)
    if stored.line.kind != "contract.checked":
        raise NotFound(CHECK_NOT_FOUND)
    position = stored.line.position
    marks = marks_at(session, namespace, [position]).get(position, [])
    return Result(record, json.loads(stored.payload)["body"], stored.line.level, position, marks)
