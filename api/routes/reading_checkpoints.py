"""One checkpoint by its digest: who saved it, who looked at it, how far it is proven."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Path, Request
from fastapi.responses import Response

from api.dependencies import CurrentActor
from api.pages import (
    DEFAULT_LIMIT,
    PAGE,
    After,
    Limit,
    decode_position,
    dump,
    encode_cursor,
    extended,
    json_response,
    page,
)
from api.reading_route import reading_router
from api.schemas.reading import marks_json
from api.services import services_of
from models.fields import instant_text
from models.kinds.facts import LEVEL_ORDER
from models.lineage.checkpoint_level import Verdict, effective_level, latest_verdicts
from models.lineage.checkpoint_queries import get_savers, latest_verifications, list_verifications
from models.lineage.marks import Mark, marks_at
from models.lineage.queries import Document
from shipworthy.formats.digests import DIGEST_PATTERN

router = reading_router("checkpoints")

MAX_SAVERS = 500
DigestPath = Annotated[str, Path(pattern=DIGEST_PATTERN, description="sha256:<64 lower-case hex digits>")]


@router.get("/v1/checkpoints/{digest}", response_class=Response, summary="One checkpoint and its level")
def get_checkpoint(digest: DigestPath, request: Request, actor: CurrentActor) -> Response:
    """`effective_level` is the highest level that passed while no level up to it stands as failed; `levels` gives
    the latest verdict of each. `verifications` is the first page of GET …/verifications."""
    namespace = actor.namespace
    with services_of(request).database.read() as session:
        saved = get_savers(session, namespace, digest, MAX_SAVERS)
        facts = [one.fact for one in saved]
        rows = list_verifications(session, namespace, digest, None, DEFAULT_LIMIT + 1)
        marks = marks_at(session, namespace, [row.position for row in (*facts, *rows)])
        claims = [one.claim for one in saved if not _is_revoked(marks.get(one.fact.position, ()))]
        verdicts = [*claims, *latest_verifications(session, namespace, digest)]

    def shown(row: Document) -> str:
        members = {"position": row.position, "marks": marks_json(marks.get(row.position, ()))}
        return extended(row.document, members)

    latest = latest_verdicts(verdicts)
    head = {
        "digest": digest,
        "claimed_level": max((one.claim.level for one in saved), key=LEVEL_ORDER.index),
        "effective_level": effective_level(verdicts),
        "levels": [_verdict(latest[level]) for level in LEVEL_ORDER if level in latest],
    }
    following: str | None = None
    if len(rows) > DEFAULT_LIMIT:
        following = encode_cursor(_scope(namespace, digest), (rows[DEFAULT_LIMIT - 1].position,))
    verifications = ",".join(map(shown, rows[:DEFAULT_LIMIT]))
    return json_response(
        f'{dump(head)[:-1]},"saved_by":[{",".join(map(shown, facts))}],'
        f'"verifications":{{"items":[{verifications}],"next":{json.dumps(following)}}}}}'
    )


@router.get(
    "/v1/checkpoints/{digest}/verifications",
    response_class=Response,
    responses=PAGE,
    summary="Who looked at a checkpoint, newest first",
)
def get_verifications(
    digest: DigestPath,
    request: Request,
    actor: CurrentActor,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    scope = _scope(actor.namespace, digest)
    position = decode_position(scope, after)
    with services_of(request).database.read() as session:
        get_savers(session, actor.namespace, digest, 1)
        rows = list_verifications(session, actor.namespace, digest, position, limit + 1)
        marks = marks_at(session, actor.namespace, [row.position for row in rows])
    return page(
        scope,
        rows,
        limit,
        lambda row: (row.position,),
        lambda row: extended(
            row.document, {"position": row.position, "marks": marks_json(marks.get(row.position, ()))}
        ),
    )


def _is_revoked(marks: Sequence[Mark]) -> bool:
    return any(mark.effect == "revoked" for mark in marks)


def _scope(namespace: str, digest: str) -> list[str]:
    return ["verifications", namespace, digest]


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "level": verdict.level,
        "outcome": "passed" if verdict.passed else "failed",
        "checked_at": instant_text(verdict.checked_at),
        "evidence_level": verdict.evidence_level,
    }
