"""Data sets with their snapshots, and models with their versions."""

from dataclasses import replace
from typing import Annotated

import orjson
from fastapi import Path, Query, Request
from fastapi.responses import Response

from api.dependencies import CurrentActor
from api.marked_pages import marked_page
from api.pages import (
    DEFAULT_LIMIT,
    PAGE,
    After,
    Limit,
    decode_cursor,
    dump,
    extended,
    json_response,
    page,
)
from api.reading_route import reading_router
from api.routes.reading_checkpoints import DigestPath
from api.schemas.reading import marks_json
from api.services import services_of
from models.actor import Actor
from models.fields import Identifier, Line
from models.lineage.marks import Mark, marks_at
from models.lineage.model_queries import VersionLine, get_version, list_manifests, list_versions
from models.lineage.queries import SnapshotLine, get_snapshot, list_datasets, list_models, list_snapshots
from models.lineage.snapshot_fold import named

router = reading_router("catalog")

MAX_MANIFESTS = 100
ModelPath = Annotated[str, Path(max_length=256, description='name of the model; it may contain "/"')]
Registry = Annotated[Identifier, Query(description="registry that the model is in")]


@router.get("/v1/datasets", response_class=Response, responses=PAGE, summary="List data sets by name")
def get_datasets(
    request: Request, actor: CurrentActor, limit: Limit = DEFAULT_LIMIT, after: After = None
) -> Response:
    scope = ["datasets", actor.namespace]
    start = _pair(scope, after)
    with services_of(request).database.read() as session:
        rows = list_datasets(session, actor.namespace, start, limit + 1)
    return page(scope, rows, limit, lambda row: row, lambda row: dump({"namespace": row[0], "name": row[1]}))


@router.get(
    "/v1/datasets/{namespace}/{name:path}/snapshots",
    response_class=Response,
    responses=PAGE,
    summary="Snapshots of a data set, newest first",
)
def get_snapshots(
    namespace: Annotated[str, Path(max_length=256, description='namespace of the data set, without "/"')],
    name: Annotated[str, Path(max_length=512, description='name of the data set; it may contain "/"')],
    request: Request,
    actor: CurrentActor,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    """An empty page for a data set that isn't known. GET /v1/snapshots takes namespaces with a "/" too."""
    return _snapshots_of(namespace, name, request, actor, limit, after)


@router.get(
    "/v1/snapshots",
    response_class=Response,
    responses=PAGE,
    summary="Snapshots of any data set, newest first",
)
def list_snapshots_by_name(
    namespace: Annotated[Identifier, Query(description="namespace of the data set, such as s3://bucket")],
    name: Annotated[Line, Query(max_length=512, description="name of the data set")],
    request: Request,
    actor: CurrentActor,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    """As GET /v1/datasets/{namespace}/{name}/snapshots, where a path can't tell namespace from name."""
    return _snapshots_of(namespace, name, request, actor, limit, after)


def _snapshots_of(
    namespace: str, name: str, request: Request, actor: Actor, limit: int, after: str | None
) -> Response:
    scope = ["snapshots", actor.namespace, namespace, name]
    key = decode_cursor(scope, after, int, str)
    start = None if key is None else (int(key[0]), str(key[1]))
    with services_of(request).database.read() as session:
        rows = list_snapshots(session, actor.namespace, (namespace, name), start, limit + 1)
        marks = marks_at(session, actor.namespace, {row.position for row in rows})
    return page(
        scope,
        rows,
        limit,
        lambda row: (row.position, row.digest),
        lambda row: _snapshot(_named(row, namespace, name), marks.get(row.position, [])),
    )


@router.get("/v1/snapshots/{digest}", response_class=Response, summary="One data snapshot")
def get_one_snapshot(digest: DigestPath, request: Request, actor: CurrentActor) -> Response:
    with services_of(request).database.read() as session:
        row = get_snapshot(session, actor.namespace, digest)
        marks = marks_at(session, actor.namespace, [row.position])
    return json_response(_snapshot(row, marks.get(row.position, [])))


@router.get("/v1/models", response_class=Response, responses=PAGE, summary="List models by name")
def get_models(
    request: Request, actor: CurrentActor, limit: Limit = DEFAULT_LIMIT, after: After = None
) -> Response:
    scope = ["models", actor.namespace]
    start = _pair(scope, after)
    with services_of(request).database.read() as session:
        rows = list_models(session, actor.namespace, start, limit + 1)
    return page(scope, rows, limit, lambda row: row, lambda row: dump({"registry": row[0], "model": row[1]}))


@router.get(
    "/v1/models/{model:path}/versions",
    response_class=Response,
    responses=PAGE,
    summary="Versions of a model, newest first",
)
def get_versions(
    model: ModelPath,
    request: Request,
    actor: CurrentActor,
    registry: Registry = "default",
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    """An empty page for a model that isn't known."""
    scope = ["versions", actor.namespace, registry, model]
    return marked_page(
        request,
        actor,
        scope,
        after,
        limit,
        lambda session, namespace, start, most: list_versions(
            session, namespace, registry, model, start, most
        ),
        _version,
    )


@router.get(
    "/v1/models/{model:path}/versions/{version}", response_class=Response, summary="One version of a model"
)
def get_one_version(
    model: ModelPath,
    version: Annotated[str, Path(max_length=128)],
    request: Request,
    actor: CurrentActor,
    registry: Registry = "default",
) -> Response:
    """What the name is bound to, and the revisions of its sealed lineage manifest, the latest first."""
    with services_of(request).database.read() as session:
        row = get_version(session, actor.namespace, registry, model, version)
        manifests = list_manifests(session, actor.namespace, registry, model, version, MAX_MANIFESTS)
        marks = marks_at(session, actor.namespace, [row.position])
    revisions = [
        {"revision": each.revision, "digest": each.digest, "position": each.position} for each in manifests
    ]
    return json_response(extended(_version(row, marks.get(row.position, [])), {"manifests": revisions}))


def _pair(scope: list[str], after: str | None) -> tuple[str, str] | None:
    key = decode_cursor(scope, after, str, str)
    return None if key is None else (str(key[0]), str(key[1]))


def _named(row: SnapshotLine, namespace: str, name: str) -> SnapshotLine:
    """Under the name that was asked for, which may be one of several."""
    document = orjson.loads(row.document)
    shown = named(document, {"namespace": namespace, "name": name})
    return row if shown is document else replace(row, document=dump(shown))


def _snapshot(row: SnapshotLine, marks: list[Mark]) -> str:
    return extended(row.document, {"position": row.position, "marks": marks_json(marks)})


def _version(row: VersionLine, marks: list[Mark]) -> str:
    """The registry is said even when the request that made the version left it out."""
    members = {
        "registry": row.registry,
        "model": row.model,
        "version": row.version,
        "artifact": row.artifact,
        "run_id": row.run_id,
        "position": row.position,
        "marks": marks_json(marks),
        "fact": None,
    }
    return f"{dump(members)[: -len('null}')]}{row.document}}}"
