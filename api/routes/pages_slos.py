"""Promises as pages: are we keeping them, what ate the budget, and why is a window's outcome what it is?"""

import json
from dataclasses import asdict
from datetime import UTC, date, datetime, time
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from api.pages import DEFAULT_LIMIT, After, Limit, Scope, decode_cursor, encode_cursor
from api.routes.reading_slos import SloPath
from api.services import services_of
from api.slo_explaining import explained
from api.web import links
from api.web.answers import page
from api.web.choices import chosen, refused
from api.web.live_view import SHOWN, behind, counts_of, live_days, stretch_rows
from api.web.slo_facts import facts_of
from api.web.slo_view import (
    list_verdict,
    slo_line,
    slo_verdict,
    window_href,
    window_row,
    worst_first,
)
from api.web.slo_words import WINDOW_STATES, local_in_words, slices_in_words
from api.web.viewers import CurrentViewer
from api.web.window_view import (
    evidence_of,
    near_rows,
    revision_rows,
    source_sentence,
    window_verdict,
)
from api.web.window_view import facts_of as facts_of_window
from models.fields import instant_text
from models.slo.definitions import get_slo_version
from models.slo.late_slices import stretches_by_window
from models.slo.listed import MAX_SHOWN, list_windows
from models.slo.reporting import Asked, report
from shipworthy.formats.times import parse_instant

router = APIRouter(include_in_schema=False)

SLOS: Final = 200
"""Lines of a page; a team has fewer."""
# Behind every id: a page of windows begins with those whose deadline is over.
_LAST: Final = "\U0010ffff"
Filter = Annotated[str, Query(max_length=256)]
From = Annotated[str, Query(alias="from", max_length=64)]


@router.get("/slo")
def show_slos(
    request: Request, viewer: CurrentViewer, team: Filter = "", start: From = "", to: Filter = ""
) -> Response:
    """A line for each promise, worst first, over its own period or a time that is asked for."""
    now = datetime.now(UTC)
    first, last = _span(start, to, now)
    asked = Asked(viewer.actor.namespace, now, first, last, team.strip() or None)
    with services_of(request).database.read() as session:
        found = worst_first(report(session.connection(), asked))
    filters = {"team": team.strip() or None, "from": start.strip() or None, "to": to.strip() or None}
    is_filtered = any(filters.values())
    passed_on = {"from": filters["from"], "to": filters["to"]}
    values = {
        "verdict": list_verdict(found, is_filtered=is_filtered),
        "lines": [slo_line(each, passed_on) for each in found[:SLOS]],
        "more": max(len(found) - SLOS, 0),
        "filters": filters,
        "is_filtered": is_filtered,
        "now": now,
    }
    return page(request, "slos.html", values, viewer=viewer)


@router.get("/slo/{name}")
def show_slo(
    name: SloPath,
    request: Request,
    viewer: CurrentViewer,
    start: From = "",
    to: Filter = "",
    status: Filter = "",
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    """Its budget, its strip, and its windows whose deadline is over, the latest first."""
    now, namespace = datetime.now(UTC), viewer.actor.namespace
    first, last = _span(start, to, now)
    wanted = chosen("status", status, WINDOW_STATES)
    scope: Scope = ["page of windows", namespace, name, wanted]
    key = decode_cursor(scope, after, str, str)
    begin = (now, _LAST) if key is None else (parse_instant(str(key[0])), str(key[1]))
    with services_of(request).database.read() as session:
        connection = session.connection()
        current = get_slo_version(connection, namespace, name, None)
        found = report(connection, Asked(namespace, now, first, last, name=name))
        rows = list_windows(connection, namespace, name, begin, limit + 1, wanted)
        reported = found[0]
        late = behind(reported.windows)
        stretches = stretches_by_window(
            connection, namespace, name, current.version, [each["id"] for each in late[:SHOWN]], now
        )
    shown, filters = rows[:limit], {"from": start.strip() or None, "to": to.strip() or None}
    older = None
    if len(rows) > limit:
        following = encode_cursor(scope, (instant_text(shown[-1].deadline_at), shown[-1].id))
        page_size = {} if limit == DEFAULT_LIMIT else {"limit": str(limit)}
        older = links.slo(name, **filters, **page_size, status=wanted, after=following)
    values = {
        "verdict": slo_verdict(reported.slo),
        "line": slo_line(reported, filters, MAX_SHOWN),
        "facts": facts_of(reported),
        "live": live_days(name, late[:SHOWN], stretches),
        "more_live": max(len(late) - SHOWN, 0),
        "slo": reported.slo,
        "hrefs": {each.window: window_href(name, {"id": each.window}) for each in reported.slo.corrections},
        "definition": links.slo_definition(name, current.version),
        "version": current.version,
        "windows": [window_row(name, json.loads(each.document)) for each in shown],
        "words": WINDOW_STATES,
        "status": wanted,
        "next_page": older,
    }
    return page(request, "slo.html", values, viewer=viewer)


@router.get("/slo/{name}/windows/{id:path}")
def show_window(
    name: SloPath, id: Annotated[str, Path(max_length=640)], request: Request, viewer: CurrentViewer
) -> Response:
    now, namespace = datetime.now(UTC), viewer.actor.namespace
    with services_of(request).database.read() as session:
        told = explained(session, namespace, name, id, now)
        ids, version = [told["id"]] if told["slo"]["objective"] == "freshness" else [], told["slo"]["version"]
        stretches = stretches_by_window(session.connection(), namespace, name, version, ids, now)
    of_it = stretches.get(told["id"], [])
    if of_it and told.get("slices") is None:
        told["slices"] = asdict(counts_of(of_it))
    values = {
        "told": told,
        "deadline": local_in_words(told["deadline_local"]),
        "verdict": window_verdict(told),
        "facts": facts_of_window(told),
        "slices": slices_in_words(told["slices"]) if told.get("slices") else "",
        "late": stretch_rows(of_it),
        "revisions": revision_rows(told),
        "evidence": evidence_of(told),
        "near": near_rows(told, told["run_ids"]),
        "source": source_sentence(told["source"]),
        "definition": links.slo_definition(name, told["slo"]["version"]),
    }
    return page(request, "slo_window.html", values, viewer=viewer)


def _span(start: str, to: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    """Both None for each promise's own period. A date is its midnight in UTC; without an end the span reaches to now.
    Raises InvalidInput."""
    first, last = _moment("from", start.strip()), _moment("to", to.strip())
    if first is None and last is not None:
        raise refused("from", "is missing: say from when on, too")
    if first is not None and last is None:
        last = now
    if first is not None and last is not None and last <= first:
        raise refused("to", "must be later than `from`")
    return first, last


def _moment(name: str, text: str) -> datetime | None:
    if not text:
        return None
    try:
        if len(text) == len("2026-11-01"):
            return datetime.combine(date.fromisoformat(text), time(), UTC)
        return parse_instant(text)
    except ValueError as error:
        raise refused(name, f"is neither a date such as 2026-11-01 nor a time with a zone: {error}") from None
