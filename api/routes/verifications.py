"""Verification of checkpoints by a worker: asked for here; what came of it is read with the checkpoint."""

from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from sqlmodel import Session
from starlette.responses import JSONResponse

from api.asking import QUEUED, ask_for_work
from api.routes.reading_checkpoints import DigestPath
from api.routes.recording import recorded
from api.schemas.work import VerificationRequest
from models.actor import Role
from models.lineage.checkpoint_queries import get_savers
from models.work.states import WorkKind
from models.work.verifications import find_location, verification_request

router = APIRouter(tags=["checkpoints"])

MAY_ASK: Final = (Role.AUTHOR, Role.EVALUATOR, Role.RECORDER)


@router.post(
    "/v1/checkpoints/{digest}/verifications:request",
    status_code=202,
    response_class=JSONResponse,
    openapi_extra=recorded(VerificationRequest, without="checkpoint"),
    responses=QUEUED,
    summary="Ask for a checkpoint to be verified by a worker",
)
async def ask_for_verification(digest: DigestPath, request: Request) -> Response:
    """A worker hashes it and loads what can be loaded without running its code; GET /v1/work/{id} shows how far it is,
    GET /v1/checkpoints/{digest} what came of it."""
    return await ask_for_work(
        request,
        WorkKind.CHECKPOINT_VERIFICATION,
        MAY_ASK,
        VerificationRequest,
        _prepared,
        {"checkpoint": digest},
    )


def _prepared(session: Session, namespace: str, wanted: VerificationRequest) -> tuple[str, Mapping[str, Any]]:
    if wanted.root is not None and wanted.path is not None:
        get_savers(session, namespace, wanted.checkpoint, 1)
        root, path = wanted.root, wanted.path
    else:
        root, path = find_location(session, namespace, wanted.checkpoint)
    return root, verification_request(wanted.checkpoint, root, path, None)
