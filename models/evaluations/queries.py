"""Reading attempts, extensions, what was measured again and evidence; lists are newest first by log position."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import exists, func, not_, select
from sqlmodel import Session, col

from models.errors import NotFound
from models.evaluations.projections import OPEN
from models.evaluations.rules import ATTEMPT_NOT_FOUND
from models.evaluations.tables import AttemptCount, AttemptExtension, EvaluationAttempt, Evidence, Statistic
from models.lineage.queries import Document
from models.lineage.tables import Evaluation, Revocation

MAX_EXTENSIONS: Final = 1000


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt as its row holds it; `document` is the recorded body."""

    record: str
    candidate: str
    incumbent: str | None
    dataset: str
    protocol_digest: str
    repeats: int
    number: int
    received: int
    state: str
    opened_at: datetime
    expires_at: datetime
    ended_at: datetime | None
    ended_by: str | None
    evidence_level: str
    position: int
    document: str


@dataclass(frozen=True, slots=True)
class Counted:
    """Attempts on one data set: of the namespace that asks, and of all others."""

    this_namespace: int
    other_namespaces: int


@dataclass(frozen=True, slots=True)
class Result:
    """An evaluation of an attempt; `document` is what answers show of it."""

    record: str
    repeat: int
    position: int
    document: str


@dataclass(frozen=True, slots=True)
class MeasuredAgain:
    record: str
    incumbent: str | None
    outcome: str
    evidence_level: str
    inputs_level: str
    recorded_at: datetime
    position: int


@dataclass(frozen=True, slots=True)
class Extension:
    """`extra` attempts more on a data set, in the words of `owners`; it counts from two of them on."""

    dataset: str
    extra: int
    reason: str
    records: Sequence[str]
    owners: Sequence[str]

    @property
    def counts(self) -> bool:
        return len(set(self.owners)) >= 2


_ATTEMPT: Final = tuple(col(getattr(EvaluationAttempt, name)) for name in Attempt.__dataclass_fields__)


def get_attempt(session: Session, namespace: str, record: str) -> Attempt:
    """Raises NotFound."""
    statement = select(*_ATTEMPT).where(
        col(EvaluationAttempt.namespace) == namespace, col(EvaluationAttempt.record) == record
    )
    row = session.connection().execute(statement).first()
    if row is None:
        raise NotFound(ATTEMPT_NOT_FOUND)
    return Attempt(*row)


def list_attempts(
    session: Session,
    namespace: str,
    after: int | None,
    limit: int,
    *,
    dataset: str | None = None,
    model: str | None = None,
    state: str | None = None,
) -> list[Attempt]:
    statement = (
        select(*_ATTEMPT)
        .where(col(EvaluationAttempt.namespace) == namespace)
        .order_by(col(EvaluationAttempt.position).desc())
        .limit(limit)
    )
    for column, value in (
        (EvaluationAttempt.dataset, dataset),
        (EvaluationAttempt.model, model),
        (EvaluationAttempt.state, state),
    ):
        if value is not None:
            statement = statement.where(col(column) == value)
    if after is not None:
        statement = statement.where(col(EvaluationAttempt.position) < after)
    return [Attempt(*row) for row in session.connection().execute(statement)]


def count_attempts(session: Session, namespace: str, dataset: str) -> Counted:
    statement = select(
        func.coalesce(
            func.sum(col(AttemptCount.attempts)).filter(col(AttemptCount.namespace) == namespace), 0
        ),
        func.coalesce(
            func.sum(col(AttemptCount.attempts)).filter(col(AttemptCount.namespace) != namespace), 0
        ),
    ).where(col(AttemptCount.dataset) == dataset)
    own, others = session.connection().execute(statement).one()
    return Counted(int(own), int(others))


def list_results(session: Session, namespace: str, attempt: str) -> list[Result]:
    """The evaluations of an attempt by repeat; at most as many as it declared, which are at most 100."""
    statement = (
        select(
            col(Evaluation.record), col(Evaluation.repeat), col(Evaluation.position), col(Evaluation.document)
        )
        .where(col(Evaluation.namespace) == namespace, col(Evaluation.attempt) == attempt)
        .order_by(col(Evaluation.repeat))
    )
    return [Result(*row) for row in session.connection().execute(statement)]


