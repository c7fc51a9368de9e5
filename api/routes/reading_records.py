"""Bytes exactly as a digest names them: records, sealed manifests, ingredients and schemas."""

from fastapi import Request
from fastapi.responses import Response

from api.dependencies import CurrentActor
from api.pages import JSON, PAGE, dump, json_response
from api.reading_route import reading_router
from api.routes.reading_checkpoints import DigestPath
from api.services import services_of
from models.errors import NotFound
from models.fields import instant_text
from models.kinds.registry import KINDS, find_schema
from models.ledger.record_queries import get_record
from models.lineage.model_queries import get_manifest
from models.lineage.queries import get_ingredient

router = reading_router("records")


@router.get("/v1/records/{digest}", response_class=Response, summary="The canonical bytes of a record")
def get_record_bytes(digest: DigestPath, request: Request, actor: CurrentActor) -> Response:
    """Their SHA-256 is the digest. Headers tell what else the log knows: X-Log-Position, X-Record-Kind,
    X-Recorded-At and X-Evidence-Level."""
    with services_of(request).database.read() as session:
        record = get_record(session, actor.namespace, digest)
    headers = {
        "X-Log-Position": str(record.line.position),
        "X-Record-Kind": record.line.kind,
        "X-Recorded-At": instant_text(record.line.recorded_at),
        "X-Evidence-Level": record.line.level,
    }
    return Response(record.payload, headers=headers, media_type=JSON)


@router.get(
    "/v1/lineage-manifests/{digest}",
    response_class=Response,
    summary="The bytes of a sealed lineage manifest",
)
def get_manifest_bytes(digest: DigestPath, request: Request, actor: CurrentActor) -> Response:
    """Their SHA-256 is the digest that decisions pin; X-Log-Position is that of the record which made it."""
    with services_of(request).database.read() as session:
        manifest = get_manifest(session, actor.namespace, digest)
    return Response(manifest.document, headers={"X-Log-Position": str(manifest.position)}, media_type=JSON)


@router.get("/v1/ingredients/{digest}", response_class=Response, summary="The bytes of an ingredient")
def get_ingredient_bytes(digest: DigestPath, request: Request, actor: CurrentActor) -> Response:
    """Code, environment, config, hardware, seeds or a transformation, which X-Ingredient-Kind tells."""
    with services_of(request).database.read() as session:
        ingredient = get_ingredient(session, actor.namespace, digest)
    return Response(ingredient.document, headers={"X-Ingredient-Kind": ingredient.kind}, media_type=JSON)


@router.get("/v1/schemas", response_class=Response, responses=PAGE, summary="Schemas of all kinds of records")
def get_schemas() -> Response:
    """All on one page: `next` is always null."""
    items = [{"kind": kind.name, "schema": kind.schema_digest} for kind in KINDS.values()]
    return json_response(dump({"items": items, "next": None}))


@router.get("/v1/schemas/{digest}", response_class=Response, summary="The bytes of a JSON schema")
def get_schema_bytes(digest: DigestPath) -> Response:
    """The schema that records name in `schema`; the SHA-256 of its bytes is the digest."""
    schema = find_schema(digest)
    if schema is None:
        raise NotFound("no schema with this digest; list them with GET /v1/schemas")
    return Response(schema, media_type=JSON)
