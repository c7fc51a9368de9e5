"""What the guard asks the service and what it takes for a yes: with a real one, and with all that may stand there."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from shipworthy.errors import NotDelivered
from shipworthy.mlflow.gate import FRESH_SECONDS, RETRY_SECONDS, Gate
from shipworthy.mlflow.protections import UNKNOWN, parse_protections
from shipworthy.mlflow.settings import GuardSettings
from shipworthy.values import Body, Json
from tests.support.gates import MODEL, TO
from tests.support.promotions import PromotionScene, make_move
from tests.support.service import RunningService
from tests.support.weather import answer, answering, closed_port

PROTECTIONS = (
    '{"all":false,"targets":["Production","champion"],"registration_models":[],"released":[],'
    '"more_released":false}'
)


def make_gate(url: str, token: str = "sw_key", clock: Iterator[float] | None = None) -> Gate:
    ticks = clock or count(0.0, 0.4)
    return Gate(GuardSettings(url, token, "default"), lambda: next(ticks))


@contextmanager
def gate_before(*answers: bytes) -> Iterator[Gate]:
    """A gate whose service gives these answers in turn, the last one for ever."""
    with answering(lambda number: answers[min(number, len(answers)) - 1]) as port:
        gate = make_gate(f"http://127.0.0.1:{port}")
        yield gate
        gate.close()


def asked(**changes: Json) -> Body:
    return {"registry": "default", **make_move()} | changes


def recording(**changes: Json) -> bytes:
    question = asked()
    names = ("registry", "model", "version", "target", "artifact", "incumbent")
    binds: Body = {name: question[name] for name in names} | {"policy_digest": None}
    promotion: Body = {"record": "sha256:1", "action": "promote", "binds": binds}
    judged: Body = {
        "allowed": True,
        "promotions": [promotion],
        "sentence": "Recorded.",
        "who": [],
        "link": "/decisions/1",
    }
    for path, value in changes.items():
        *folders, name = path.split("__")
        inner = judged if not folders or folders[0] != "promotion" else promotion
        for folder in folders[1:]:
            inner = inner[folder]  # type: ignore[assignment]
        inner[name] = value
    return answer("200 OK", json.dumps(judged))


def test_real_service_records_what_the_registry_is_about_to_commit(sqlite_service: RunningService) -> None:
    scene = PromotionScene(sqlite_service)
    scene.ready()
    scene.decided()
    token = scene.guard.headers["authorization"].removeprefix("Bearer ")
    gate = Gate(GuardSettings(sqlite_service.url, token, "default"))
    protections = gate.protections()
    assert protections.known
    assert protections.complete
    assert protections.targets == {TO, "Production"}
    assert protections.released == ()

    refused = gate.move([asked(artifact="sha256:" + "9" * 64)])
    assert not refused.allowed
    assert refused.who
    assert str(refused.link).startswith(f"{sqlite_service.url}/decisions")
    assert gate.move([asked()]).allowed
    assert scene.holds() is not None
    assert scene.states() == ["refused", "promoted"]
    gate.close()


def test_released_versions_are_in_the_list(sqlite_service: RunningService) -> None:
    scene = PromotionScene(sqlite_service)
    scene.ready()
    scene.decided()
    scene.promote()
    (released,) = parse_protections(scene.guard.get("/v1/protections").json()).released_versions(
        "default", MODEL
    )
    assert (released.version, released.run_id, released.source, released.targets) == (
        "1",
        "1",
        "runs:/1/model",
        (TO,),
    )


def test_list_that_has_not_changed_stays_as_it_was() -> None:
    answers = [answer("200 OK", PROTECTIONS, 'ETag: "1"'), answer("304 Not Modified", "")]
    with answering(lambda number: answers[min(number, 2) - 1]) as port:
        gate = make_gate(f"http://127.0.0.1:{port}", clock=count(0.0, 2 * FRESH_SECONDS))
        first = gate.protections()
        assert first.targets == {TO, "Production"}
        assert gate.protections() is first
        gate.close()


def test_unchanged_is_no_list_for_who_has_none() -> None:
    with gate_before(answer("304 Not Modified", "")) as gate:
        assert gate.protections() is UNKNOWN


def test_record_of_what_was_asked_is_taken_with_an_absolute_link() -> None:
    with gate_before(recording()) as gate:
        verdict = gate.move([asked()])
        assert verdict.allowed
        assert str(verdict.link).endswith("/decisions/1")
        assert str(verdict.link).startswith("http://127.0.0.1:")
    with gate_before(recording(promotion__action="rollback")) as gate:
        assert gate.move([asked()]).allowed


@pytest.mark.parametrize("allowed", [False, None, "true", 1, [True], {}])
def test_only_a_literal_true_allows(allowed: Json) -> None:
    with gate_before(recording(allowed=allowed)) as gate:
        assert not gate.move([asked()]).allowed


@pytest.mark.parametrize(
    "changes",
    [
        {"promotions": None},
        {"promotions": []},
        {"promotions": ["sha256:1"]},
        {"promotion__record": None},
        {"promotion__binds": {}},
        {"promotion__binds__registry": "other"},
        {"promotion__binds__model": "other"},
        {"promotion__binds__version": "2"},
        {"promotion__binds__version": 1},
        {"promotion__binds__target": "canary"},
        {"promotion__binds__artifact": "sha256:" + "0" * 64},
        {"promotion__binds__artifact": None},
        {"promotion__binds__incumbent": {"version": "7", "artifact": None}},
        {"promotion__action": "demote"},
        {"promotion__action": "register"},
        {"promotion__action": None},
        {"sentence": None},
    ],
    ids=str,
)
def test_record_of_something_else_allows_nothing(changes: dict[str, Json]) -> None:
    with gate_before(recording(**changes)) as gate, pytest.raises(ValueError, match="the service"):
        gate.move([asked()])


def test_one_record_for_two_moves_allows_neither() -> None:
    with gate_before(recording()) as gate, pytest.raises(ValueError, match="the service"):
        gate.move([asked(), asked(target="canary")])


@pytest.mark.parametrize(
    "reply",
    [
        answer("200 OK", "true"),
        answer("200 OK", '{"allowed": true'),
        answer("204 No Content", ""),
        answer("500 Internal Server Error"),
        answer("307 Temporary Redirect", "{}", "Location: http://127.0.0.1:1/"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\nContent-Type: application/json\r\n\r\n{}",
        b"",
    ],
)
def test_strange_answer_allows_nothing(reply: bytes) -> None:
    with gate_before(reply) as gate, pytest.raises((NotDelivered, ValueError)):
        gate.move([asked()])


def test_same_words_are_said_again_when_the_answer_was_lost() -> None:
    with gate_before(b"", b"", recording()) as gate:
        assert gate.move([asked()]).allowed


def test_what_the_service_does_not_take_is_not_said_again() -> None:
    void = answer("409 Conflict", '{"detail": "said before in other words"}')
    with gate_before(void, recording()) as gate, pytest.raises(NotDelivered, match="other words"):
        gate.move([asked()])


def test_service_that_was_silent_a_moment_ago_is_not_waited_for() -> None:
    """Rows of the registry are locked meanwhile."""
    now = 0.0
    told: list[int] = []

    def reply(number: int) -> bytes:
        told.append(number)
        return answer("500 Internal Server Error") if number == 1 else recording()

    with answering(reply) as port:
        gate = Gate(GuardSettings(f"http://127.0.0.1:{port}", "sw_key", "default"), lambda: now)
        gate.protections()
        with pytest.raises(NotDelivered, match="500"):
            gate.move([asked()])
        assert told == [1]
        now += RETRY_SECONDS
        assert gate.move([asked()]).allowed
        gate.close()


def test_protections_are_kept_for_a_second_and_outlive_the_service() -> None:
    now = 0.0
    replies = [answer("200 OK", PROTECTIONS), answer("200 OK", PROTECTIONS.replace("champion", "canary"))]
    asked_times: list[int] = []

    def reply(number: int) -> bytes:
        asked_times.append(number)
        return replies[number - 1] if number <= len(replies) else answer("503 Service Unavailable")

    with answering(reply) as port:
        gate = Gate(GuardSettings(f"http://127.0.0.1:{port}", "sw_key", "default"), lambda: now)
        assert gate.protections().targets == {"Production", "champion"}
        assert gate.protections().targets == {"Production", "champion"}
        now += FRESH_SECONDS
        assert gate.protections().targets == {"Production", "canary"}
        now += FRESH_SECONDS
        assert gate.protections().targets == {"Production", "canary"}
        now += RETRY_SECONDS / 2
        assert gate.protections().known
        gate.close()
    assert len(asked_times) == 3


def test_everything_is_protected_until_the_service_answers_with_a_list() -> None:
    assert make_gate(f"http://127.0.0.1:{closed_port()}").protections() is UNKNOWN
    for strange in (
        "[]",
        "{}",
        PROTECTIONS.replace('"Production",', ""),
        PROTECTIONS.replace("false,", '"no",', 1),
        PROTECTIONS.replace('"released":[]', '"released":[{"model":"m"}]'),
    ):
        with gate_before(answer("200 OK", strange)) as gate:
            assert gate.protections() is UNKNOWN


def test_list_that_does_not_say_that_it_is_whole_is_not() -> None:
    assert not parse_protections(json.loads(PROTECTIONS.replace(',"more_released":false', ""))).complete
    assert not parse_protections(json.loads(PROTECTIONS.replace(":false}", ":true}"))).complete
