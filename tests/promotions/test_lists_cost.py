"""Each list is one statement, however much was promoted or is protected; what is protected takes two."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlmodel import Session

from models.promotions import queries, reconciliations
from tests.models.test_page_cost import statements_of
from tests.support.promotions import PromotionScene
from tests.support.service import RunningService

NOW = datetime.now(UTC)
LISTS: dict[str, tuple[Callable[[Session], Any], int]] = {
    "events": (lambda session: queries.list_events(session, "team-a", None, 10, state="observed"), 1),
    "released": (
        lambda session: queries.released_at(session, "team-a", "default", "fraud-classifier", NOW),
        1,
    ),
    "version": (lambda session: queries.protections_version(session.connection(), "team-a"), 1),
    "protections": (lambda session: queries.protections(session.connection(), "team-a"), 2),
    "places": (lambda session: reconciliations.held_places(session.connection(), "team-a", "default"), 1),
    "grants": (
        lambda session: reconciliations.unconfirmed_grants(session.connection(), "team-a", "default", NOW),
        1,
    ),
    "latest": (lambda session: reconciliations.find_latest(session.connection(), "team-a", "default"), 1),
}


def test_lists_take_as_many_statements_as_they_say(sqlite_service: RunningService) -> None:
    scene = PromotionScene(sqlite_service)
    for number in range(3):
        assert scene.observe(target=f"name-{number}").status_code == 201
    counted = {}
    for name, (ask, _) in LISTS.items():
        with (
            sqlite_service.services.database.read() as session,
            statements_of(session.connection()) as seen,
        ):
            ask(session)
        counted[name] = len(seen)
    assert counted == {name: count for name, (_, count) in LISTS.items()}
