"""What is this model made of, and what was made from it: one call."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query, Request, Response

from api.dependencies import CurrentActor
from api.reading_route import reading_router
from api.services import services_of
from models.actor import Actor
from models.database import Database
from models.errors import FieldProblem, InvalidInput
from models.lineage.lineage import lineage_of
from models.lineage.question import NOW, Direction, Question, VersionName, position_at
from shipworthy.formats.times import parse_instant

router = reading_router("lineage")

Depth = Annotated[int, Query(ge=0, le=32, description="levels: run → snapshot or artifact → run")]
AsOf = Annotated[
    str | None,
    Query(
        max_length=64,
        description="log position, or a time with a zone: only what was received by then counts",
    ),
]
Proof = Annotated[bool, Query(description="add inclusion paths for the records behind the answer")]


@router.get(
    "/v1/models/{model:path}/versions/{version}/lineage",
    response_class=Response,
    summary="Lineage of a model version",
)
def get_version_lineage(
    request: Request,
    model: str,
    version: str,
    actor: CurrentActor,
    registry: str = "default",
    depth: Depth = 3,
    direction: Direction = Direction.UPSTREAM,
    as_of: AsOf = None,
    proof: Proof = False,
) -> Response:
    """Ingredients, upstream runs, checkpoints, evaluations, what is missing or weak, and where each record stands
    in the log."""
    database = services_of(request).database
    question = _question(database, actor, depth, direction, as_of, proof)
    return _json(lineage_of(database, question, VersionName(registry, model, version)))


@router.get("/v1/runs/{run_id}/lineage", response_class=Response, summary="Lineage of a run")
def get_run_lineage(
    request: Request,
    run_id: str,
    actor: CurrentActor,
    depth: Depth = 3,
    direction: Direction = Direction.UPSTREAM,
    as_of: AsOf = None,
    proof: Proof = False,
) -> Response:
    """As for a model version; `next` of an answer leads here."""
    database = services_of(request).database
    question = _question(database, actor, depth, direction, as_of, proof)
    return _json(lineage_of(database, question, run_id))


def _question(
    database: Database, actor: Actor, depth: int, direction: Direction, as_of: str | None, prove: bool
) -> Question:
    return Question(
        namespace=actor.namespace,
        depth=depth,
        direction=direction,
        as_of=_position(database, as_of),
        now=datetime.now(UTC),
        prove=prove,
    )


def _position(database: Database, as_of: str | None) -> int:
    if as_of is None:
        return NOW
    if as_of.isascii() and as_of.isdigit() and len(as_of) <= 18:
        return int(as_of)
    try:
        when = parse_instant(as_of)
    except ValueError as error:
        message = "give a log position such as 4711, or a time with a zone such as 2026-05-01T12:00:00Z"
        raise InvalidInput(
            f"as_of can't be read: {message}", problems=[FieldProblem("as_of", message)]
        ) from error
    with database.one_statement() as connection:
        return position_at(connection, when)


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")
