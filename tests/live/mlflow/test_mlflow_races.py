"""Promotions that race a revocation, one another, and the end of the service."""

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from benchmarks.support.processes import Server, start_shipworthy
from shipworthy.formats.manifest import hash_tree, manifest_digest
from tests.live.mlflow.calls import API, PROXY, Answer, send, send_json, upload
from tests.live.mlflow.conftest import GUARDED, Fleet, Registry
from tests.live.mlflow.exhibits import ALIAS, new_run, new_version
from tests.live.mlflow.proxy import CHECK, CONFIRM, Cut, Hook, Proxy
from tests.live.mlflow.releasing import ReleaseScene
from tests.support.calls import post
from tests.support.databases import DatabaseUrls
from tests.support.gates import MODEL

RACED: Final = GUARDED[1]
"""On PostgreSQL under uvicorn: nothing but the guard makes one move wait for another."""
RACES: Final = 60
RACERS: Final = 8
DELAY_SECONDS: Final = 0.02
SEED: Final = 20260501


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version of MODEL whose files pass."""

    version: str
    digest: str
    run: str


@pytest.fixture(scope="module")
def raced(fleet: Fleet) -> Registry:
    return fleet[RACED]


@pytest.fixture(scope="module")
def candidates(
    raced: Registry, scene: ReleaseScene, tmp_path_factory: pytest.TempPathFactory
) -> list[Candidate]:
    """One more than race, each with files of its own: one of them holds the alias."""
    found = []
    for number in range(RACERS + 1):
        folder = tmp_path_factory.mktemp("candidate")
        (folder / "weights.bin").write_bytes(bytes([100 + number]) * 1000)
        digest = manifest_digest(hash_tree(folder))
        run = new_run(raced.server, raced.exhibit.experiment)
        path = f"{raced.exhibit.experiment}/{run}/artifacts/model"
        upload(raced.server, f"{path}/weights.bin", (folder / "weights.bin").read_bytes())
        scene.another(digest)
        version = new_version(raced.server, MODEL, f"runs:/{run}/model", run_id=run)
        found.append(Candidate(version, digest, run))
    return found


def promote(registry: Registry, candidate: Candidate) -> Answer:
    fields = {"name": MODEL, "alias": ALIAS, "version": candidate.version}
    return send_json(registry.server, "POST", f"{API}registered-models/alias", fields)


def holder(registry: Registry) -> str:
    """The version that holds the alias, from the registry's database."""
    return registry.judge.held(MODEL, ALIAS)


def another(registry: Registry, candidates: list[Candidate]) -> Candidate:
    return next(each for each in candidates if each.version != holder(registry))


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

    def meanwhile(self) -> None:
        self.begin()
        time.sleep(self.chance.uniform(0, DELAY_SECONDS))

    def moments(self) -> list[tuple[str, dict[str, dict[str, Hook]]]]:
        """Of a promotion, with the hooks of the proxy that begin the revocation then."""
        return [
            ("before it is asked", {}),
            ("when it is asked", {"before": {CHECK: self.meanwhile}}),
            ("when it is granted", {"after": {CHECK: self.meanwhile}}),
            ("when it is confirmed", {"before": {CONFIRM: self.meanwhile}}),
            ("after it was confirmed", {"after": {CONFIRM: self.meanwhile}}),
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
    assert outcomes["after it was confirmed"] == {True}


def test_one_of_eight_racers_for_an_alias_wins(
    raced: Registry, candidates: list[Candidate], scene: ReleaseScene
) -> None:
    """All passed against what holds the alias now; who comes second is no longer compared with what he meets."""
    racing = [each for each in candidates if each.version != holder(raced)][:RACERS]
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
    """They are hashed before the service is asked, and nothing else is what it confirms."""
    candidate = another(raced, candidates)
    scene.decide(candidate.digest, registry=raced.name)
    path = f"{raced.exhibit.experiment}/{candidate.run}/artifacts/model/weights.bin"
    logged = {"experiment_id": raced.exhibit.experiment, "name": "model", "source_run_id": candidate.run}
    answers: list[Answer] = []

    def swap() -> None:
        answers.append(send(raced.server, "PUT", PROXY + path, b"others"))
        answers.append(send_json(raced.server, "POST", f"{API}logged-models", logged))

    before = {CHECK: swap, CONFIRM: swap}
    with proxy.with_hooks(before=before):
        assert promote(raced, candidate).status == 200
    assert [answer.status for answer in answers] == [403] * 4, [answer.text for answer in answers]
    assert holder(raced) == candidate.version


@pytest.fixture
def second_service(scene: ReleaseScene, proxy: Proxy, tmp_path: Path) -> Iterator[Server]:
    """A process of its own over the same database, in the way of the guard, to be killed."""
    settings = scene.service.services.settings
    assert settings.migration_url is not None
    urls = DatabaseUrls("postgresql", settings.database_url, settings.migration_url)
    server = start_shipworthy(tmp_path, urls, options=["--data", str(settings.data)])
    first, proxy.upstream = proxy.upstream, server.port
    try:
        yield server
    finally:
        proxy.upstream = first
        server.kill()


def test_service_that_falls_silent_after_a_grant_leaves_the_alias_unmoved(
    raced: Registry, candidates: list[Candidate], scene: ReleaseScene, proxy: Proxy
) -> None:
    def cut() -> None:
        raise Cut

    before, last = holder(raced), scene.promoted(raced.name)[0]["record"]
    candidate = another(raced, candidates)
    scene.decide(candidate.digest, registry=raced.name)
    with proxy.with_hooks(before={CONFIRM: cut}):
        answer = promote(raced, candidate)
    assert (answer.status, holder(raced)) == (403, before)
    assert scene.promoted(raced.name)[0]["record"] == last


def test_service_killed_before_it_could_say_that_it_recorded_leaves_a_finding(
    raced: Registry, candidates: list[Candidate], scene: ReleaseScene, proxy: Proxy, second_service: Server
) -> None:
    """The alias is unmoved, the record says that it moved: the next reconciliation tells."""

    def kill() -> None:
        second_service.kill()
        raise Cut

    held = next(each for each in candidates if each.version == holder(raced))
    candidate = another(raced, candidates)
    # The grant before this one was never confirmed, and counts for some seconds.
    scene.pass_time()
    decision = scene.decide(candidate.digest, registry=raced.name)["decision"]
    with proxy.with_hooks(after={CONFIRM: kill}):
        answer = promote(raced, candidate)
    assert (answer.status, holder(raced)) == (403, held.version)
    assert scene.promoted(raced.name)[0]["decision"] == decision
    findings = scene.reconcile(raced.name, held.version, held.digest)
    assert "record_without_move" in {finding["kind"] for finding in findings}
