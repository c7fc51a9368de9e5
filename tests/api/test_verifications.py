"""Checkpoints verified by workers: asked for or by themselves, one record a level, and what a failure takes away."""

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update
from sqlmodel import col

from models.work.tables import WorkerRoot
from tests.support.bodies import digest_of, make_event
from tests.support.calls import assert_refused, log_size, post
from tests.support.contracts import complete, give_up
from tests.support.databases import sqlite_copy
from tests.support.service import RunningService, running_service
from tests.support.verifications import Scene, claimed, failed, make_scene, result_of

_namespaces = itertools.count(1)


@pytest.fixture(scope="module")
def shared(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("verifications")
    urls = sqlite_copy(sqlite_template, folder / "shipworthy.sqlite3")
    with running_service(urls, folder / "data") as running:
        yield running


@pytest.fixture
def scene(shared: RunningService) -> Scene:
    """In a namespace of its own: what others recorded isn't there."""
    return make_scene(shared, f"team-{next(_namespaces)}")


@pytest.fixture
def either_scene(service: RunningService) -> Scene:
    return make_scene(service, "team-a")


def test_verification_that_was_asked_for_gives_a_checkpoint_its_levels(either_scene: Scene) -> None:
    scene = either_scene
    digest = scene.save(scene.run(), "600")
    asked = scene.ask(digest)
    assert asked.status_code == 202, asked.text
    assert scene.claim("elsewhere") is None
    work = claimed(scene)
    assert work["id"] == asked.json()["id"]
    assert work["request"] == {
        "checkpoint": digest,
        "root": "lake",
        "path": "ckpt/600",
        "asked": True,
        "run_id": None,
    }
    done = complete(scene.worker, work, result_of(work))
    assert done.status_code == 200, done.text
    shown = scene.shown(digest)
    assert shown["effective_level"] == "loaded"
    assert [(each["level"], each["outcome"], each["evidence_level"]) for each in shown["levels"]] == [
        ("written", "passed", "self_reported"),
        ("checksummed", "passed", "trusted_runner"),
        ("loaded", "passed", "trusted_runner"),
    ]
    item = scene.recorder.get(f"/v1/work/{work['id']}").json()
    newest = shown["verifications"]["items"][0]
    assert (item["state"], item["record"]) == ("done", newest["record"])
    assert (newest["level"], newest["detail"]) == ("loaded", "3 files read to the last byte")


def test_same_result_sent_again_is_recorded_once(scene: Scene) -> None:
    digest = scene.save(scene.run(), "600")
    scene.ask(digest)
    work = claimed(scene)
    result = result_of(work)
    first = complete(scene.worker, work, result).json()
    size = log_size(scene.recorder)
    assert complete(scene.worker, work, result).json() == first
    assert log_size(scene.recorder) == size


def test_later_failure_takes_the_level_away_and_a_later_success_gives_it_back(scene: Scene) -> None:
    digest = scene.save(scene.run(), "600")
    for outcome, level in (
        (result_of, "loaded"),
        (lambda work: failed(work, None), "written"),
        (result_of, "loaded"),
        (lambda work: result_of(work, loaded="failed"), "checksummed"),
        (lambda work: failed(work, digest_of("truncated")), "written"),
        (lambda work: result_of(work, loaded=None), "checksummed"),
    ):
        scene.ask(digest)
        work = claimed(scene)
        answer = complete(scene.worker, work, outcome(work))
        assert answer.status_code == 200, answer.text
        assert scene.shown(digest)["effective_level"] == level


def test_result_that_is_not_about_what_was_asked_is_refused(scene: Scene) -> None:
    run = scene.run()
    digest = scene.save(run, "600")
    scene.ask(digest)
    work = claimed(scene)
    size = log_size(scene.recorder)
    passed, loaded = result_of(work)["outcomes"]
    other = digest_of("other")
    for changes, field in (
        ({"checkpoint": other, "manifest": other}, "/result/checkpoint"),
        ({"root": "elsewhere"}, "/result/root"),
        ({"path": "ckpt/700"}, "/result/path"),
        ({"manifest": other}, "checksummed passed exactly when"),
        ({"outcomes": [loaded, passed]}, "begin with the level checksummed"),
        ({"outcomes": [{**passed, "outcome": "failed"}]}, "checksummed passed exactly when"),
        ({"outcomes": [passed, {**loaded, "level": "restore_tested"}]}, "level"),
        ({"outcomes": []}, "outcomes"),
    ):
        assert_refused(complete(scene.worker, work, result_of(work) | changes), 422, "invalid_input", field)
    assert_refused(
        complete(scene.worker, {**work, "lease": "0" * 32}, result_of(work)), 409, "work_lease_lost"
    )
    assert log_size(scene.recorder) == size
    assert scene.shown(digest)["effective_level"] == "written"


def test_checkpoint_that_another_one_was_saved_over_loses_nothing(scene: Scene) -> None:
    run = scene.run()
    first, second = scene.save(run, "600"), scene.save(run, "700")
    scene.ask(first)
    work = claimed(scene)
    assert complete(scene.worker, work, result_of(work)).status_code == 200
    scene.ask(first)
    work = claimed(scene)
    assert_refused(complete(scene.worker, work, failed(work, second)), 409, "conflict", "a place of its own")
    assert scene.shown(first)["effective_level"] == "loaded"
    assert scene.recorder.get(f"/v1/work/{work['id']}").json()["state"] == "failed"


def test_place_is_that_of_the_request_or_the_one_that_was_recorded(scene: Scene) -> None:
    run = scene.run()
    nowhere = scene.save(run, "500", root=None)
    assert_refused(scene.ask(nowhere), 422, "invalid_input", "by `root` and `path`")
    assert_refused(scene.ask(nowhere, root="lake"), 422, "invalid_input", "go together")
    assert_refused(scene.ask(nowhere, root="lake", path="../etc"), 422, "invalid_input", "/path")
    assert_refused(scene.ask(digest_of("never saved")), 404, "not_found")
    assert_refused(scene.ask(digest_of("never saved"), root="lake", path="a"), 404, "not_found")
    assert scene.ask(nowhere, root="lake", path="moved/500").status_code == 202
    assert claimed(scene)["request"]["path"] == "moved/500"
    assert scene.ask(scene.save(run, "600", root="shelf"), root="lake", path="a").status_code == 202
    assert claimed(scene)["request"]["path"] == "a"


def test_same_key_asks_once_and_others_may_not_ask(scene: Scene) -> None:
    digest = scene.save(scene.run(), "600")
    first, second = scene.ask(digest, "k").json(), scene.ask(digest, "k").json()
    assert first["id"] == second["id"]
    refused = post(scene.worker, f"/v1/checkpoints/{digest}/verifications:request", {})
    assert_refused(refused, 403, "role_missing")
    stranger = scene.service.client("recorder", namespace="elsewhere")
    unknown = post(stranger, f"/v1/checkpoints/{digest}/verifications:request", {})
    assert_refused(unknown, 404, "not_found")


def test_checkpoint_of_a_live_run_is_verified_without_being_asked_for(either_scene: Scene) -> None:
    scene = either_scene
    run = scene.run()
    scene.save(run, "100")
    assert scene.claim("lake") is None, "no worker had read the root when it was saved"
    digest = scene.save(run, "200")
    work = claimed(scene)
    assert (work["request"]["checkpoint"], work["request"]["asked"]) == (digest, False)
    assert complete(scene.worker, work, result_of(work)).status_code == 200
    assert scene.shown(digest)["effective_level"] == "loaded"
    assert scene.claim("lake") is None
    scene.save(run, "300", root="shelf")
    scene.save(run, "400", root=None)
    assert scene.claim("lake", "shelf") is None, "nobody read that root"


def test_checkpoint_of_a_run_that_has_ended_waits_to_be_asked_for(scene: Scene) -> None:
    run = scene.run()
    assert scene.claim("lake") is None
    ended = make_event(state="completed", at="2026-05-01T12:00:00Z")
    assert post(scene.recorder, f"/v1/runs/{run}/events", ended).status_code == 201
    scene.save(run, "600")
    assert scene.claim("lake") is None


def test_root_whose_worker_is_gone_gathers_no_work(scene: Scene) -> None:
    run = scene.run()
    assert scene.claim("lake") is None
    with scene.service.services.database.connection() as connection:
        long_ago = datetime.now(UTC) - timedelta(days=2)
        connection.execute(update(WorkerRoot).where(col(WorkerRoot.root) == "lake").values(seen_at=long_ago))
    scene.save(run, "600")
    assert scene.claim("lake") is None
    assert scene.save(run, "700") == claimed(scene)["request"]["checkpoint"], "one came back"


def test_worker_that_falls_behind_looks_at_the_newest_checkpoint_of_each_run(scene: Scene) -> None:
    run, other = scene.run(), scene.run()
    assert scene.claim("lake") is None
    for name in ("100", "200", "300"):
        scene.save(run, name)
    scene.save(other, "other")
    asked = scene.ask(digest_of("100")).json()["id"]
    work = [claimed(scene) for _ in range(3)]
    assert [each["request"]["checkpoint"] for each in work] == [
        digest_of("300"),
        digest_of("other"),
        digest_of("100"),
    ]
    assert work[2]["id"] == asked
    assert scene.claim("lake") is None


def test_checkpoint_that_was_rotated_away_before_anybody_looked_loses_nothing(scene: Scene) -> None:
    run = scene.run()
    assert scene.claim("lake") is None
    digest = scene.save(run, "600", level="checksummed")
    work = claimed(scene)
    assert_refused(complete(scene.worker, work, failed(work, None)), 409, "conflict", "gone")
    assert scene.shown(digest)["effective_level"] == "checksummed"


def test_worker_that_can_not_look_leaves_the_level_as_it_was(scene: Scene) -> None:
    digest = scene.save(scene.run(), "600", level="checksummed")
    scene.ask(digest)
    work = claimed(scene)
    size = log_size(scene.recorder)
    assert give_up(scene.worker, work, retry=False).status_code == 200
    assert (log_size(scene.recorder), scene.shown(digest)["effective_level"]) == (size, "checksummed")
