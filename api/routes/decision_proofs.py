"""A decision for those who don't ask the service: its signed envelope, SLSA's summary, the bundle that proves it."""

from typing import Annotated, Any, Final

import orjson
from fastapi import Query, Request
from fastapi.responses import Response

from api.dependencies import CurrentActor
from api.pages import JSON, dump, json_response
from api.reading_route import reading_router
from api.routes.reading_checkpoints import DigestPath
from api.services import services_of
from models.errors import NotFound, Unavailable
from models.gates.bundles import make_bundle
from models.ledger.head import public_key_bytes, read_head
from models.ledger.record_queries import get_record
from shipworthy.formats.bundle import bundle_document
from shipworthy.formats.dsse import IN_TOTO_TYPE, envelope, sign_payload
from shipworthy.formats.jcs import canonicalize
from shipworthy.formats.notes import verifier_key
from shipworthy.formats.statement import summary_statement
from shipworthy.formats.trust import trust_document

router = reading_router("decisions")

_ENVELOPE: Final = "application/vnd.dsse.envelope.v1+json"


@router.get(
    "/v1/decisions/{digest}/bundle", response_class=Response, summary="All that proves a decision offline"
)
def get_bundle(
    digest: DigestPath,
    request: Request,
    actor: CurrentActor,
    since: Annotated[int | None, Query(alias="from", ge=0, description="size of a log head you kept")] = None,
) -> Response:
    """For `shipworthy verify --evidence`: the records of the decision and of what it rests on with their proofs,
    revocations of them, and later decisions on the same artifact."""
    with services_of(request).database.read() as session:
        head = read_head(session.connection())
        if head is None:
            raise Unavailable("the log was never opened; start the service once with `serve`")
        bundle = make_bundle(session.connection(), actor.namespace, digest, head, since)
    return json_response(dump(bundle_document(bundle)))


@router.get(
    "/v1/decisions/{digest}/dsse",
    response_class=Response,
    summary="The signed in-toto statement of a decision",
)
def get_envelope(digest: DigestPath, request: Request, actor: CurrentActor) -> Response:
    """A DSSE envelope, as other tools verify it; its key is in GET /v1/trust."""
    body = _decision(request, actor.namespace, digest)
    payload = canonicalize(body["statement"])
    return Response(canonicalize(envelope(IN_TOTO_TYPE, payload, body["signature"])), media_type=_ENVELOPE)


@router.get(
    "/v1/decisions/{digest}/vsa", response_class=Response, summary="A decision as SLSA verification summary"
)
def get_summary(digest: DigestPath, request: Request, actor: CurrentActor) -> Response:
    """A DSSE envelope over a verification summary (SLSA 1.1). It says PASSED for an enforced pass of a gate alone; it
    is what was decided then, and whether it still holds GET /v1/decisions:in-force tells."""
    predicate = _decision(request, actor.namespace, digest)["statement"]["predicate"]
    statement = summary_statement(
        digest, predicate, resource=f"urn:shipworthy:model:{actor.namespace}:{predicate['model']}"
    )
    payload = canonicalize(statement)
    signature = sign_payload(IN_TOTO_TYPE, payload, services_of(request).ring.decision_key)
    return Response(canonicalize(envelope(IN_TOTO_TYPE, payload, signature)), media_type=_ENVELOPE)


@router.get("/v1/trust", response_class=Response, summary="The keys of this service, as a trust file")
def get_trust(request: Request, actor: CurrentActor) -> Response:
    """For `shipworthy verify --trust`: the keys, trusted for decisions of your namespace. Fetch it once, over a way you
    trust, and keep it where the service can't change it."""
    services = services_of(request)
    with services.database.read() as session:
        head = read_head(session.connection())
    if head is None:
        raise Unavailable("the log was never opened; start the service once with `serve`")
    log_key = verifier_key(head.origin, public_key_bytes(services.ring.log_key))
    signer = public_key_bytes(services.ring.decision_key)
    return Response(orjson.dumps(trust_document(log_key, signer, [actor.namespace])), media_type=JSON)


def _decision(request: Request, namespace: str, digest: str) -> dict[str, Any]:
    with services_of(request).database.read() as session:
        record = get_record(session, namespace, digest)
    if record.line.kind != "decision":
        raise NotFound("no decision with this id in this namespace; GET /v1/decisions lists them")
    return orjson.loads(record.payload)["body"]  # type: ignore[no-any-return]
