"""What the service does by itself, in one process and in many at the same time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from api.ticks.attempts import abandon_overdue
from api.ticks.clock import ticking
from models.ledger.writer import Ledger
from tests.support.attempts import make_scene, opened, shown
from tests.support.calls import log_size
from tests.support.service import RunningService

PATIENCE = 60


def test_attempts_are_abandoned_once_however_many_processes_tick(service: RunningService) -> None:
    scene = make_scene(service)
    attempts = [opened(scene.evaluator, retry=number) for number in range(5)]
    size = log_size(scene.evaluator)
    services = service.services
    # Each with a ledger writer of its own, as processes have.
    ledgers = [Ledger(services.database, services.ring.log_key) for _ in range(4)]
    try:
        now = datetime.now(UTC)
        with scene.later(), ThreadPoolExecutor(len(ledgers)) as pool:
            done = list(pool.map(lambda ledger: abandon_overdue(services.database, ledger, now), ledgers))
    finally:
        for ledger in ledgers:
            ledger.close()
    assert sum(done) == len(attempts)
    assert log_size(scene.evaluator) == size + len(attempts)
    assert {shown(scene.evaluator, attempt)["state"] for attempt in attempts} == {"abandoned"}


def test_attempts_of_every_namespace_are_abandoned_in_their_own(service: RunningService) -> None:
    scene = make_scene(service)
    stranger = service.client("evaluator", namespace="team-b")
    attempt = opened(stranger)
    with scene.later():
        assert scene.abandon() == 1
    record = stranger.get(f"/v1/records/{shown(stranger, attempt)['ended_by']}").json()
    assert (record["ns"], record["actor"]["level"]) == ("team-b", "server_run")


def test_clock_goes_on_after_a_tick_that_failed_and_ends_when_told() -> None:
    twice = threading.Event()
    seen: list[datetime] = []

    def fails(now: datetime) -> None:
        raise ConnectionError("the database is away")

    def counts(now: datetime) -> None:
        seen.append(now)
        if len(seen) == 2:
            twice.set()

    with ticking(fails, counts, seconds=0.01):
        assert twice.wait(PATIENCE)
    assert seen[0] < seen[1]
    assert not any(thread.name == "ticks" for thread in threading.enumerate())
