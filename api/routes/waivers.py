"""Waivers: a person takes responsibility for a criterion that an artifact does not meet."""

from datetime import UTC, datetime
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response

from api.appending import append_fact
from api.auth import require_role
from api.dependencies import CurrentActor
from api.pages import DEFAULT_LIMIT, PAGE, After, Limit, decode_position, extended, page
from api.persons import speaker
from api.policies import published_policy
from api.reading_route import reading_router
from api.recording import parse_json, read_fact
from api.routes.recording import recorded, recorded_responses
from api.schemas.gates import WaiverRequest
from api.schemas.reading import marks_json
from api.services import Services, services_of
from gates.release.policy import Policy
from models.actor import Actor
from models.errors import FieldProblem, InvalidInput, SeparationOfDuties
from models.fields import instant_text
from models.gates.gathering_subject import trainers_of
from models.gates.queries import get_gate, get_gate_version
from models.gates.review_queries import list_waivers
from models.kinds.registry import KINDS
from models.lineage.marks import marks_at
from shipworthy.formats.digests import DIGEST_PATTERN

router = APIRouter(tags=["reviews"])
reading = reading_router("reviews")


@router.post(
    "/v1/waivers",
    status_code=201,
    response_class=Response,
    responses=recorded_responses(),
    openapi_extra=recorded(WaiverRequest),
    summary="Waive a criterion for one artifact",
)
async def add_waiver(request: Request) -> Response:
    """It counts once as many persons as the policy asks for gave one, in decisions that are made from then on. A new
    artifact or policy version voids it."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, *sorted(KINDS["waiver"].roles))
    wanted = read_fact(parse_json(await request.body()), WaiverRequest)
    body = await to_thread.run_sync(_body, services, actor, wanted)
    return await append_fact(services, actor, "waiver", body, request)


@reading.get("/v1/waivers", response_class=Response, responses=PAGE, summary="List waivers, newest first")
def get_waivers(
    request: Request,
    actor: CurrentActor,
    artifact: Annotated[str | None, Query(pattern=DIGEST_PATTERN)] = None,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    scope = ["waivers", actor.namespace, artifact]
    position = decode_position(scope, after)
    with services_of(request).database.read() as session:
        rows = list_waivers(session, actor.namespace, position, limit + 1, artifact=artifact)
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


def _body(services: Services, actor: Actor, wanted: WaiverRequest) -> dict[str, Any]:
    with services.database.read() as session:
        connection = session.connection()
        gate = get_gate(connection, actor.namespace, wanted.gate)
        published = get_gate_version(connection, actor.namespace, gate.name, gate.version)
        trainers = trainers_of(connection, actor.namespace, wanted.artifact)
        said = speaker(session, actor)
    _check_allowed(published_policy(services.blobs, actor.namespace, published), wanted, datetime.now(UTC))
    owner = said.known()
    _check_person(owner, gate.owner, trainers)
    return {
        "gate": gate.name,
        "policy_version": gate.version,
        "criterion": wanted.criterion,
        "model": gate.model,
        "artifact": wanted.artifact,
        "to": wanted.to,
        "reason": wanted.reason,
        "expires_at": instant_text(wanted.expires_at),
        "by": owner,
        "groups": list(said.groups),
    }


def _check_allowed(policy: Policy, wanted: WaiverRequest, now: datetime) -> None:
    rule = policy.document.waivers
    allowed = () if rule is None else rule.allowed
    if wanted.to != policy.to:
        raise _refused("to", f"is {wanted.to}, but this gate stands before {policy.to}")
    if wanted.criterion not in allowed:
        listed = f"it lists {', '.join(allowed)}" if allowed else "it lists none"
        raise _refused("criterion", f"is not one that the policy lets anybody waive; {listed}")
    if rule is not None and wanted.expires_at > now + rule.max_duration:
        raise _refused(
            "expires_at", f"is further ahead than the policy lets waivers last, which is {rule.max_duration}"
        )


def _check_person(owner: str, author: str | None, trainers: tuple[str, ...]) -> None:
    if not trainers or author is None:
        raise SeparationOfDuties(
            "nobody knows who trained the model or who wrote the policy, so nobody can be shown to be another person; "
            "record both with keys that have an owner"
        )
    if owner in trainers:
        raise SeparationOfDuties("the model was trained by the person who would waive a criterion for it")
    if owner == author:
        raise SeparationOfDuties("the policy was published by the person who would waive what it asks for")


def _refused(field: str, message: str) -> InvalidInput:
    return InvalidInput(f"/{field} {message}", problems=[FieldProblem(f"/{field}", message)])
