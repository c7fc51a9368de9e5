"""Evidence: what somebody ran on an artifact, a checkpoint or a snapshot, and what came of it."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from api.dependencies import READING, CurrentActor
from api.pages import DEFAULT_LIMIT, PAGE, After, Limit, decode_position, extended, page
from api.routes.recording import appends, record
from api.schemas.reading import marks_json
from api.services import services_of
from models.evaluations.queries import list_evidence
from models.fields import Digest, Identifier
from models.kinds.evidence import EvidenceAttested
from models.lineage.marks import Mark, marks_at
from models.lineage.queries import Document

router = APIRouter(tags=["evidence"])
reading = APIRouter(tags=["evidence"], dependencies=READING)


@appends(router, "/v1/evidence", "Attest what was run on something, and its outcome", EvidenceAttested)
async def add_evidence(request: Request) -> Response:
    """The level of the key tells whom it convinces; when it was received, how old it may be taken for."""
    return await record("evidence.attested", request, {})


@reading.get("/v1/evidence", response_class=Response, responses=PAGE, summary="List evidence, newest first")
def get_evidence(
    request: Request,
    actor: CurrentActor,
    subject: Annotated[Digest | None, Query()] = None,
    kind: Annotated[Identifier | None, Query()] = None,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    scope = ["evidence", actor.namespace, subject, kind]
    position = decode_position(scope, after)
    with services_of(request).database.read() as session:
        rows = list_evidence(session, actor.namespace, position, limit + 1, subject=subject, kind=kind)
        marks = marks_at(session, actor.namespace, [row.position for row in rows])
    return page(
        scope, rows, limit, lambda row: (row.position,), lambda row: _shown(row, marks.get(row.position, []))
    )


def _shown(row: Document, marks: list[Mark]) -> str:
    return extended(row.document, {"position": row.position, "marks": marks_json(marks)})
