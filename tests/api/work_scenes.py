"""A published contract, those who ask for checks of it, a worker, and time that passes."""

from dataclasses import dataclass
from datetime import timedelta

import httpx
from sqlalchemy import select, update
from sqlmodel import col

from models.work.tables import Work
from tests.support.bodies import Body
from tests.support.contracts import claim, publish_suite
from tests.support.histories import History
from tests.support.service import RunningService

_TIMES = select(col(Work.id), col(Work.lease_expires_at), col(Work.available_at))


@dataclass(frozen=True)
class Scene:
    """A published contract, somebody who asks and somebody who works."""

    service: RunningService
    author: httpx.Client
    recorder: httpx.Client
    worker: httpx.Client
    published: Body

    def shift(self, seconds: float) -> None:
        """Moves all leases and waiting times back: as if so much time had passed."""
        passed = timedelta(seconds=seconds)
        with self.service.services.database.connection() as connection:
            rows = connection.execute(_TIMES).all()
            for row in rows:
                ends = None if row.lease_expires_at is None else row.lease_expires_at - passed
                connection.execute(
                    update(Work)
                    .where(col(Work.id) == row.id)
                    .values(lease_expires_at=ends, available_at=row.available_at - passed)
                )


def make_scene(service: RunningService) -> Scene:
    published = publish_suite(
        service, History(service.services.ledger, service.services.ring).actor("author")
    )
    return Scene(
        service, service.client("author"), service.client("recorder"), service.client("worker"), published
    )


def claimed(scene: Scene, **changes: object) -> Body:
    work = claim(scene.worker, **changes)
    assert work is not None
    return work


def state(scene: Scene, id: str) -> Body:
    answer = scene.recorder.get(f"/v1/contract-checks/{id}")
    assert answer.status_code == 200, answer.text
    found: Body = answer.json()
    return found
