"""Evidence: what somebody ran on an artifact, a checkpoint or a snapshot, and what came of it."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from api.dependencies import CurrentActor
from api.marked_pages import marked_document, marked_page
from api.pages import DEFAULT_LIMIT, PAGE, After, Limit
from api.reading_route import reading_router
from api.routes.recording import appends, record
from models.evaluations.queries import list_evidence
from models.fields import Digest, Identifier
from models.kinds.evidence import EvidenceAttested

router = APIRouter(tags=["evidence"])
reading = reading_router("evidence")


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
    return marked_page(
        request,
        actor,
        scope,
        after,
        limit,
        partial(list_evidence, subject=subject, kind=kind),
        marked_document,
    )
