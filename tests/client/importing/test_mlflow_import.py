"""An import from what a real MLflow server answered, as the service has it afterwards."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import JsonValue, canonicalize
from shipworthy.importing.mlflow.importer import Importer
from shipworthy.importing.mlflow.outcomes import Imported
from shipworthy.importing.mlflow.reading import Reading
from shipworthy.query.client import ShipworthyClient
from shipworthy.registries.mlflow_server import MlflowAway, MlflowServer
from tests.support.databases import sqlite_copy
from tests.support.mlflow_answers import IDS, RecordedMlflow, recorded_mlflow
from tests.support.service import RunningService, running_service

WEIGHTS = b"weights" * 1000


@pytest.fixture(scope="module")
def service(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """One for the module: each test has a namespace of its own."""
    folder = tmp_path_factory.mktemp("service")
    urls = sqlite_copy(sqlite_template, folder / "shipworthy.sqlite3")
    with running_service(urls, folder / "data") as running:
        yield running


@pytest.fixture
def mlflow() -> Iterator[RecordedMlflow]:
    with recorded_mlflow() as running:
        yield running


class Silent:
    """Counts the bytes that were read."""

    def __init__(self) -> None:
        self.read = 0

    def begin(self, name: str, total: int | None) -> None:
        return None

    def advance(self, count: int) -> None:
        self.read += count


class Scene:
    """Imports into a namespace of its own. `pauses` are how long an import would have waited for a server."""

    def __init__(self, service: RunningService, mlflow: RecordedMlflow, namespace: str) -> None:
        self.http = service.client("recorder", namespace=namespace)
        self.token = self.http.headers["authorization"].removeprefix("Bearer ")
        self.service, self.mlflow = service, mlflow
        self.watch = Silent()
        self.pauses: list[float] = []

    def run(self, *models: str, runs: tuple[str, ...] = (), history: bool = True) -> list[Imported]:
        with (
            ShipworthyClient(self.service.url, self.token) as client,
            MlflowServer(self.mlflow.url) as server,
        ):
            importer = Importer(
                Reading(server, self.pauses.append), client, "default", self.watch, history=history
            )
            if models or runs:
                return [*importer.runs(runs), *importer.models(models)]
            return list(importer.everything())

    def get(self, path: str) -> Any:
        answer = self.http.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def version(self, number: str) -> Any:
        return self.get(f"/v1/models/fraud/versions/{number}")

    def everything(self) -> dict[str, Any]:
        """What every import must end with: each run's records, versions, and what names were observed to hold."""
        runs = self.get("/v1/runs")["items"]
        kept = {}
        for run in runs:
            detail = self.get(f"/v1/runs/{run['run_id']}")
            records = self.get(f"/v1/runs/{run['run_id']}/records?limit=200")["items"]
            kept[run["run_id"]] = {
                "state": run["state"],
                "ingredients": detail["ingredients"],
                "inputs": detail["inputs"],
                "kinds": sorted(each["kind"] for each in records),
                "artifacts": sorted(each["digest"] for each in detail["artifacts"]),
            }
        versions = self.get("/v1/models/fraud/versions")["items"]
        held = self.get("/v1/promotions")["items"]
        return {
            "runs": kept,
            "versions": {each["version"]: (each["artifact"], each["run_id"]) for each in versions},
            "held": sorted((each["model"], each["target"], str(each["version"])) for each in held),
        }


@pytest.fixture
def scene(service: RunningService, mlflow: RecordedMlflow, request: pytest.FixtureRequest) -> Scene:
    return Scene(service, mlflow, request.node.name.replace("_", "-")[:60])


def manifest(**files: bytes) -> str:
    """As `run.artifact(path)` names a folder of these files, or a file of this name."""
    rows: list[JsonValue] = [
        {"path": path, "sha256": sha256_digest(data)[7:], "size": len(data)}
        for path, data in sorted(files.items())
    ]
    return sha256_digest(canonicalize(rows))


def by_name(imported: list[Imported]) -> dict[str, Imported]:
    return {each.mlflow: each for each in imported}


def test_versions_are_bound_to_the_digest_of_what_lies_behind_them(scene: Scene) -> None:
    scene.run()
    folder = manifest(**{"nested/a b.json": b"{}", "weights.bin": WEIGHTS})
    assert scene.version("2")["artifact"] == folder
    # A file has the digest that its run would have recorded, with its own name.
    assert scene.version("3")["artifact"] == manifest(**{"weights.bin": WEIGHTS})
    lineage = scene.get("/v1/models/fraud/versions/2/lineage")
    parts = {each["part"]: each["status"] for each in lineage["completeness"]}
    assert (parts["artifact"], parts["data.train"], parts["environment"]) == ("resolved", "weak", "resolved")
    assert lineage["evaluations"][0]["metrics"] == {"train_loss": 0.2, "val_auc": 0.91}


def test_a_version_that_names_a_run_which_did_not_make_it_is_not_that_runs(scene: Scene) -> None:
    found = by_name(scene.run())["fraud:5"]
    assert found.remarks == (
        "its artifact lies outside what its run wrote: it is not recorded as that run's",
    )
    parts = {
        each["part"]: each["reason"]
        for each in scene.get("/v1/models/fraud/versions/5/lineage")["completeness"]
    }
    assert parts["artifact"] == "the run did not record this artifact as its own"


