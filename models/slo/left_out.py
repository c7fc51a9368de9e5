"""What is left out of count: by the author ahead, by an approver afterwards."""

import json

from sqlalchemy import Connection, select
from sqlmodel import Session, col

from gates.slo.exclusions import Exclusion, planned_exclusions
from models.among import among
from models.lineage.queries import Document
from models.slo.definitions import Published
from models.slo.revoked import not_revoked
from models.slo.rules import MAX_EXCLUSIONS
from models.slo.stored import StoredWindow
from models.slo.tables import SloExclusion


def recorded_exclusions(connection: Connection, namespace: str, slo: str) -> list[Exclusion]:
    """Those that approvers recorded and nobody took back."""
    return exclusions_of(connection, namespace, [slo]).get(slo, [])


def exclusions_of(connection: Connection, namespace: str, slos: list[str]) -> dict[str, list[Exclusion]]:
    """The same for many SLOs, by name."""
    columns = (
        col(SloExclusion.slo),
        col(SloExclusion.record),
        col(SloExclusion.document),
        col(SloExclusion.recorded_at),
        col(SloExclusion.starts_at),
        col(SloExclusion.ends_at),
        col(SloExclusion.windows),
        col(SloExclusion.owner),
        col(SloExclusion.retroactive),
    )
    query = (
        select(*columns)
        .where(
            col(SloExclusion.namespace) == namespace,
            among(col(SloExclusion.slo), slos),
            not_revoked(namespace, col(SloExclusion.record)),
        )
        .order_by(col(SloExclusion.position))
        .limit(MAX_EXCLUSIONS * max(1, len(slos)))
    )
    found: dict[str, list[Exclusion]] = {}
    for row in connection.execute(query) if slos else ():
        found.setdefault(row.slo, []).append(
            Exclusion(
                id=row.record,
                reason=json.loads(row.document)["reason"],
                recorded_at=row.recorded_at,
                start=row.starts_at,
                end=row.ends_at,
                windows=() if row.windows is None else tuple(json.loads(row.windows)),
                approver=row.owner,
                retroactive=bool(row.retroactive),
            )
        )
    return found


def exclusions_for(published: Published, recorded: list[Exclusion], window: StoredWindow) -> list[Exclusion]:
    """Those that may take out this window: one that is not retroactive leaves what was over when it was recorded."""
    if not recorded and not published.definition.exclusions:
        return []
    own = [each for each in recorded if each.retroactive or window.deadline_at > each.recorded_at]
    return [*planned_exclusions(published.definition, published.published_at), *own]


def list_exclusions(
    session: Session, namespace: str, slo: str, after: int | None, limit: int
) -> list[Document]:
    """Recorded before log position `after`, newest first."""
    query = (
        select(col(SloExclusion.position), col(SloExclusion.document))
        .where(col(SloExclusion.namespace) == namespace, col(SloExclusion.slo) == slo)
        .order_by(col(SloExclusion.position).desc())
        .limit(limit)
    )
    if after is not None:
        query = query.where(col(SloExclusion.position) < after)
    return [Document(*row) for row in session.connection().execute(query)]
