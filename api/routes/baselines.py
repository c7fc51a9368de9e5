"""Baselines: made by a worker when somebody asks, shown, and approved by somebody else."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlmodel import Session
from starlette.responses import JSONResponse

from api.asking import QUEUED, ask_for_work
from api.dependencies import CurrentActor
from api.marked_pages import marked_document, marked_page
from api.pages import DEFAULT_LIMIT, PAGE, After, Limit, json_response
from api.reading_route import reading_router
from api.routes.reading_checkpoints import DigestPath
from api.routes.recording import appends, record, recorded
from api.schemas.work import BaselineRequest
from api.services import services_of
from models.contracts.queries import get_baseline, list_approvals, list_baselines
from models.contracts.targets import find_target
from models.kinds.contracts import BaselineApproved
from models.kinds.registry import KINDS
from models.lineage.marks import marks_at
from models.lineage.queries import Document
from models.work.states import WorkKind

router = APIRouter(tags=["baselines"])
reading = reading_router("baselines")

MAX_APPROVALS = 100


@router.post(
    "/v1/baselines",
    status_code=202,
    response_class=JSONResponse,
    openapi_extra=recorded(BaselineRequest),
    responses=QUEUED,
    summary="Ask for a baseline to be made of data",
)
async def ask_for_baseline(request: Request) -> Response:
    """GET /v1/work/{id} shows how far it is and, when it is done, the digest that a contract can pin. Values are kept
    of the columns in `labels` only."""
    roles = tuple(sorted(KINDS["baseline.published"].roles))
    return await ask_for_work(request, WorkKind.BASELINE, roles, BaselineRequest, _prepared)


@appends(
    router,
    "/v1/baselines/{digest}/approvals",
    "Approve a baseline that somebody else asked for",
    BaselineApproved,
    without="baseline",
)
async def approve_baseline(digest: DigestPath, request: Request) -> Response:
    return await record("baseline.approved", request, {"baseline": digest})


@reading.get("/v1/baselines", response_class=Response, responses=PAGE, summary="List baselines, newest first")
def get_baselines(
    request: Request, actor: CurrentActor, limit: Limit = DEFAULT_LIMIT, after: After = None
) -> Response:
    scope = ["baselines", actor.namespace]
    return marked_page(request, actor, scope, after, limit, list_baselines, marked_document)


@reading.get("/v1/baselines/{digest}", response_class=Response, summary="One baseline and who approved it")
def get_one_baseline(digest: DigestPath, request: Request, actor: CurrentActor) -> Response:
    """The digest is that of `baseline` as RFC 8785 JSON."""
    with services_of(request).database.read() as session:
        row = get_baseline(session, actor.namespace, digest)
        approvals = list_approvals(session, actor.namespace, digest, MAX_APPROVALS)
        marks = marks_at(session, actor.namespace, [row.position, *(each.position for each in approvals)])
    listed = ",".join(marked_document(each, marks.get(each.position, [])) for each in approvals)
    shown = marked_document(Document(row.position, row.document), marks.get(row.position, []))
    return json_response(f'{shown[:-1]},"baseline":{row.content},"approvals":[{listed}]}}')


def _prepared(session: Session, namespace: str, wanted: BaselineRequest) -> tuple[str, Mapping[str, Any]]:
    target = find_target(session, namespace, snapshot=wanted.snapshot, root=wanted.root, path=wanted.path)
    return target.root, {
        "snapshot": target.snapshot,
        "root": target.root,
        "path": target.path,
        "numbers": wanted.numbers,
        "labels": wanted.labels,
        "bins": wanted.bins,
    }
