"""An import from a real `mlflow server` that MLflow's own client filled: more than a page of runs and of points, killed
in the middle, and begun again."""

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.live.mlflow.conftest import PLAIN
from tests.live.mlflow.servers import ENVIRONMENT, clean_environment, start_mlflow
from tests.support.databases import DatabaseUrls
from tests.support.service import RunningService, running_service

FILLING: Final = Path(__file__).with_name("fill_tracking.py")
COMMAND: Final = Path(sys.executable).with_name("shipworthy")
SHORT_RUNS: Final = 105
"""More than a page of runs."""
POINTS: Final = 12_000
"""More than a page of one metric's points."""
FILL_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class Filled:
    """MLflow's address and its ids of the runs night, fold, hanging, killed and gone; `long` has many points."""

    url: str
    ids: dict[str, str]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of this module's own: those of the guard's tests have other things in them."""
    folder = tmp_path_factory.mktemp("importing") / "mlflow"
    server = start_mlflow(PLAIN, folder, f"sqlite:///{folder / 'mlflow.sqlite3'}")
    try:
        server.wait()
        yield server.url
    finally:
        server.stop()


@pytest.fixture(scope="module")
def filled(plain: str, tmp_path_factory: pytest.TempPathFactory) -> Filled:
    folder = tmp_path_factory.mktemp("filled")
    done = subprocess.run(
        [ENVIRONMENT / "bin" / "python", FILLING, plain, folder],
        env=clean_environment(),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=FILL_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ids = json.loads(done.stdout.splitlines()[-1])
    with httpx.Client(base_url=f"{plain}/api/2.0/mlflow", timeout=60) as client:
        experiment = _post(client, "experiments/create", name="short")["experiment_id"]
        for number in range(SHORT_RUNS):
            _post(client, "runs/create", experiment_id=experiment, start_time=1_700_000_000_000 + number)
        long = _post(client, "runs/create", experiment_id=experiment, start_time=1_700_000_999_000)
        ids["long"] = long["run"]["info"]["run_id"]
        for start in range(0, POINTS, 1000):
            points = [
                {"key": "loss", "value": 1 / (step + 1), "timestamp": 1_700_000_999_000 + step, "step": step}
                for step in range(start, start + 1000)
            ]
            _post(client, "runs/log-batch", run_id=ids["long"], metrics=points)
        _post(client, "runs/update", run_id=ids["long"], status="FINISHED", end_time=1_700_001_999_000)
    return Filled(plain, ids)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("importing")
    url = f"sqlite:///{folder / 'shipworthy.sqlite3'}"
    with running_service(DatabaseUrls("sqlite", url, url), folder / "data") as running:
        yield running


def environment(
    service: RunningService, filled: Filled, namespace: str
) -> tuple[dict[str, str], httpx.Client]:
    client = service.client("recorder", namespace=namespace)
    token = client.headers["authorization"].removeprefix("Bearer ")
    named = {"SHIPWORTHY_URL": service.url, "SHIPWORTHY_TOKEN": token, "MLFLOW_TRACKING_URI": filled.url}
    return clean_environment() | named, client


def imported(environ: dict[str, str], *arguments: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [COMMAND, "import", "mlflow", "--json", *arguments],
        env=environ,
        capture_output=True,
        text=True,
        timeout=FILL_SECONDS,
        check=False,
    )
    # Version 4 lies in an object store that nobody here can read.
    assert (done.returncode, done.stderr) == (1, ""), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def view(client: httpx.Client) -> dict[str, Any]:
    """Runs with their states and kinds of records, and what versions are bound to."""
    runs, after = [], None
    while True:
        answer = client.get("/v1/runs", params={"limit": 200} | ({"after": after} if after else {})).json()
        runs += answer["items"]
        after = answer.get("next")
        if after is None:
            break
    versions = client.get("/v1/models/fraud/versions").json()["items"]
    kept = {}
    for run in runs:
        records = client.get(f"/v1/runs/{run['run_id']}/records", params={"limit": 200}).json()["items"]
        kept[run["run_id"]] = (run["state"], sorted(each["kind"] for each in records))
    return {"runs": kept, "versions": {each["version"]: each["artifact"] for each in versions}}


def test_an_import_that_is_killed_goes_on_and_ends_as_one_that_was_not(
    service: RunningService, filled: Filled
) -> None:
    environ, whole = environment(service, filled, "whole")
    found = imported(environ)
    runs = [each for each in found if each["kind"] == "run"]
    assert len(runs) >= SHORT_RUNS + 6
    expected = view(whole)

    environ, client = environment(service, filled, "killed")
    for lines in (1, SHORT_RUNS // 2, SHORT_RUNS):
        with subprocess.Popen(
            [COMMAND, "import", "mlflow", "--json"],
            env=environ | {"PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            assert process.stdout is not None
            for _ in range(lines):
                assert process.stdout.readline()
            os.killpg(process.pid, signal.SIGKILL)
    imported(environ)
    assert view(client) == expected
    assert [each for each in imported(environ) if each["new"]] == []


def test_every_point_of_a_long_history_is_kept(service: RunningService, filled: Filled) -> None:
    environ, client = environment(service, filled, "long")
    done = subprocess.run(
        [COMMAND, "import", "mlflow", "--run", filled.ids["long"], "--json"],
        env=environ, capture_output=True, text=True, timeout=FILL_SECONDS, check=True,
    )  # fmt: skip
    run_id = json.loads(done.stdout)["run_id"]
    steps: list[int] = []
    for item in client.get(f"/v1/runs/{run_id}/records", params={"limit": 200}).json()["items"]:
        body = client.get(f"/v1/records/{item['record']}").json()["body"]
        if body.get("text") == "log lines":
            lines = gzip.decompress(client.get(f"/v1/blobs/{body['blob']}").content).splitlines()
            steps += [json.loads(line)["log"]["step"] for line in lines]
    assert steps == list(range(POINTS))


def test_versions_have_the_digest_of_the_files_that_were_logged(
    service: RunningService, filled: Filled, tmp_path: Path
) -> None:
    environ, client = environment(service, filled, "model")
    found = {each["mlflow"]: each for each in imported(environ, "--model", "fraud")}
    files = tmp_path / "plain"
    (files / "nested").mkdir(parents=True)
    (files / "weights.bin").write_bytes(b"weights" * 1000)
    (files / "nested" / "a b.json").write_text("{}")
    done = subprocess.run(
        [COMMAND, "snapshot", "--no-record", files], capture_output=True, text=True, timeout=60, check=True
    )
    assert found["fraud:2"]["artifact"] == done.stdout.strip()
    assert found["fraud:5"]["remarks"] != []
    observed = client.get("/v1/promotions").json()["items"]
    assert {(each["target"], each["version"]) for each in observed} == {
        ("Production", "1"), ("champion", "2"), ("shadow", "4"),
    }  # fmt: skip


def _post(client: httpx.Client, path: str, **body: object) -> Any:
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()
