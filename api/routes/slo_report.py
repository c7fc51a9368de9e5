"""`GET /v1/slo-report`: how the promises stand, as JSON or, where it is asked for, as a table."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import Query, Request, Response

from api.dependencies import CurrentActor
from api.pages import JSON
from api.reading_route import reading_router
from api.routes.reading_slos import Team
from api.services import services_of
from api.slo_reports import as_csv, as_json
from models.errors import FieldProblem, InvalidInput
from models.slo.reporting import Asked, report
from shipworthy.formats.times import parse_instant

router = reading_router("slos")

CSV: Final = "text/csv"
Time = Annotated[str | None, Query(max_length=64, description="RFC 3339 with a zone")]
_CONTENT: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "One entry for each SLO, in order of name.",
        "content": {
            JSON: {
                "schema": {
                    "type": "object",
                    "required": ["schema", "generated_at", "as_of", "evaluated_by", "tzdata", "slos"],
                    "properties": {"slos": {"type": "array", "items": {"type": "object"}}},
                }
            },
            CSV: {"schema": {"type": "string"}},
        },
    }
}


@router.get("/v1/slo-report", response_class=Response, responses=_CONTENT, summary="How the promises stand")
def get_slo_report(
    request: Request,
    actor: CurrentActor,
    start: Annotated[
        str | None, Query(alias="from", max_length=64, description="RFC 3339 with a zone")
    ] = None,
    to: Time = None,
    team: Team = None,
    as_of: Time = None,
) -> Response:
    """Each SLO over its own period, or all over [`from`, `to`); `as_of`: by what had been received then. With `Accept:
    text/csv` a table of one line an SLO."""
    now = datetime.now(UTC)
    first, last, known = _time("from", start), _time("to", to), _time("as_of", as_of)
    if (first is None) != (last is None):
        raise _refused("to" if last is None else "from", "is missing: give both `from` and `to`, or neither")
    if first is not None and last is not None and last <= first:
        raise _refused("to", "must be later than `from`")
    if known is not None and known > now:
        raise _refused("as_of", "lies in the future; leave it out for now")
    as_table = _wants_csv(request.headers.get("accept", ""))
    asked = Asked(actor.namespace, now, first, last, team, as_of=known, with_windows=not as_table)
    with services_of(request).database.read() as session:
        reported = report(session.connection(), asked)
    if as_table:
        headers = {"Content-Disposition": 'attachment; filename="slo-report.csv"'}
        return Response(as_csv(reported), media_type=f"{CSV}; charset=utf-8", headers=headers)
    return Response(as_json(reported, generated_at=now, as_of=known or now), media_type=JSON)


def _wants_csv(accept: str) -> bool:
    """Whether a table is named, and before JSON: who takes anything gets JSON."""
    named = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    return CSV in named and (JSON not in named or named.index(CSV) < named.index(JSON))


def _time(name: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return parse_instant(text)
    except ValueError as error:
        raise _refused(name, str(error)) from None


def _refused(name: str, message: str) -> InvalidInput:
    return InvalidInput(f"/query/{name} {message}", problems=[FieldProblem(f"/query/{name}", message)])
