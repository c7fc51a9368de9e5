"""The overview and the one search box."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from api.routes.pages_contract_checks import rows_without_result
from api.services import services_of
from api.web.answers import page
from api.web.finding import hit_rows
from api.web.list_view import list_verdict, result_row, worst_first
from api.web.verdicts import Verdict
from api.web.viewers import CurrentViewer
from api.web.words import Word, plural
from models.contracts.queries import list_results
from models.lineage.marks import marks_at
from models.search import MAX_TEXT, MIN_HEX, find_anything

router = APIRouter(include_in_schema=False)

NEWEST: Final = 20
HITS: Final = 10
_FOUND: Final = Word("found", "Found", "open")
"""What a search brings is no judgement, so it has no colour."""


@router.get("/")
def show_overview(request: Request, viewer: CurrentViewer) -> Response:
    """Is anything wrong now? From the newest contract checks."""
    namespace = viewer.actor.namespace
    with services_of(request).database.read() as session:
        found = list_results(session, namespace, None, NEWEST)
        marks = marks_at(session, namespace, [row.position for row in found])
        rows = [
            result_row(row.document, marks[row.position][0].effect if row.position in marks else None)
            for row in found
        ]
        rows += rows_without_result(session, namespace)
    if rows:
        verdict = list_verdict(rows, False, len(found) == NEWEST)
    else:
        action = "Begin with the steps below, or look something up in the search box."
        verdict = Verdict(Word("none", "None", "open"), "No data was checked yet.", action)
    needing = [row for row in worst_first(rows) if row.word.tone != "good"]
    return page(request, "overview.html", {"verdict": verdict, "rows": needing}, viewer=viewer)


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
            f"Give a name from its beginning, or {MIN_HEX} or more digits of a digest or id; case counts in names.",
        )
    return page(request, "search.html", {"verdict": verdict, "hits": hits, "query": text}, viewer=viewer)
