"""Reading reviews and waivers, and the decisions that wait for them; lists are newest first by log position."""

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import exists, select
from sqlmodel import Session, col

from models.bulk import select_among, sql_table
from models.gates.queries import DECISION_COLUMNS, StoredDecision
from models.gates.tables import Gate, GateDecision, Review, Waiver
from models.lineage.queries import Document

_REVIEWS_OF: Final = (
    "SELECT decision, document FROM review WHERE namespace = :namespace AND decision IN :keys "
    "ORDER BY position DESC LIMIT 5000"
)


def list_open(session: Session, namespace: str, after: int | None, limit: int) -> list[StoredDecision]:
    """Decisions that wait for people: the newest enforced ones of their artifact and target, by the latest version of
    their gate, that ask for a review and that nobody denied."""
    later, denied = sql_table(GateDecision).alias("later"), sql_table(Review).alias("denied")
    here = sql_table(GateDecision).columns
    statement = (
        select(*DECISION_COLUMNS)
        .join(
            Gate,
            (col(Gate.namespace) == here["namespace"])
            & (col(Gate.name) == here["gate"])
            & (col(Gate.version) == here["gate_version"]),
        )
        .where(
            here["namespace"] == namespace, here["verdict"] == "review_required", here["mode"] == "enforce"
        )
        .where(
            ~exists().where(
                *(
                    later.c[name] == here[name]
                    for name in ("namespace", "artifact", "mode", "model", "target")
                ),
                later.c.position > here["position"],
            ),
            ~exists().where(
                denied.c.namespace == here["namespace"],
                denied.c.decision == here["record"],
                denied.c.action == "denied",
            ),
        )
        .order_by(here["position"].desc())
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(here["position"] < after)
    return [StoredDecision(*row) for row in session.connection().execute(statement)]


def reviews_of(session: Session, namespace: str, decisions: Collection[str]) -> dict[str, list[str]]:
    """What was said of each of some decisions, as JSON texts, the latest first."""
    found: dict[str, list[str]] = {}
    if decisions:
        for decision, document in select_among(session.connection(), _REVIEWS_OF, namespace, decisions):
            found.setdefault(decision, []).append(document)
    return found


def list_reviews(
    session: Session,
    namespace: str,
    after: int | None,
    limit: int,
    *,
    action: str | None = None,
    decision: str | None = None,
    artifact: str | None = None,
) -> list[Document]:
    statement = _newest(Review, namespace, after, limit)
    for column, value in (
        (Review.action, action),
        (Review.decision, decision),
        (Review.artifact, artifact),
    ):
        if value is not None:
            statement = statement.where(col(column) == value)
    return [Document(*row) for row in session.connection().execute(statement)]


def list_waivers(
    session: Session, namespace: str, after: int | None, limit: int, *, artifact: str | None = None
) -> list[Document]:
    statement = _newest(Waiver, namespace, after, limit)
    if artifact is not None:
        statement = statement.where(col(Waiver.artifact) == artifact)
    return [Document(*row) for row in session.connection().execute(statement)]


def _newest(table: type[Review] | type[Waiver], namespace: str, after: int | None, limit: int) -> Any:  # noqa: ANN401 - a SELECT of two columns, which no annotation of SQLAlchemy's names shortly
    columns = sql_table(table).columns
    statement = (
        select(columns["position"], columns["document"])
        .where(columns["namespace"] == namespace)
        .order_by(columns["position"].desc())
        .limit(limit)
    )
    return statement if after is None else statement.where(columns["position"] < after)
