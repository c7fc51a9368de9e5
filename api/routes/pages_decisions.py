"""Decisions as pages: why, and should I, by name, let this pass?"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Final

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError
from sqlmodel import Session

from api.pages import DEFAULT_LIMIT, After, Limit, Scope, decode_position, encode_cursor
from api.persons import speaker
from api.policies import published_policy
from api.routes.reading_checkpoints import DigestPath
from api.routes.reviews import KIND_OF, say
from api.schemas.gates import ReviewRequest
from api.services import services_of
from api.web import links
from api.web.answers import SEE_OTHER, address_of, page
from api.web.approving import Barred, barred, waits_for_people
from api.web.choices import chosen
from api.web.decision_view import view
from api.web.decision_words import VERDICTS
from api.web.forms import CheckedForm
from api.web.standing_view import decision_row, list_verdict
from api.web.viewers import CurrentViewer, Viewer
from gates.release.criteria.review import ReviewCriterion
from models.errors import InvalidInput, SeparationOfDuties
from models.gates.in_force import Standing, standing
from models.gates.queries import (
    StoredDecision,
    get_decision,
    get_gate_version,
    list_decisions,
    superseded_among,
)
from models.gates.review_queries import list_open, reviews_of
from models.kinds.registry import KINDS

router = APIRouter(include_in_schema=False)

_WAITING: Final = 100
_REASON_MISSING: Final = "Say why: the reason is what others will read of it."
_ACTIONS: Final = (("approve", "Approve"), ("deny", "Deny"), ("request", "Ask for a review"))
Filter = Annotated[str, Query(max_length=256)]


@router.get("/decisions")
def show_decisions(
    request: Request,
    viewer: CurrentViewer,
    model: Filter = "",
    to: Filter = "",
    verdict: Filter = "",
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    """A page at a time. An empty filter, as forms send it, is none."""
    filters = {
        "model": model.strip() or None,
        "target": to.strip() or None,
        "verdict": chosen("verdict", verdict, VERDICTS),
    }
    namespace = viewer.actor.namespace
    scope: Scope = ["page of decisions", namespace, *filters.values()]
    position = decode_position(scope, after)
    with services_of(request).database.read() as session:
        found = list_decisions(session, namespace, position, limit + 1, **filters)
        waiting = len(list_open(session, namespace, None, _WAITING))
        superseded = superseded_among(session, namespace, found[:limit])
    rows = [decision_row(row, is_superseded=row.record in superseded) for row in found[:limit]]
    older = encode_cursor(scope, (found[limit - 1].position,)) if len(found) > limit else None
    page_size = {} if limit == DEFAULT_LIMIT else {"limit": str(limit)}
    is_filtered = any(filters.values())
    given = {"model": filters["model"], "to": filters["target"], "verdict": filters["verdict"]}
    values = {
        "verdict": list_verdict(rows, waiting, is_filtered=is_filtered),
        "rows": rows,
        "filters": filters,
        "is_filtered": is_filtered,
        "words": VERDICTS,
        "next_page": links.decisions(**given, **page_size, after=older) if older else None,
    }
    return page(request, "decisions.html", values, viewer=viewer)


@router.get("/decisions/{digest}")
def show_decision(digest: DigestPath, request: Request, viewer: CurrentViewer) -> Response:
    return _shown(request, viewer, digest)


@router.post("/decisions/{digest}/reviews")
async def review_decision(
    digest: DigestPath, request: Request, viewer: CurrentViewer, fields: CheckedForm
) -> Response:
    """What was typed stays on the page when it can't be taken."""
    reason = fields.get("reason", "").strip()
    try:
        wanted = ReviewRequest.model_validate(
            {"decision": digest, "action": fields.get("action", ""), "reason": reason}
        )
        await say(services_of(request), viewer.actor, wanted, request)
    except ValidationError:
        return await to_thread.run_sync(
            partial(_shown, request, viewer, digest, _REASON_MISSING, reason, 422)
        )
    except (SeparationOfDuties, InvalidInput) as error:
        return await to_thread.run_sync(partial(_shown, request, viewer, digest, error.detail, reason, 403))
    return RedirectResponse(f"{links.decision(digest)}#review", SEE_OTHER)


def _shown(
    request: Request, viewer: Viewer, digest: str, problem: str = "", reason: str = "", status: int = 200
) -> Response:
    with services_of(request).database.read() as session:
        row = get_decision(session, viewer.actor.namespace, digest)
        found = standing(
            session.connection(),
            viewer.actor.namespace,
            row.model,
            row.target,
            row.artifact,
            datetime.now(UTC),
        )
        said = _said(session, viewer.actor.namespace, row)
        predicate: Mapping[str, Any] = json.loads(row.document)
        is_latest = found.decision is not None and found.decision.record == row.record
        why_not = _why_not(request, session, viewer, predicate) if is_latest else None
    values = {
        "decision": predicate,
        "shown": view(
            predicate, is_latest=is_latest, missing=_missing(found, is_latest=is_latest), said=said
        ),
        "actions": [
            each
            for each in _actions(viewer, predicate, is_latest=is_latest)
            if each[0] != "approve" or why_not is None
        ],
        "barred": why_not,
        "problem": problem,
        "reason": reason,
        "version_page": predicate["version"]
        and links.model_version(row.model, predicate["version"], "default"),
    }
    return page(request, "decision.html", values, status, viewer)


def _why_not(
    request: Request, session: Session, viewer: Viewer, predicate: Mapping[str, Any]
) -> Barred | None:
    """Why the viewer may not approve a decision that waits for people."""
    gate, services = predicate["gate"], services_of(request)
    if gate is None or predicate["mode"] != "enforce" or not waits_for_people(predicate):
        return None
    namespace = viewer.actor.namespace
    published = get_gate_version(session.connection(), namespace, gate["name"], gate["version"])
    asked_of = [
        group
        for each in published_policy(services.blobs, namespace, published).criteria
        if isinstance(each, ReviewCriterion)
        for group in each.roles
    ]
    # Everybody who reads this in open mode sits at the machine; elsewhere a path is nobody's business.
    data = str(services.settings.data) if viewer.session is None else "FOLDER"
    groups = speaker(session, viewer.actor).groups
    return barred(viewer, predicate, groups, asked_of, data, address_of(request))


def _missing(found: Standing, *, is_latest: bool) -> tuple[str, ...]:
    return found.missing if is_latest else ()


def _said(session: Session, namespace: str, row: StoredDecision) -> list[Mapping[str, Any]]:
    return [json.loads(each) for each in reviews_of(session, namespace, [row.record]).get(row.record, [])]


def _actions(viewer: Viewer, predicate: Mapping[str, Any], *, is_latest: bool) -> list[tuple[str, str]]:
    """What the viewer's key may say here; nothing of a decision that is past, a trial run or a break-glass."""
    if not is_latest or predicate["type"] != "gate" or predicate["mode"] != "enforce":
        return []
    return [
        (code, text)
        for code, text in _ACTIONS
        if not viewer.actor.roles.isdisjoint(KINDS[KIND_OF[code]].roles)
    ]
