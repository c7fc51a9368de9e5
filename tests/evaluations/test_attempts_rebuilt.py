"""What attempts, their counts and their ends are follows from the records alone, also when time ended one."""

import pytest
from sqlalchemy import Connection, select

from models.bulk import sql_table
from models.columns import Table
from models.evaluations import tables
from models.ledger.fsck import fsck
from models.ledger.rebuild import rebuild
from tests.support.attempts import Scene, answered, claimed, closed, make_scene, opened, shown, statistics_of
from tests.support.contracts import complete
from tests.support.service import RunningService

TABLES: tuple[type[Table], ...] = (tables.EvaluationAttempt, tables.AttemptCount, tables.Statistic)


@pytest.fixture
def scene(service: RunningService) -> Scene:
    return make_scene(service)


def rows(connection: Connection) -> list[list[tuple[object, ...]]]:
    return [
        sorted((tuple(row) for row in connection.execute(select(sql_table(table)))), key=repr)
        for table in TABLES
    ]


def test_attempts_that_closed_and_were_abandoned_are_the_same_when_made_again(scene: Scene) -> None:
    closed(scene.evaluator)
    work = claimed(scene.worker)
    assert complete(scene.worker, work, statistics_of(work)).status_code == 200
    waiting = opened(scene.evaluator, repeats=2, retry=1)
    answered(scene.evaluator, waiting)
    with scene.later():
        assert scene.abandon() == 1
    opened(scene.evaluator, retry=2)
    opened(scene.service.client("evaluator", namespace="team-b"))
    services = scene.service.services
    with services.database.read() as session:
        before = rows(session.connection())
    assert all(before)
    rebuild(services.database)
    with services.database.read() as session:
        assert rows(session.connection()) == before
    assert fsck(services.database, services.ring.log_key).problems == ()
    assert shown(scene.evaluator, waiting)["state"] == "abandoned"


def test_rebuilding_queues_no_work_a_second_time(scene: Scene) -> None:
    closed(scene.evaluator)
    claimed(scene.worker)
    rebuild(scene.service.services.database)
    answer = scene.worker.post("/v1/work:claim", json={"kinds": ["statistics"], "roots": []})
    assert answer.status_code == 204


def test_count_made_again_goes_on_where_it_was(scene: Scene) -> None:
    opened(scene.evaluator)
    opened(scene.evaluator, retry=1)
    rebuild(scene.service.services.database)
    assert opened(scene.evaluator, retry=2)["number"] == 3
