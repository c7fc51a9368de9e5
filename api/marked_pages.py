"""Pages of recorded facts, each with what was revoked or contested of it."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from fastapi import Request, Response
from sqlmodel import Session

from api.pages import Scope, decode_position, extended, page
from api.schemas.reading import marks_json
from api.services import services_of
from models.actor import Actor
from models.lineage.marks import Mark, marks_at


class Placed(Protocol):
    @property
    def position(self) -> int: ...


class Stored(Placed, Protocol):
    @property
    def document(self) -> str: ...


Row = TypeVar("Row", bound=Placed)
Query = Callable[[Session, str, int | None, int], Sequence[Row]]
"""Session, namespace, the last number of the page before, and how many rows at the most."""


def marked_page(
    request: Request,
    actor: Actor,
    scope: Scope,
    after: str | None,
    limit: int,
    query: Query[Row],
    render: Callable[[Row, list[Mark]], str],
    number: Callable[[Row], int] = lambda row: row.position,
) -> Response:
    """`number` is what the rows are ordered by, and their cursor made of. The query answers in one session with the
    marks; what it raises is the answer."""
    start = decode_position(scope, after)
    with services_of(request).database.read() as session:
        rows = query(session, actor.namespace, start, limit + 1)
        marks = marks_at(session, actor.namespace, [row.position for row in rows])
    return page(
        scope, rows, limit, lambda row: (number(row),), lambda row: render(row, marks.get(row.position, []))
    )


def marked_document(row: Stored, marks: list[Mark]) -> str:
    """The stored JSON object with its place in the log and its marks."""
    return extended(row.document, {"position": row.position, "marks": marks_json(marks)})
