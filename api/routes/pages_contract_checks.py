"""Contract checks as pages: did this data keep its contract?"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import RedirectResponse, Response
from sqlmodel import Session

from api.auth import require_role
from api.pages import DEFAULT_LIMIT, After, Limit, Scope, decode_position, encode_cursor
from api.routes.contract_checks import MAY_ASK
from api.services import services_of
from api.web import links
from api.web.answers import SEE_OTHER, page
from api.web.check_view import view
from api.web.forms import CheckedForm
from api.web.list_view import Row, list_verdict, result_row, work_row, worst_first
from api.web.verdicts import CheckRun
from api.web.viewers import CurrentViewer
from api.web.words import OUTCOMES
from models.contracts.checks import Check, get_check
from models.contracts.queries import list_results
from models.kinds.contracts import Outcome
from models.lineage.marks import marks_at
from models.work.queue import cancel_work, list_work
from models.work.states import WorkItem, WorkKind, WorkState

router = APIRouter(include_in_schema=False)

CAME_TO_NOTHING: Final = (WorkState.FAILED, WorkState.DEAD)
_WITHOUT_RESULT: Final = (WorkState.QUEUED, WorkState.RUNNING, *CAME_TO_NOTHING)
_WITHOUT_RESULT_ROWS: Final = 20
CheckId = Annotated[str, Path(max_length=71)]
Filter = Annotated[str, Query(max_length=256)]


@router.get("/contract-checks")
def show_checks(
    request: Request,
    viewer: CurrentViewer,
    contract: Filter = "",
    outcome: Outcome | Annotated[str, Query(max_length=0)] = "",
    snapshot: Filter = "",
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    """Results a page at a time; checks without one lead the first page. An empty filter, as forms send it, is none."""
    filters: dict[str, str | None] = {
        "contract": contract.strip() or None,
        "outcome": str(outcome) or None,
        "snapshot": snapshot.strip() or None,
    }
    is_filtered = any(filters.values())
    namespace = viewer.actor.namespace
    scope: Scope = ["page of contract checks", namespace, *filters.values()]
    position = decode_position(scope, after)
    with services_of(request).database.read() as session:
        found = list_results(session, namespace, position, limit + 1, **filters)
        shown = found[:limit]
        marks = marks_at(session, namespace, [row.position for row in shown])
        rows = [
            result_row(row.document, marks[row.position][0].effect if row.position in marks else None)
            for row in shown
        ]
        if not is_filtered and position is None:
            rows += rows_without_result(session, namespace)
    has_more = len(found) > limit
    page_size = {} if limit == DEFAULT_LIMIT else {"limit": str(limit)}
    older = encode_cursor(scope, (shown[-1].position,)) if has_more else None
    values = {
        "verdict": list_verdict(rows, is_filtered, has_more or position is not None),
        "rows": worst_first(rows),
        "filters": filters,
        "is_filtered": is_filtered,
        "words": OUTCOMES,
        "next_page": links.contract_checks(**filters, **page_size, after=older) if older else None,
    }
    return page(request, "contract_checks.html", values, viewer=viewer)


@router.get("/contract-checks/{id}")
def show_check(
    id: CheckId,
    request: Request,
    viewer: CurrentViewer,
    outcome: Outcome | None = None,
) -> Response:
    """By the id of its work, or by the digest of a record that was made elsewhere."""
    with services_of(request).database.read() as session:
        run = run_of(id, get_check(session, viewer.actor.namespace, id))
    values = {
        "run": run,
        "shown": view(run, outcome),
        "outcome": None if outcome is None else str(outcome),
        "words": OUTCOMES,
        "may_cancel": run.is_open and not viewer.actor.roles.isdisjoint(MAY_ASK),
    }
    return page(request, "contract_check.html", values, viewer=viewer)


@router.post("/contract-checks/{id}/cancel")
def cancel_check(
    id: CheckId,
    request: Request,
    viewer: CurrentViewer,
    fields: CheckedForm,
) -> Response:
    require_role(viewer.actor, *MAY_ASK)
    with services_of(request).database.connection() as connection:
        cancel_work(connection, viewer.actor.namespace, id, WorkKind.CONTRACT_CHECK, datetime.now(UTC))
    return RedirectResponse(links.contract_check(id), SEE_OTHER)


def rows_without_result(
    session: Session, namespace: str, states: Sequence[WorkState] = _WITHOUT_RESULT
) -> list[Row]:
    """Checks that wait, run, or came to nothing: the newest of each state."""
    now = datetime.now(UTC)
    return [
        work_row(item, now)
        for state in states
        for item in list_work(session, namespace, WorkKind.CONTRACT_CHECK, state, None, _WITHOUT_RESULT_ROWS)
    ]


def run_of(id: str, found: Check) -> CheckRun:
    """What pages show of a check; a result tells what was checked, before there is one the request does."""
    run = CheckRun(id, "done", "", 0, "", "") if found.work is None else _asked(found.work)
    if found.result is None:
        return run
    body = found.result.body
    return replace(
        run,
        contract=body["contract"]["name"],
        version=body["contract"]["version"],
        root=body["data"]["root"],
        path=body["data"]["path"],
        table=body["object"],
        parameters=body.get("parameters", {}),
        record=found.result.record,
        result=body,
        evidence_level=found.result.level,
        marks=found.result.marks,
    )


def _asked(item: WorkItem) -> CheckRun:
    state, reason = item.state_at(datetime.now(UTC))
    request: Mapping[str, Any] = json.loads(item.request)
    return CheckRun(
        id=item.id,
        state=str(state),
        contract=request["contract"]["name"],
        version=request["contract"]["version"],
        root=request["root"],
        path=request["path"],
        table=request["object"],
        parameters=request["parameters"],
        progress_done=item.progress_done,
        progress_total=item.progress_total,
        progress_text=item.progress_text,
        reason=reason,
    )
