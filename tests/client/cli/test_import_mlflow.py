"""`shipworthy import mlflow` as a user sees it, from what a real MLflow server answered."""

import base64
import json
from collections.abc import Iterator

import httpx
import pytest

from tests.client.cli.conftest import Shipworthy
from tests.support.mlflow_answers import IDS, RecordedMlflow, recorded_mlflow
from tests.support.weather import closed_port


@pytest.fixture
def mlflow(monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordedMlflow]:
    for name in ("MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with recorded_mlflow() as running:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", running.url)
        yield running


def test_import_of_everything_tells_what_is_odd_and_what_is_not_recorded(
    sqlite_recorder: httpx.Client, shipworthy: Shipworthy, mlflow: RecordedMlflow
) -> None:
    done = shipworthy("import", "mlflow")
    assert (done.code, done.err) == (1, "")
    assert "mlflow/fraud/train  completed" in done.out
    assert "probably cut: parameter note, tag long" in done.out
    assert "✗ fraud:4\n  not recorded, because its artifact at s3://elsewhere/model" in done.out
    assert "✓ fraud@champion → 2  sha256:" in done.out
    assert done.out.endswith("5 runs (5 new), 5 versions (4 new), 4 aliases (4 new); 1 not recorded\n")
    again = shipworthy("import", "mlflow", "--tracking-uri", mlflow.url)
    assert "completed" not in again.out
    assert again.out.endswith("5 runs (0 new), 5 versions (0 new), 4 aliases (0 new); 1 not recorded\n")
    assert sqlite_recorder.get("/v1/models/fraud/versions/2").json()["registry"] == "default"


def test_some_runs_and_models_as_json_lines_under_a_registry_of_their_own(
    sqlite_recorder: httpx.Client, shipworthy: Shipworthy, mlflow: RecordedMlflow
) -> None:
    chosen = ("--run", IDS["gone"], "--model", "fraud", "--registry", "eu", "--json")
    done = shipworthy("import", "mlflow", *chosen)
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [each["mlflow"] for each in found if each["kind"] == "run"] == [IDS["gone"], IDS["night"]]
    assert [each["mlflow"] for each in found if each["kind"] == "version" and not each["refused"]] == [
        "fraud:1", "fraud:2", "fraud:3", "fraud:5",
    ]  # fmt: skip
    versions = sqlite_recorder.get("/v1/models/fraud/versions", params={"registry": "eu"}).json()["items"]
    assert len(versions) == 4


def test_credentials_are_those_of_mlflows_own_client(
    sqlite_recorder: httpx.Client,
    shipworthy: Shipworthy,
    mlflow: RecordedMlflow,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mlflow.credentials = "Basic " + base64.b64encode(b"ada:correct horse").decode()
    refused = shipworthy("import", "mlflow", "--run", IDS["gone"])
    assert refused.code == 6
    assert "MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD" in refused.err
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "ada")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "correct horse")
    assert shipworthy("import", "mlflow", "--run", IDS["gone"]).code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("--tracking-uri", f"http://127.0.0.1:{closed_port()}"), 5, "can't be reached: Connection refused"),
        (("--tracking-uri", "sqlite:///mlflow.db"), 2, "is no address of an MLflow server"),
        (("--tracking-uri", "http://ada:secret@localhost:5000"), 2, "MLFLOW_TRACKING_USERNAME"),
        (("--run", "nope"), 1, "Run with id=nope not found"),
        (("--model", "nope"), 1, "Registered Model with name=nope not found"),
    ],
)
def test_what_cannot_be_imported_is_one_sentence(
    sqlite_recorder: httpx.Client,
    shipworthy: Shipworthy,
    mlflow: RecordedMlflow,
    arguments: tuple[str, ...],
    code: int,
    sentence: str,
) -> None:
    done = shipworthy("import", "mlflow", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1)
    assert sentence in done.err
    assert "doctor" not in done.err


def test_another_server_is_not_taken_for_mlflow(
    sqlite_recorder: httpx.Client, shipworthy: Shipworthy, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = shipworthy("import", "mlflow", "--tracking-uri", str(sqlite_recorder.base_url))
    assert done.code == 5
    assert "answers 404, but not as an MLflow server does; check --tracking-uri" in done.err
