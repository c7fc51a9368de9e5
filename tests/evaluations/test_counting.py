"""The number of an attempt is given under the log lock: no two are the same, whoever opens them at the same time."""

from concurrent.futures import ThreadPoolExecutor

from tests.support.attempts import make_attempt, make_result, make_scene, opened, shown
from tests.support.service import RunningService

CLIENTS = 24


def test_attempts_opened_at_the_same_time_have_numbers_of_their_own(service: RunningService) -> None:
    clients = [service.client("evaluator") for _ in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        numbers = list(pool.map(lambda given: opened(given[1], retry=given[0])["number"], enumerate(clients)))
    assert sorted(numbers) == list(range(1, CLIENTS + 1))


def test_one_attempt_opened_by_many_at_once_is_one(service: RunningService) -> None:
    clients = [service.client("evaluator") for _ in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = list(
            pool.map(lambda client: client.post("/v1/evaluation-attempts", json=make_attempt()), clients)
        )
    assert sorted(answer.status_code for answer in answers) == [200] * (CLIENTS - 1) + [201]
    assert {(answer.json()["attempt"], answer.json()["number"]) for answer in answers} == {
        (answers[0].json()["attempt"], 1)
    }


def test_last_results_that_come_at_the_same_time_close_an_attempt_once(service: RunningService) -> None:
    scene = make_scene(service)
    attempt = opened(scene.evaluator, repeats=CLIENTS)
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = list(
            pool.map(
                lambda repeat: scene.evaluator.post(
                    "/v1/evaluations", json=make_result(attempt, repeat=repeat)
                ),
                range(CLIENTS),
            )
        )
    assert {answer.status_code for answer in answers} == {201}
    found = shown(scene.evaluator, attempt)
    assert (found["state"], found["received"]) == ("closed", CLIENTS)
    claims = [
        scene.worker.post("/v1/work:claim", json={"kinds": ["statistics"], "roots": []}).status_code
        for _ in range(2)
    ]
    assert claims == [200, 204]
