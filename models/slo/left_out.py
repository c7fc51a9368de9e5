"""What is left out of count: by the author ahead, by an approver afterwards."""

import json
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, select
from sqlmodel import Session, col

from gates.slo.exclusions import Exclusion, planned_exclusions
from models.bulk import select_among
from models.columns import read_instant
from models.lineage.queries import Document
from models.slo.definitions import Published
from models.slo.rules import MAX_EXCLUSIONS
from models.slo.stored import StoredWindow
from models.slo.tables import SloExclusion

_ROWS: Final = (
    "SELECT slo, position, {array}(record, document, recorded_at, starts_at, ends_at, windows, owner, retroactive) "
    "AS one FROM slo_exclusion WHERE namespace = :namespace AND slo IN :keys AND NOT EXISTS (SELECT 1 FROM revocation "
    "WHERE revocation.namespace = :namespace AND revoked = slo_exclusion.record AND effect = 'revoked') "
    "ORDER BY position LIMIT :excluded"
)
EXCLUDED: Final = {
    "sqlite": f"SELECT slo, one AS said FROM ({_ROWS.format(array='json_array')}) AS excluded",
    "postgresql": (
        "SELECT slo, string_agg(CAST(one AS text), ',' ORDER BY position) AS said FROM "
        f"({_ROWS.format(array='json_build_array')}) AS excluded GROUP BY slo"
    ),
}
"""By SLO what approvers left out and nobody took back, in the order in which they did: texts that `excluded_in`
reads."""


def excluded_in(text: str) -> tuple[Exclusion, ...]:
    return tuple(
        Exclusion(
            id=record,
            reason=json.loads(document)["reason"],
            recorded_at=read_instant(recorded_at),
            start=None if starts_at is None else read_instant(starts_at),
            end=None if ends_at is None else read_instant(ends_at),
            windows=() if windows is None else tuple(json.loads(windows)),
            approver=owner,
            retroactive=bool(retroactive),
        )
        for record, document, recorded_at, starts_at, ends_at, windows, owner, retroactive in json.loads(
            f"[{text}]"
        )
    )


def recorded_exclusions(connection: Connection, namespace: str, slo: str) -> list[Exclusion]:
    """Those that approvers recorded and nobody took back."""
    return exclusions_of(connection, namespace, [slo]).get(slo, [])


def exclusions_of(connection: Connection, namespace: str, slos: list[str]) -> dict[str, list[Exclusion]]:
    """The same for many SLOs, by name."""
    texts = exclusion_texts(connection, namespace, slos)
    return {slo: list(excluded_in(text)) for slo, text in texts.items()}


def exclusion_texts(connection: Connection, namespace: str, slos: Sequence[str]) -> dict[str, str]:
    """The same as `excluded_in` reads it."""
    found: dict[str, str] = {}
    query, most = EXCLUDED[connection.dialect.name], MAX_EXCLUSIONS * max(1, len(slos))
    for slo, said in select_among(connection, query, namespace, slos, excluded=most):
        found[slo] = f"{found[slo]},{said}" if slo in found else said
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
