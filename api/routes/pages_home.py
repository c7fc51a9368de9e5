"""The overview and the one search box."""

from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from api.overview import overview
from api.services import services_of
from api.web.answers import page
from api.web.finding import hit_rows
from api.web.needs import needs_verdict
from api.web.verdicts import Verdict
from api.web.viewers import CurrentViewer
from api.web.words import Word, plural
from models.search import MAX_TEXT, MIN_HEX, find_anything

router = APIRouter(include_in_schema=False)

HITS: Final = 10
_FOUND: Final = Word("found", "Found", "open")
"""What a search brings is no judgement, so it has no colour."""


@router.get("/")
def show_overview(request: Request, viewer: CurrentViewer) -> Response:
    """What needs somebody now, worst first."""
    services, namespace = services_of(request), viewer.actor.namespace
    with services.database.read() as session:
        found = overview(session, services, namespace, datetime.now(UTC))
    begun = found.begun
    is_empty = not (begun.runs or begun.contracts or begun.gates or begun.slos)
    values = {
        "verdict": needs_verdict(found.needs, has_more=bool(found.more), is_empty=is_empty),
        "found": found,
        "is_empty": is_empty,
    }
    return page(request, "overview.html", values, viewer=viewer)


@router.get("/search")
def search(
    request: Request, viewer: CurrentViewer, q: Annotated[str, Query(max_length=MAX_TEXT)] = ""
) -> Response:
    """Whatever begins with the text: a digest, an id or a name."""
    text = q.strip()
    with services_of(request).database.read() as session:
        hits, cut = hit_rows(find_anything(session, viewer.actor.namespace, text, HITS + 1), HITS)
    if hits:
        action = f"There are more of: {', '.join(cut)}. Type more of the name." if cut else "Open one."
        verdict = Verdict(_FOUND, f"{plural(len(hits), 'thing')} found for “{text}”.", action)
    else:
        verdict = Verdict(
            _FOUND,
            f"Nothing begins with “{text}”." if text else "Nothing was asked for.",
            f"Give the beginning of a name, in any case, or {MIN_HEX} or more digits of a digest or id.",
        )
    return page(request, "search.html", {"verdict": verdict, "hits": hits, "query": text}, viewer=viewer)