def list_measured_again(session: Session, namespace: str, attempt: str, limit: int) -> list[MeasuredAgain]:
    """Statistics of an attempt, the latest first; the record holds them whole."""
    statement = (
        select(*(col(getattr(Statistic, name)) for name in MeasuredAgain.__dataclass_fields__))
        .where(col(Statistic.namespace) == namespace, col(Statistic.attempt) == attempt)
        .order_by(col(Statistic.position).desc())
        .limit(limit)
    )
    return [MeasuredAgain(*row) for row in session.connection().execute(statement)]


def find_measured(
    session: Session, namespace: str, artifact: str, dataset: str, protocol_digest: str
) -> str | None:
    """The latest attempt in which an artifact was measured to the end on a data set under a protocol; one that was
    revoked, or of which a result was, does not count."""
    statement = (
        select(col(EvaluationAttempt.record))
        .where(
            col(EvaluationAttempt.namespace) == namespace,
            col(EvaluationAttempt.candidate) == artifact,
            col(EvaluationAttempt.dataset) == dataset,
            col(EvaluationAttempt.protocol_digest) == protocol_digest,
            col(EvaluationAttempt.state) == "closed",
            not_(
                exists().where(
                    col(Revocation.namespace) == namespace,
                    col(Revocation.effect) == "revoked",
                    col(Revocation.revoked) == col(EvaluationAttempt.record),
                )
            ),
            not_(
                exists().where(
                    col(Evaluation.namespace) == namespace,
                    col(Evaluation.attempt) == col(EvaluationAttempt.record),
                    col(Revocation.namespace) == namespace,
                    col(Revocation.effect) == "revoked",
                    col(Revocation.revoked) == col(Evaluation.record),
                )
            ),
        )
        .order_by(col(EvaluationAttempt.position).desc())
        .limit(1)
    )
    return session.connection().execute(statement).scalar()


def list_overdue(session: Session, now: datetime, limit: int) -> list[tuple[str, str]]:
    """(namespace, attempt) of attempts whose time is over, of all namespaces, the longest overdue first."""
    statement = (
        select(col(EvaluationAttempt.namespace), col(EvaluationAttempt.record))
        .where(col(EvaluationAttempt.state) == OPEN, col(EvaluationAttempt.expires_at) <= now)
        .order_by(col(EvaluationAttempt.expires_at))
        .limit(limit)
    )
    return [(namespace, record) for namespace, record in session.connection().execute(statement)]


def extensions_of(session: Session, namespace: str, dataset: str) -> list[Extension]:
    """What was asked for on a data set, each once with everyone who asked, the first asked for first. A record that
    was revoked says nothing."""
    statement = (
        select(
            col(AttemptExtension.extra),
            col(AttemptExtension.reason),
            col(AttemptExtension.record),
            col(AttemptExtension.owner),
        )
        .where(
            col(AttemptExtension.namespace) == namespace,
            col(AttemptExtension.dataset) == dataset,
            not_(
                exists().where(
                    col(Revocation.namespace) == namespace,
                    col(Revocation.effect) == "revoked",
                    col(Revocation.revoked) == col(AttemptExtension.record),
                )
            ),
        )
        .order_by(col(AttemptExtension.position))
        .limit(MAX_EXTENSIONS)
    )
    said: dict[tuple[int, str], tuple[list[str], list[str]]] = {}
    for extra, reason, record, owner in session.connection().execute(statement):
        records, owners = said.setdefault((extra, reason), ([], []))
        records.append(record)
        owners.append(owner)
    return [Extension(dataset, *words, *who) for words, who in said.items()]


def list_evidence(
    session: Session,
    namespace: str,
    after: int | None,
    limit: int,
    *,
    subject: str | None = None,
    kind: str | None = None,
) -> list[Document]:
    statement = (
        select(col(Evidence.position), col(Evidence.document))
        .where(col(Evidence.namespace) == namespace)
        .order_by(col(Evidence.position).desc())
        .limit(limit)
    )
    if subject is not None:
        statement = statement.where(col(Evidence.subject) == subject)
    if kind is not None:
        statement = statement.where(col(Evidence.kind) == kind)
    if after is not None:
        statement = statement.where(col(Evidence.position) < after)
    return [Document(*row) for row in session.connection().execute(statement)]
