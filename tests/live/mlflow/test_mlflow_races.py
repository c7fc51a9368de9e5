"""Promotions that race a revocation, one another, and whoever writes to their files."""

import random
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from tests.live.mlflow.calls import API, PROXY, Answer, send, send_json
from tests.live.mlflow.candidates import RACERS, Candidate, another, holder, promote
from tests.live.mlflow.conftest import Registry
from tests.live.mlflow.proxy import MOVE, Hook, Proxy
from tests.live.mlflow.releasing import ReleaseScene
from tests.support.calls import post

RACES: Final = 60
DELAY_SECONDS: Final = 0.02
SEED: Final = 20260501


def revoke(scene: ReleaseScene, record: str) -> int:
    """The log position of the revocation."""
    body = {"record": record, "effect": "revoked", "reason": "for a race"}
    answer = post(scene.author, "/v1/revocations", body)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["position"])


@dataclass
class Revocation:
    """Of one decision, begun once, beside the promotion that it races; `chance` says how far apart the two run."""

    scene: ReleaseScene
    record: str
    beside: ThreadPoolExecutor
    chance: random.Random
    running: Future[int] | None = None

    def begin(self) -> Future[int]:
        if self.running is None:
            self.running = self.beside.submit(revoke, self.scene, self.record)
        return self.running

    def at_once(self) -> None:
        self.begin()

    def meanwhile(self) -> None:
        self.begin()
        time.sleep(self.chance.uniform(0, DELAY_SECONDS))

    def moments(self) -> list[tuple[str, dict[str, dict[str, Hook]]]]:
        """Of a promotion, with the hooks of the proxy that begin the revocation then."""
        return [
            ("before it is asked", {}),
            ("a little before it is judged", {"before": {MOVE: self.meanwhile}}),
            ("when it is judged", {"before": {MOVE: self.at_once}}),
            ("after it was recorded", {"after": {MOVE: self.meanwhile}}),
        ]


def test_no_promotion_comes_after_the_revocation_of_its_decision(
    raced: Registry, candidates: list[Candidate], scene: ReleaseScene, proxy: Proxy
) -> None:
    chance = random.Random(SEED)
    outcomes: dict[str, set[bool]] = {}
    with ThreadPoolExecutor(1) as beside:
        for number in range(RACES):
            before, candidate = holder(raced), another(raced, candidates)
            decision = scene.decide(candidate.digest, registry=raced.name)["decision"]
            revocation = Revocation(scene, decision, beside, chance)
            moments = revocation.moments()
            moment, hooks = moments[number % len(moments)]
            if not hooks:
                revocation.begin().result()
            with proxy.with_hooks(**hooks):
                answer = promote(raced, candidate)
            revoked_at = revocation.begin().result()
            newest = scene.promoted(raced.name)[0]
            moved = newest["decision"] == decision
            assert moved == (answer.status == 200), f"{moment}: {answer.text}"
            assert holder(raced) == (candidate.version if moved else before), moment
            assert not moved or newest["position"] < revoked_at, moment
            outcomes.setdefault(moment, set()).add(moved)
    assert outcomes["before it is asked"] == {False}
    assert outcomes["after it was recorded"] == {True}


def test_one_of_eight_racers_for_an_alias_wins(
    raced: Registry, candidates: list[Candidate], scene: ReleaseScene
) -> None:
    """All passed against what holds the alias now; who comes second is no longer compared with what he meets."""
    # None of them held the alias before: what did goes back as a rollback, whatever holds it now.
    racing = candidates[-RACERS:]
    assert not {each.version for each in racing} & {each["version"] for each in scene.promoted(raced.name)}
    for each in racing:
        scene.decide(each.digest, registry=raced.name)
    last = scene.promoted(raced.name)[0]["record"]
    line = threading.Barrier(RACERS)

    def race(candidate: Candidate) -> Answer:
        line.wait(60)
        return promote(raced, candidate)

    with ThreadPoolExecutor(RACERS) as racers:
        answers = list(racers.map(race, racing))
    won = [each for each, answer in zip(racing, answers, strict=True) if answer.status == 200]
    assert len(won) == 1, [answer.text for answer in answers]
    assert holder(raced) == won[0].version
    assert {answer.status for answer in answers} == {200, 403}
    newest, before = scene.promoted(raced.name)[:2]
    assert (newest["version"], before["record"]) == (won[0].version, last)


def test_files_are_not_swapped_while_they_are_released(
    raced: Registry, candidates: list[Candidate], scene: ReleaseScene, proxy: Proxy
) -> None:
    """They are hashed before the service is asked, and nothing else is what it records."""
    candidate = another(raced, candidates)
    scene.decide(candidate.digest, registry=raced.name)
    path = f"{raced.exhibit.experiment}/{candidate.run}/artifacts/model/weights.bin"
    logged = {"experiment_id": raced.exhibit.experiment, "name": "model", "source_run_id": candidate.run}
    answers: list[Answer] = []

    def swap() -> None:
        answers.append(send(raced.server, "PUT", PROXY + path, b"others"))
        answers.append(send_json(raced.server, "POST", f"{API}logged-models", logged))

    with proxy.with_hooks(before={MOVE: swap}):
        assert promote(raced, candidate).status == 200
    assert [answer.status for answer in answers] == [403] * 2, [answer.text for answer in answers]
    assert holder(raced) == candidate.version