def test_what_nobody_can_read_is_no_version_and_its_alias_is_observed_without_digest(scene: Scene) -> None:
    found = by_name(scene.run())
    assert "s3://elsewhere/model" in found["fraud:4"].refused[0]
    assert found["fraud@shadow"].new == 1
    observed = {each["target"]: each for each in scene.get("/v1/promotions")["items"]}
    assert (observed["shadow"]["version"], observed["shadow"]["artifact"]) == ("4", None)
    assert observed["champion"]["artifact"] == scene.version("2")["artifact"]
    assert observed["Production"]["version"] == "1"


def test_a_nested_run_names_its_parent(scene: Scene) -> None:
    found = by_name(scene.run())
    child = scene.get(f"/v1/runs/{found[IDS['fold']].run_id}")
    assert child["identity"]["parent_run_id"] == found[IDS["night"]].run_id


def test_history_is_kept_as_log_lines_of_the_run(scene: Scene) -> None:
    (found,) = scene.run(runs=(IDS["night"],))
    records = scene.get(f"/v1/runs/{found.run_id}/records?limit=200")["items"]
    bodies = [
        scene.get(f"/v1/records/{each['record']}")["body"] for each in records if each["kind"] == "run.event"
    ]
    (blob,) = [each["blob"] for each in bodies if each.get("text") == "log lines"]
    lines = scene.http.get(f"/v1/blobs/{blob}").content
    logged = [json.loads(line)["log"] for line in gzip.decompress(lines).splitlines()]
    losses = [
        (each["step"], each["values"]["train_loss"]) for each in logged if "train_loss" in each["values"]
    ]
    assert losses == [(0, 1.0), (1, 0.5), (2, 1 / 3), (3, 0.25), (4, 0.2)]
    assert {"diverged": "Infinity"} in [each["values"] for each in logged]


def test_again_records_nothing_and_reads_neither_histories_nor_what_no_name_holds(scene: Scene) -> None:
    scene.run()
    before = scene.everything()
    asked, read = len(scene.mlflow.asked), scene.watch.read
    again = scene.run()
    assert [each for each in again if each.new] == []
    assert scene.everything() == before
    # The run without an end may have gone on; those that are whole are not asked for their metrics.
    assert not any("get-history" in each for each in scene.mlflow.asked[asked:])
    # Versions 1 and 2 have names, so what lies there now is hashed; 3 and 5 are not read again.
    assert scene.watch.read - read < read


def test_histories_that_were_left_out_come_with_the_run_that_is_named(scene: Scene) -> None:
    scene.run(history=False)
    assert not any("get-history" in each for each in scene.mlflow.asked)
    assert by_name(scene.run(runs=(IDS["night"],)))[IDS["night"]].new == 1


def test_an_import_that_ends_at_any_request_is_finished_by_the_next(
    service: RunningService, mlflow: RecordedMlflow
) -> None:
    whole = Scene(service, mlflow, "whole")
    whole.run()
    requests = len(mlflow.asked)
    expected = whole.everything()
    for cut in range(4, requests, 37):
        scene = Scene(service, mlflow, f"cut-{cut}")
        mlflow.asked.clear()
        mlflow.away_from = cut
        with pytest.raises(MlflowAway):
            scene.run()
        assert scene.pauses == [0.5, 2.0, 8.0]
        mlflow.away_from = None
        scene.run()
        assert scene.everything() == expected, f"cut at request {cut}: {mlflow.asked[cut - 1]}"


def test_a_run_that_changed_meanwhile_keeps_what_was_recorded_first(scene: Scene) -> None:
    scene.run(runs=(IDS["night"],))
    scene.mlflow.changes = {'"value": "risk"': '"value": "growth"', '"value": 0.91': '"value": 0.93'}
    (again,) = scene.run(runs=(IDS["night"],))
    assert any("tags.owner team" in each for each in again.remarks)
    assert again.refused == ()
    tags = scene.get(f"/v1/runs/{again.run_id}")["tags"]
    assert tags["owner team"] == "risk"
    found = scene.get(f"/v1/runs/{again.run_id}/evaluations")["items"]
    assert sorted(each["metrics"]["val_auc"] for each in found if "val_auc" in each["metrics"]) == [
        0.91,
        0.93,
    ]


def test_a_swapped_artifact_is_told_and_observed_and_the_record_stays(scene: Scene) -> None:
    scene.run("fraud")
    recorded = scene.version("2")["artifact"]
    scene.mlflow.changes = {"weightsweights": "weightyweighty"}
    found = by_name(scene.run("fraud"))
    assert "is not the one that was recorded" in found["fraud:2"].remarks[0]
    assert scene.version("2")["artifact"] == recorded
    champion = [each for each in scene.get("/v1/promotions")["items"] if each["target"] == "champion"]
    assert champion[0]["artifact"] == found["fraud:2"].artifact != recorded


def test_a_recorded_version_that_can_no_longer_be_read_is_told_and_stays(scene: Scene) -> None:
    scene.run("fraud")
    recorded = scene.version("2")["artifact"]
    scene.mlflow.changes = {'"weights.bin"': '"moved.bin"'}
    found = by_name(scene.run("fraud"))
    assert "can't be read now" in found["fraud:2"].remarks[0]
    assert (found["fraud:2"].known, found["fraud:2"].artifact) == (1, None)
    assert scene.version("2")["artifact"] == recorded
