"""What becomes of a move when the service, its answer or the files are lost between MLflow's write and its commit."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from benchmarks.support.processes import Server, start_shipworthy
from tests.live.mlflow.candidates import Candidate, another, holder, promote
from tests.live.mlflow.conftest import Registry
from tests.live.mlflow.proxy import MOVE, Cut, Proxy
from tests.live.mlflow.releasing import ReleaseScene
from tests.support.databases import DatabaseUrls
from tests.support.promotions import make_move


def promoted(registry: Registry, candidates: list[Candidate], scene: ReleaseScene) -> Candidate:
    """One of them, which holds the alias."""
    held = another(registry, candidates)
    scene.decide(held.digest, registry=registry.name)
    assert promote(registry, held).status == 200
    return held


def test_files_that_change_behind_the_server_are_not_released(
    raced: Registry, candidates: list[Candidate], scene: ReleaseScene, proxy: Proxy
) -> None:
    """Whoever has the disk can write between the record and the commit: the alias stays, and the record is found."""
    held, candidate = promoted(raced, candidates, scene), another(raced, candidates)
    decision = scene.decide(candidate.digest, registry=raced.name)["decision"]
    run = f"{raced.exhibit.experiment}/{candidate.run}"
    file = raced.server.artifacts / run / "artifacts" / "model" / "weights.bin"
    whole = file.read_bytes()

    def overwrite() -> None:
        file.write_bytes(b"others" * 200)

    with proxy.with_hooks(after={MOVE: overwrite}):
        answer = promote(raced, candidate)
    file.write_bytes(whole)
    assert (answer.status, holder(raced)) == (403, held.version)
    assert "changed while the gates were asked" in answer.text
    assert scene.promoted(raced.name)[0]["decision"] == decision
    findings = scene.reconcile(raced.name, held.version, held.digest)
    assert "record_without_move" in {finding["kind"] for finding in findings}


def test_move_whose_answer_was_lost_is_asked_about_again_and_recorded_once(
    raced: Registry, candidates: list[Candidate], scene: ReleaseScene, proxy: Proxy
) -> None:
    candidate = another(raced, candidates)
    scene.decide(candidate.digest, registry=raced.name)
    last = scene.promoted(raced.name)[0]["record"]
    lost: list[str] = []

    def lose() -> None:
        if not lost:
            lost.append("the first answer")
            raise Cut

    with proxy.with_hooks(after={MOVE: lose}):
        answer = promote(raced, candidate)
    assert (answer.status, holder(raced), len(lost)) == (200, candidate.version, 1), answer.text
    newest, before = scene.promoted(raced.name)[:2]
    assert (newest["version"], before["record"]) == (candidate.version, last)


@pytest.fixture
def second_service(scene: ReleaseScene, proxy: Proxy, tmp_path: Path) -> Iterator[Server]:
    """A process of its own over the same database, to be put in the way of the guard and killed. It has answered once:
    its first answer may take longer than the guard waits."""
    settings = scene.service.services.settings
    assert settings.migration_url is not None
    urls = DatabaseUrls("postgresql", settings.database_url, settings.migration_url)
    options = ["--data", str(settings.data)]
    server = start_shipworthy(tmp_path, urls, token=scene.registry_token, options=options)
    first = proxy.upstream
    body = {"id": uuid4().hex, "moves": [make_move(model="nobody's")]}
    key = {"Authorization": f"Bearer {scene.registry_token}"}
    try:
        url = f"http://127.0.0.1:{server.port}/v1/promotions:move"
        assert httpx.post(url, json=body, headers=key, timeout=60).json()["code"] == "no_gate"
        yield server
    finally:
        proxy.upstream = first
        server.kill()


def test_service_that_falls_silent_leaves_the_alias_unmoved(
    raced: Registry, candidates: list[Candidate], scene: ReleaseScene, proxy: Proxy
) -> None:
    def cut() -> None:
        raise Cut

    before, last = holder(raced), scene.promoted(raced.name)[0]["record"]
    candidate = another(raced, candidates)
    scene.decide(candidate.digest, registry=raced.name)
    with proxy.with_hooks(before={MOVE: cut}):
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

    held, candidate = promoted(raced, candidates, scene), another(raced, candidates)
    decision = scene.decide(candidate.digest, registry=raced.name)["decision"]
    proxy.upstream = second_service.port
    with proxy.with_hooks(after={MOVE: kill}):
        answer = promote(raced, candidate)
    assert (answer.status, holder(raced)) == (403, held.version)
    assert scene.promoted(raced.name)[0]["decision"] == decision
    findings = scene.reconcile(raced.name, held.version, held.digest)
    assert "record_without_move" in {finding["kind"] for finding in findings}
