"""Runs as pages: which one am I looking for, can I trust it, and what happened?"""

import json
from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from api.pages import DEFAULT_LIMIT, After, Limit, Scope, decode_position, encode_cursor
from api.routes.reading_runs import RunIdPath
from api.services import services_of
from api.web import links
from api.web.answers import page
from api.web.check_view import Evidence
from api.web.choices import chosen
from api.web.run_parts import inputs_of, made_of, metrics_in_words, missing_parts
from api.web.run_view import (
    attempt_rows,
    checkpoint_rows,
    event_row,
    facts_of,
    list_verdict,
    run_row,
    run_verdict,
)
from api.web.run_words import RUN_STATES
from api.web.viewers import CurrentViewer
from models.lineage.checkpoint_queries import list_saved, verifications_of
from models.lineage.marks import marks_at, marks_of_run
from models.lineage.model_queries import versions_of_run
from models.lineage.queries import list_facts_of_run
from models.lineage.run_events import newest_events
from models.lineage.run_queries import RunFilter, get_run, list_runs
from models.lineage.tables import Artifact, Evaluation

router = APIRouter(include_in_schema=False)

EVENTS: Final = 50
SHOWN: Final = 20
"""Checkpoints, artifacts, evaluations, versions and marks of a page; the JSON lists have all."""
Filter = Annotated[str, Query(max_length=512)]


@router.get("/runs")
def show_runs(
    request: Request,
    viewer: CurrentViewer,
    job: Filter = "",
    team: Filter = "",
    state: Filter = "",
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    """A page at a time. `job` is NAMESPACE/NAME, or a name in any namespace; an empty filter is none."""
    filters = {
        "job": job.strip() or None,
        "team": team.strip() or None,
        "state": chosen("state", state, RUN_STATES),
    }
    namespace = viewer.actor.namespace
    job_namespace, _, job_name = (filters["job"] or "").rpartition("/")
    wanted = RunFilter(
        job_namespace=job_namespace or None,
        job=job_name or None,
        team=filters["team"],
        state=filters["state"],
    )
    scope: Scope = ["page of runs", namespace, *filters.values()]
    position = decode_position(scope, after)
    with services_of(request).database.read() as session:
        found = list_runs(session, namespace, wanted, datetime.now(UTC), position, limit + 1)
        shown = found[:limit]
        marks = marks_at(session, namespace, [row.position for row in shown])
    rows = [run_row(row, marks[row.position][0].effect if row.position in marks else None) for row in shown]
    older = encode_cursor(scope, (shown[-1].position,)) if len(found) > limit else None
    page_size = {} if limit == DEFAULT_LIMIT else {"limit": str(limit)}
    is_filtered = any(filters.values())
    values = {
        "verdict": list_verdict(rows, is_filtered=is_filtered),
        "rows": rows,
        "filters": filters,
        "is_filtered": is_filtered,
        "words": RUN_STATES,
        "next_page": links.runs(**filters, **page_size, after=older) if older else None,
    }
    return page(request, "runs.html", values, viewer=viewer)


@router.get("/runs/{run_id}")
def show_run(run_id: RunIdPath, request: Request, viewer: CurrentViewer) -> Response:
    """A dozen statements, however much the run recorded."""
    namespace = viewer.actor.namespace
    with services_of(request).database.read() as session:
        run = get_run(session, namespace, run_id, datetime.now(UTC))
        marks = marks_of_run(session, namespace, run_id, SHOWN)
        saved = list_saved(session, namespace, run_id, SHOWN + 1)
        digests = {json.loads(each.fact.document)["digest"] for each in saved}
        verdicts = verifications_of(session, namespace, digests)
        artifacts = list_facts_of_run(session, Artifact, namespace, run_id, None, SHOWN + 1)
        evaluations = list_facts_of_run(session, Evaluation, namespace, run_id, None, SHOWN + 1)
        versions = versions_of_run(session, namespace, run_id, SHOWN + 1)
        events = newest_events(session, namespace, run_id, EVENTS)
    view = json.loads(run.document)
    checkpoints = checkpoint_rows(saved[:SHOWN], verdicts)
    made, measured = (
        [json.loads(each.document) for each in facts[:SHOWN]] for facts in (artifacts, evaluations)
    )
    values = {
        "run": run.summary,
        "verdict": run_verdict(run, marks, checkpoints),
        "marks": marks,
        "facts": facts_of(run, view),
        "made_of": made_of(view, run.ingredients),
        "missing": missing_parts(view),
        "inputs": inputs_of(view),
        "attempts": attempt_rows(view),
        "events": [event_row(each) for each in events[:EVENTS]],
        "has_more_events": len(events) > EVENTS,
        "checkpoints": checkpoints,
        "artifacts": [Evidence(each["role"], each["digest"], links.search(each["digest"])) for each in made],
        "evaluations": [
            {"metrics": metrics_in_words(each["metrics"]), "record": each["record"]} for each in measured
        ],
        "versions": versions[:SHOWN],
        "more": {
            "checkpoints": len(saved) > SHOWN,
            "artifacts": len(artifacts) > SHOWN,
            "evaluations": len(evaluations) > SHOWN,
            "versions": len(versions) > SHOWN,
        },
    }
    return page(request, "run.html", values, viewer=viewer)
