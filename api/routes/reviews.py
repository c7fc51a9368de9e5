"""Reviews: asked for, approved and denied by persons, and what waits for them."""

from typing import Annotated, Any, Final

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response

from api.appending import append_fact
from api.auth import require_role
from api.dependencies import CurrentActor
from api.pages import (
    DEFAULT_LIMIT,
    PAGE,
    After,
    Limit,
    decode_position,
    extended,
    page,
)
from api.persons import speaker
from api.reading_route import reading_router
from api.recording import parse_json, read_fact
from api.routes.reading_decisions import shown
from api.routes.recording import recorded, recorded_responses
from api.schemas.gates import ReviewRequest
from api.schemas.reading import marks_json
from api.services import Services, services_of
from models.actor import Actor
from models.errors import NotFound
from models.fields import instant_text
from models.gates.queries import get_decision
from models.gates.review_queries import list_open, list_reviews, reviews_of
from models.gates.rules import DECISION_NOT_FOUND
from models.kinds.registry import KINDS
from models.lineage.marks import marks_at
from shipworthy.formats.digests import DIGEST_PATTERN

router = APIRouter(tags=["reviews"])
reading = reading_router("reviews")

KIND_OF: Final = {"request": "review.requested", "approve": "review.approved", "deny": "review.denied"}


@router.post(
    "/v1/reviews",
    status_code=201,
    response_class=Response,
    responses=recorded_responses(),
    openapi_extra=recorded(ReviewRequest),
    summary="Ask for a review, approve or deny",
)
async def add_review(request: Request) -> Response:
    """It is bound to the artifact, the policy version and the target of the decision, and changes no decision that was
    made: ask the gate again, and it counts what was said."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, *sorted(KINDS["review.requested"].roles))
    wanted = read_fact(parse_json(await request.body()), ReviewRequest)
    return await say(services, actor, wanted, request)


async def say(services: Services, actor: Actor, wanted: ReviewRequest, request: Request) -> Response:
    """Appends what somebody says of a decision. Raises RoleMissing, NotFound, and what refuses the record."""
    kind = KIND_OF[wanted.action]
    require_role(actor, *sorted(KINDS[kind].roles))
    body = await to_thread.run_sync(_body, services, actor, wanted)
    return await append_fact(services, actor, kind, body, request)


def _body(services: Services, actor: Actor, wanted: ReviewRequest) -> dict[str, Any]:
    with services.database.read() as session:
        decision = get_decision(session, actor.namespace, wanted.decision)
        said = speaker(session, actor)
    if decision.gate is None:
        raise NotFound(DECISION_NOT_FOUND)
    body: dict[str, Any] = {
        "decision": wanted.decision,
        "gate": decision.gate,
        "policy_version": decision.gate_version,
        "model": decision.model,
        "artifact": decision.artifact,
        "to": decision.target,
        "reason": wanted.reason,
        "by": said.owner,
        "groups": list(said.groups),
    }
    return body | ({} if wanted.expires_at is None else {"expires_at": instant_text(wanted.expires_at)})


@reading.get("/v1/reviews", response_class=Response, responses=PAGE, summary="List reviews, newest first")
def get_reviews(
    request: Request,
    actor: CurrentActor,
    state: Annotated[str | None, Query(pattern="^(open|requested|approved|denied)$")] = None,
    decision: Annotated[str | None, Query(pattern=DIGEST_PATTERN)] = None,
    artifact: Annotated[str | None, Query(pattern=DIGEST_PATTERN)] = None,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    """What persons said. With `state=open`, instead, the decisions that wait for somebody, each with `reviews`."""
    scope = ["reviews", actor.namespace, state, decision, artifact]
    position = decode_position(scope, after)
    with services_of(request).database.read() as session:
        if state == "open":
            waiting = list_open(session, actor.namespace, position, limit + 1)
            said = reviews_of(session, actor.namespace, [row.record for row in waiting])
            marks = marks_at(session, actor.namespace, [row.position for row in waiting])
            return page(
                scope,
                waiting,
                limit,
                lambda row: (row.position,),
                lambda row: (
                    f"{shown(row, marks.get(row.position, []))[:-1]},"
                    f'"said":[{",".join(said.get(row.record, []))}]}}'
                ),
            )
        rows = list_reviews(
            session,
            actor.namespace,
            position,
            limit + 1,
            action=state,
            decision=decision,
            artifact=artifact,
        )
        marks = marks_at(session, actor.namespace, [row.position for row in rows])
    return page(
        scope,
        rows,
        limit,
        lambda row: (row.position,),
        lambda row: extended(
            row.document, {"position": row.position, "marks": marks_json(marks.get(row.position, []))}
        ),
    )
