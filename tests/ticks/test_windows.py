"""Many processes tick, some are killed, and clocks jump: there is one history of outcomes."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from api.ticks.appending import append_outcomes
from api.ticks.settling import LASTS, LEASE, WindowTick
from models.fields import instant_text
from models.ledger.writer import Ledger
from models.slo.leases import acquire, lease_state
from tests.support.bodies import digest_of
from tests.support.calls import log_size
from tests.support.service import RunningService
from tests.support.slos import NAME, PAST, SloScene, make_slo


@pytest.fixture
def scene(service: RunningService) -> SloScene:
    scene = SloScene(service)
    scene.published(make_slo(**scene.past))
    return scene


@contextmanager
def processes(scene: SloScene, number: int) -> Iterator[list[WindowTick]]:
    """Each with a ledger writer of its own, as processes have."""
    services = scene.service.services
    ledgers = [Ledger(services.database, services.ring.log_key) for _ in range(number)]
    try:
        yield [WindowTick(services.database, ledger, services.blobs) for ledger in ledgers]
    finally:
        for ledger in ledgers:
            ledger.close()


def test_one_of_many_processes_judges_and_each_window_once(scene: SloScene) -> None:
    now = datetime.now(UTC)
    with processes(scene, 4) as ticks, ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda tick: tick(now), ticks)) == PAST
    assert {each["revision"] for each in scene.listed() if each["status"] == "breached"} == {1}


def test_two_that_both_believe_to_hold_the_lease_make_one_history(scene: SloScene) -> None:
    now = datetime.now(UTC)
    with processes(scene, 2) as ticks, ThreadPoolExecutor(2) as pool:
        same = [WindowTick(t.database, t.ledger, t.blobs, holder="one and the same") for t in ticks]
        assert sum(pool.map(lambda tick: tick(now), same)) == PAST
    judged = [each for each in scene.listed() if each["status"] == "breached"]
    assert [each["revision"] for each in judged] == [1] * PAST
    assert all(len(scene.explained(each["id"])["revisions"]) == 1 for each in judged)


def test_a_process_that_was_killed_is_replaced_when_its_lease_ends(scene: SloScene) -> None:
    now = datetime.now(UTC)
    with scene.service.services.database.connection() as connection:
        assert acquire(connection, LEASE, "killed", now, LASTS)
    assert scene.judged(now + LASTS / 2) == 0
    assert scene.listed() == []
    assert scene.judged(now + LASTS + timedelta(seconds=1)) == PAST


def test_a_process_that_stops_lets_another_go_on_at_once(scene: SloScene) -> None:
    with processes(scene, 1) as (stopping,):
        assert stopping(datetime.now(UTC)) == PAST
        scene.run(0)
        assert scene.judged() == 0
        stopping.close()
        assert scene.judged() == 1


def test_a_clock_that_jumps_judges_nothing_twice_and_takes_nothing_back(scene: SloScene) -> None:
    ahead = datetime.now(UTC) + timedelta(days=3)
    judged = scene.judged(ahead)
    assert judged > PAST
    before, size = scene.listed(), log_size(scene.reader)
    assert scene.judged(datetime.now(UTC)) == 0, "a lease from the future does not stand for ever"
    assert scene.judged(datetime.now(UTC) - timedelta(days=30)) == 0
    assert (scene.listed(), log_size(scene.reader)) == (before, size)


def test_a_round_that_was_broken_off_is_gone_on_with(scene: SloScene) -> None:
    database = scene.service.services.database
    scene.judged()
    with database.read() as session:
        reached = lease_state(session.connection(), LEASE).cursor
    scene.run(0)
    scene.run(1)
    with database.connection() as connection:
        connection.exec_driver_sql("UPDATE tick_lease SET cursor = -1")
    assert scene.judged() == 2, "records that were looked at before change nothing"
    with database.read() as session:
        assert lease_state(session.connection(), LEASE).cursor > reached


def test_a_process_that_was_faster_with_one_window_keeps_no_other_outcome_back(scene: SloScene) -> None:
    assert scene.judged() == PAST
    ledger = scene.service.services.ledger
    outcomes = [("team-a", _made_good(scene, number)) for number in range(3)]
    assert append_outcomes(ledger, outcomes[1:2]) == 1
    assert append_outcomes(ledger, outcomes) == 2
    assert [scene.window(number)["revision"] for number in range(4)] == [2, 2, 2, 1]
    assert len(scene.window(1)["revisions"]) == 2


def test_outcomes_that_name_more_evidence_than_a_record_holds_are_recorded_in_several(
    scene: SloScene,
) -> None:
    scene.published(
        make_slo("many", **(scene.past | {"starts": (scene.day - timedelta(days=50)).date().isoformat()})),
        "many",
    )
    scene.judged()
    evidence = [digest_of(str(number)) for number in range(100)]
    outcomes = [
        ("team-a", _made_good(scene, number, "many") | {"evidence": evidence}) for number in range(-50, 0)
    ]
    assert append_outcomes(scene.service.services.ledger, outcomes) == 50
    assert scene.window(-50, "many")["evidence"] == evidence


def test_a_round_that_comes_upon_no_new_window_records_nothing(service: RunningService) -> None:
    scene, now = SloScene(service), datetime.now(UTC)
    scene.published(make_slo(rolling="7d"))
    scene.judged(now)
    written = _expected(scene)
    for hours in (1, 24, 6 * 24):
        scene.judged(now + timedelta(hours=hours))
    assert _expected(scene) == written
    scene.judged(now + timedelta(days=8))
    assert _expected(scene) == written + 1


def test_a_window_that_was_foretold_and_is_expected_anew_counts_its_revisions_on(scene: SloScene) -> None:
    scene.judged()
    scene.run(PAST + 1, "failed")
    assert scene.judged() == 1
    assert scene.window(PAST + 1)["predicted"] is True
    scene.published(make_slo(target=0.95, **scene.past))
    scene.judged()
    scene.judged(scene.at(PAST + 2))
    missed = scene.window(PAST + 1)
    assert (missed["version"], missed["status"], missed["reason"]) == (2, "breached", "failed")
    revisions = [each["revision"] for each in missed["revisions"]]
    assert revisions == list(range(1, missed["revision"] + 1))


def _made_good(scene: SloScene, number: int, name: str = NAME) -> dict[str, Any]:
    return {
        "slo": name,
        "version": 1,
        "window": f"{name}/{scene.at(number):%Y-%m-%dT%H:%M}+00:00",
        "revision": 2,
        "status": "met",
        "cause": "late_evidence",
        "judged_at": instant_text(datetime.now(UTC)),
    }


def _expected(scene: SloScene) -> int:
    """Records of expected windows."""
    with scene.service.services.database.read() as session:
        query = text("SELECT count(*) FROM record WHERE kind = 'windows.expected'")
        return int(session.connection().execute(query).scalar_one())
