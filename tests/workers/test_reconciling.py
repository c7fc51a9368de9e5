"""The reconciler between a registry and the real service: what it tells, and what it gets over."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from api.workers.lease import Stopping
from api.workers.reconciling import Reconciler
from api.workers.reconciling_registry import registry_name
from api.workers.settings import WorkerSettings
from shipworthy.formats.manifest import ManifestEntry, manifest_digest
from tests.support.bodies import digest_of
from tests.support.gates import MODEL, GateScene, make_policy
from tests.support.mlflow_like import MlflowLike, mlflow_like
from tests.support.service import RunningService

WEIGHTS = b"weights of version 1"


@pytest.fixture
def scene(sqlite_service: RunningService) -> GateScene:
    """A gate stands before the alias champion."""
    scene = GateScene(sqlite_service)
    scene.published(make_policy())
    return scene


@pytest.fixture
def mlflow() -> Iterator[MlflowLike]:
    with mlflow_like() as server:
        server.files["0/1/artifacts/model/weights.bin"] = WEIGHTS
        server.register(MODEL, "1", "mlflow-artifacts:/0/1/artifacts/model", run_id="1")
        server.aliases[MODEL] = {"champion": "1", "of-nobody": "1"}
        yield server


@contextmanager
def reconciling(url: str, scene: GateScene, mlflow: MlflowLike, seconds: int = 1) -> Iterator[Reconciler]:
    """As a worker runs it, with a pause of so many seconds; it must end soon when it is told to."""
    stopping = Stopping(0)
    settings = WorkerSettings(url, {}, mlflow_uri=mlflow.url, reconcile_seconds=seconds)
    token = scene.worker.headers["Authorization"].removeprefix("Bearer ")
    running = Reconciler(settings, token, None, stopping)
    running.start()
    try:
        yield running
    finally:
        stopping.ask()
        running.join(30)
        assert not running.is_alive()


def latest(reader: httpx.Client, wanted: Callable[[Any], bool] = lambda found: True) -> Any:
    """The last reconciliation, once there is one of which the predicate is true."""
    deadline = time.monotonic() + 60
    while True:
        answer = reader.get("/v1/reconciliations:latest")
        if answer.status_code == 200 and wanted(answer.json()):
            return answer.json()
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.05)


def test_what_nobody_decided_is_told_with_its_digest(scene: GateScene, mlflow: MlflowLike) -> None:
    with reconciling(scene.service.url, scene, mlflow):
        found = latest(scene.reader)
    entry = ManifestEntry("weights.bin", len(WEIGHTS), digest_of(WEIGHTS.decode()).removeprefix("sha256:"))
    (finding,) = found["findings"]
    assert (finding["kind"], finding["target"], finding["version"]) == ("undecided", "champion", "1")
    assert finding["artifact"] == manifest_digest([entry])
    assert (found["observed"], found["complete"]) == (1, True)


def test_all_pages_all_stages_and_only_what_is_protected(scene: GateScene, mlflow: MlflowLike) -> None:
    for number in range(5):
        mlflow.register(f"model-{number}", "1", "mlflow-artifacts:/0/1/artifacts/model")
        mlflow.aliases[f"model-{number}"] = {"champion": "1"}
    for version, stage in (("9", "Production"), ("10", "Production"), ("11", "Staging")):
        address = "mlflow-artifacts:/0/1/artifacts/model"
        mlflow.register("staged's model", version, address, stage=stage)
    with reconciling(scene.service.url, scene, mlflow):
        found = latest(scene.reader)
    told = {(each["model"], each["target"], each["version"]) for each in found["findings"]}
    assert told == {
        (MODEL, "champion", "1"),
        *((f"model-{number}", "champion", "1") for number in range(5)),
        # The highest of a stage is what its consumers get.
        ("staged's model", "Production", "10"),
    }


def test_artifact_that_is_overwritten_is_seen_in_the_next_pass(scene: GateScene, mlflow: MlflowLike) -> None:
    with reconciling(scene.service.url, scene, mlflow):
        before = latest(scene.reader)["findings"][0]["artifact"]
        mlflow.files["0/1/artifacts/model/weights.bin"] = b"weights of version X"
        latest(scene.reader, lambda found: found["findings"][0]["artifact"] != before)


def test_what_is_found_for_the_first_time_is_looked_at_again_soon(
    scene: GateScene, mlflow: MlflowLike
) -> None:
    """A promotion under way while the registry is read looks like one that went wrong."""
    with reconciling(scene.service.url, scene, mlflow, seconds=3600):
        assert latest(scene.reader)["findings"]
        del mlflow.aliases[MODEL]["champion"]
        latest(scene.reader, lambda found: not found["findings"])


def test_version_that_can_not_be_read_hides_no_other(scene: GateScene, mlflow: MlflowLike) -> None:
    mlflow.register("a-broken-one", "1", "s3://bucket/model")
    mlflow.aliases["a-broken-one"] = {"champion": "1"}
    mlflow.register("b-without-version", "1", "mlflow-artifacts:/0/1/artifacts/model")
    mlflow.aliases["b-without-version"] = {"champion": "7"}
    mlflow.files["c/weights.bin"] = b"x"
    mlflow.broken = {"c/weights.bin"}
    mlflow.register("c-behind-a-broken-store", "1", "mlflow-artifacts:/c")
    mlflow.aliases["c-behind-a-broken-store"] = {"champion": "1"}
    with reconciling(scene.service.url, scene, mlflow):
        found = latest(scene.reader)
    kinds = [(each["model"], each["kind"]) for each in found["findings"]]
    assert ("a-broken-one", "unreadable") in kinds
    assert ("b-without-version", "unreadable") in kinds
    assert ("c-behind-a-broken-store", "unreadable") in kinds
    assert (MODEL, "undecided") in kinds


def test_name_that_the_service_does_not_take_is_left_out_and_said_so(
    scene: GateScene, mlflow: MlflowLike
) -> None:
    mlflow.aliases[MODEL] |= {"\u0441hampion": "1"}
    with reconciling(scene.service.url, scene, mlflow):
        found = latest(scene.reader)
    assert (found["observed"], found["complete"]) == (1, False)


def test_registry_that_is_away_is_looked_at_when_it_is_back(scene: GateScene, mlflow: MlflowLike) -> None:
    mlflow.down = True
    with reconciling(scene.service.url, scene, mlflow):
        deadline = time.monotonic() + 60
        while len(mlflow.asked) < 4:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert scene.reader.get("/v1/reconciliations:latest").status_code == 404
        mlflow.down = False
        latest(scene.reader)


def test_strange_answers_end_nothing(scene: GateScene, mlflow: MlflowLike) -> None:
    mlflow.strange = True
    with reconciling(scene.service.url, scene, mlflow):
        deadline = time.monotonic() + 60
        while len(mlflow.asked) < 4:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        mlflow.strange = False
        latest(scene.reader)


def test_service_that_is_away_keeps_the_reconciler_waiting(scene: GateScene, mlflow: MlflowLike) -> None:
    with reconciling("http://127.0.0.1:1", scene, mlflow) as running:
        deadline = time.monotonic() + 60
        while mlflow.asked.count("/api/3.0/mlflow/workspaces") < 2:
            assert time.monotonic() < deadline
            assert running.is_alive()
            time.sleep(0.05)


def test_workspaces_are_registries_of_their_own() -> None:
    assert registry_name("eu", "default") == "eu"
    assert registry_name("eu", "team-a") == "eu@team-a"
