"""What the overview says of a namespace, gathered: the page and those who watch it ask the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlmodel import Session

from api.routes.pages_contract_checks import CAME_TO_NOTHING, rows_without_result
from api.routes.pages_registry import looks_at
from api.services import Services
from api.web import links
from api.web.list_view import Row, result_row
from api.web.needs import (
    Need,
    of_blocked,
    of_data,
    of_lost,
    of_refused,
    of_registries,
    of_review,
    of_slos,
    version_of,
    worst_first,
)
from models.attention import Begun, LogHead, begun, blocked_places, log_head, refused_since
from models.contracts.queries import list_results
from models.gates.review_queries import list_open
from models.lineage.marks import marks_at
from models.lineage.run_queries import RunFilter, list_runs
from models.lineage.run_state import LOST
from models.slo.reporting import Asked, report

SHOWN: Final = 10
"""Lines of a kind; where there are more, a link leads to all of them."""
RESULTS: Final = 20
"""Contract checks that are looked at, the newest ones."""
REFUSED_FOR: Final = timedelta(days=7)
"""How long a refused promotion asks for somebody."""


@dataclass(frozen=True, slots=True)
class More:
    """Where the lines are that the overview leaves out."""

    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Overview:
    """`needs` are worst first; `begun` says which kinds of things there are at all."""

    needs: Sequence[Need]
    more: Sequence[More]
    begun: Begun
    head: LogHead

    @property
    def version(self) -> str:
        return version_of(self.needs, has_more=bool(self.more))


def overview(session: Session, services: Services, namespace: str, now: datetime) -> Overview:
    """A fixed number of statements, each with a limit or over one row for each SLO."""
    connection = session.connection()
    has = begun(connection, namespace)
    lost = list_runs(session, namespace, RunFilter(state=LOST), now, None, SHOWN + 1) if has.runs else []
    found = [
        (of_registries(looks_at(session, services, namespace), now), More("All findings", "/registry")),
        (
            of_slos(report(connection, Asked(namespace, now, with_windows=False)), now) if has.slos else [],
            More("All promises", links.slos()),
        ),
        (
            [of_blocked(row) for row in blocked_places(connection, namespace, SHOWN + 1)]
            if has.gates
            else [],
            More("All decisions that let nothing pass", links.decisions(verdict="blocked")),
        ),
        ([of_lost(run) for run in lost], More("All lost runs", links.runs(state=LOST))),
        (of_data(_checks(session, namespace)), More("All contract checks", links.contract_checks())),
        (
            [
                of_refused(event)
                for event in refused_since(connection, namespace, now - REFUSED_FOR, SHOWN + 1)
            ],
            More("All that was refused", "/registry"),
        ),
        (
            [of_review(row) for row in list_open(session, namespace, None, SHOWN + 1)] if has.gates else [],
            More("All decisions that wait for a review", links.decisions(verdict="review_required")),
        ),
    ]
    return Overview(
        needs=worst_first(need for needs, _ in found for need in worst_first(needs)[:SHOWN]),
        more=[more for needs, more in found if len(needs) > SHOWN],
        begun=has,
        head=log_head(connection),
    )


def _checks(session: Session, namespace: str) -> list[Row]:
    results = list_results(session, namespace, None, RESULTS)
    marks = marks_at(session, namespace, [row.position for row in results])
    rows = [
        result_row(row.document, marks[row.position][0].effect if row.position in marks else None)
        for row in results
    ]
    return rows + rows_without_result(session, namespace, CAME_TO_NOTHING)
