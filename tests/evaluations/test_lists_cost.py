"""Each list is one statement, however many attempts, results or pieces of evidence there are."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlmodel import Session

from models.evaluations import queries
from tests.models.test_page_cost import statements_of
from tests.support.attempts import make_scene, opened
from tests.support.bodies import digest_of
from tests.support.service import RunningService

DATASET = digest_of("fraud-eval")
LISTS: dict[str, Callable[[Session], Any]] = {
    "attempts": lambda session: queries.list_attempts(session, "team-a", None, 10, dataset=DATASET),
    "counts": lambda session: queries.count_attempts(session, "team-a", DATASET),
    "results": lambda session: queries.list_results(session, "team-a", digest_of("attempt")),
    "statistics": lambda session: queries.list_measured_again(session, "team-a", digest_of("attempt"), 10),
    "extensions": lambda session: queries.extensions_of(session, "team-a", DATASET),
    "evidence": lambda session: queries.list_evidence(session, "team-a", None, 10, subject=DATASET),
    "overdue": lambda session: queries.list_overdue(session, datetime.now(UTC), 10),
}


@pytest.mark.parametrize("name", LISTS)
def test_list_is_one_statement(sqlite_service: RunningService, name: str) -> None:
    scene = make_scene(sqlite_service)
    for number in range(3):
        opened(scene.evaluator, retry=number)
    with (
        sqlite_service.services.database.read() as session,
        statements_of(session.connection()) as seen,
    ):
        LISTS[name](session)
    assert len(seen) == 1
