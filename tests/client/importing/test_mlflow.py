"""What a real MLflow server says of its runs, as facts: without a service."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from shipworthy.importing.mlflow.answers import Metric, MlflowRun, metric_of, run_of
from shipworthy.importing.mlflow.metrics import CHUNK_BYTES, chunks_of
from shipworthy.importing.mlflow.runs import RunLines, imported_id, lines_of
from tests.support.mlflow_answers import ANSWERS, IDS


@pytest.fixture(scope="module")
def runs() -> dict[str, MlflowRun]:
    found = {}
    for known in json.loads(ANSWERS.read_text(encoding="utf-8"))["answers"]:
        if known["path"].endswith("/runs/search"):
            for run in map(run_of, json.loads(known["text"])["runs"]):
                found[run.id] = run
        elif known["path"].endswith("/runs/get") and known["status"] == 200:
            run = run_of(json.loads(known["text"])["run"])
            found[run.id] = run
    return {name: found[run_id] for name, run_id in IDS.items()}


@pytest.fixture(scope="module")
def night(runs: dict[str, MlflowRun]) -> MlflowRun:
    return runs["night"]


def lines(run: MlflowRun) -> RunLines:
    return lines_of(run, "fraud/train", "default")


def bodies(run: MlflowRun, kind: str) -> list[Any]:
    made = lines(run)
    return [each["body"] for each in (*made.first, *made.last) if each["kind"] == kind]


def registration(run: MlflowRun) -> Any:
    return bodies(run, "run.registered")[0]


def test_parameters_are_the_config_with_secrets_masked_and_the_seed_named(night: MlflowRun) -> None:
    body = registration(night)
    values = body["config"]["values"]
    assert (values["learning_rate"], values["seed"], values["db_password"]) == ("0.1", "7", "***")
    assert (body["config"]["seed_keys"], body["config"]["redacted"]) == (["/seed"], ["/db_password"])
    assert body["seeds"]["values"] == {"config/seed": 7}
    assert "hunter2" not in json.dumps(lines(night).first)


def test_what_mlflow_cut_is_marked_in_the_record_and_told(night: MlflowRun) -> None:
    assert len(registration(night)["config"]["values"]["note"]) == 6000
    assert registration(night)["tags"]["shipworthy.mlflow_cut"] == "parameter note, tag long"
    assert any("probably cut: parameter note, tag long" in each for each in lines(night).remarks)
    (note,) = [each for each in bodies(night, "run.event") if each["type"] == "note"]
    assert "parameter note" in note["text"]


def test_commit_user_and_image_come_from_tags(night: MlflowRun) -> None:
    body = registration(night)
    assert body["code"] == {
        "commit": "0f0e0d0c0b0a09080706050403020100ffeeddcc",
        "dirty": None,
        "reason": "MLflow does not say whether there were uncommitted changes",
        "repository": "https://***@git.example.org/fraud.git",
        "path": "train.py",
    }
    assert body["environment"]["image"] == {
        "name": "registry.example.org/train",
        "tag": "24.04",
        "digest": f"sha256:{'ab' * 32}",
    }
    # The person stands only where it can be erased.
    assert body["initiated_by"] == "ada@example.org"
    assert "ada" not in json.dumps(body["tags"]) + json.dumps(body["code"])


def test_data_is_graded_sampled_under_mlflows_digest(night: MlflowRun) -> None:
    train, held_out = registration(night)["inputs"]
    assert (train["role"], held_out["role"]) == ("train", "validation")
    assert train["snapshot"]["dataset"] == {"namespace": "mlflow", "name": "payments"}
    assert (train["snapshot"]["grade"], train["snapshot"]["version"]["kind"]) == ("sampled", "mlflow")
    assert len(train["snapshot"]["version"]["value"]) == 8
    assert (train["snapshot"]["uri"], train["snapshot"]["row_count"]) == ("s3://bucket/train/v42.parquet", 3)


def test_data_without_a_name_is_named_by_its_address(night: MlflowRun) -> None:
    unnamed = replace(night, datasets=(replace(night.datasets[0], name="dataset", context=None),))
    (given,) = registration(unnamed)["inputs"]
    assert given["role"] == "input"
    assert given["snapshot"]["dataset"] == {"namespace": "s3://bucket", "name": "train/v42.parquet"}


def test_more_data_than_a_record_holds_is_added_by_further_registrations(night: MlflowRun) -> None:
    many = [replace(night.datasets[0], name=f"part-{number}") for number in range(60)]
    parts = bodies(replace(night, datasets=tuple(many)), "run.registered")
    assert [len(each["inputs"]) for each in parts] == [25, 25, 10]
    assert all(each["run_id"] == parts[0]["run_id"] and each["job"] == parts[0]["job"] for each in parts)


def test_latest_values_are_evaluations_by_step_without_what_the_machine_did(night: MlflowRun) -> None:
    found = {each["step"]: each["metrics"] for each in bodies(night, "evaluation.completed")}
    assert found == {2: {"calibration": 0.02}, 4: {"train_loss": 0.2, "val_auc": 0.91}}


def test_infinity_and_nan_are_told_and_no_evaluation(night: MlflowRun) -> None:
    values = {each.key: each.value for each in night.metrics}
    assert values["diverged"] == math.inf
    assert math.isnan(values["undefined"])
    assert any("diverged is Infinity, undefined is NaN" in each for each in lines(night).remarks)
    assert metric_of({"key": "a", "value": -1.7976931348623157e308}).value == -math.inf
    assert metric_of({"key": "a", "value": 1.7e308}).value == 1.7e308


@pytest.mark.parametrize(
    ("name", "state", "last"),
    [
        ("night", "completed", ["completed"]),
        ("killed", "aborted", ["aborted"]),
        ("hanging", "unknown", []),
    ],
)
def test_how_it_ended_is_said_last_and_never_guessed(
    runs: dict[str, MlflowRun], name: str, state: str, last: list[str]
) -> None:
    made = lines(runs[name])
    ends: list[Any] = [each["body"] for each in made.last]
    assert (made.state, [each["state"] for each in ends]) == (state, last)
    assert registration(runs[name])["heartbeat"] == {"expected": False}


def test_a_deleted_run_is_marked_so(runs: dict[str, MlflowRun]) -> None:
    assert registration(runs["gone"])["tags"]["shipworthy.mlflow_lifecycle"] == "deleted"


def test_id_is_that_of_the_run_in_its_registry_whatever_the_address(night: MlflowRun) -> None:
    ids = [imported_id(registry, night.id, night.started) for registry in ("default", "default", "other")]
    assert ids[0] == ids[1] != ids[2]
    assert all(each[14] == "7" and each[19] in "89ab" for each in ids)
    assert int(ids[0].replace("-", "")[:12], 16) == night.started


def test_times_that_are_none_are_still_recorded(night: MlflowRun) -> None:
    """Programs log nanoseconds as milliseconds."""
    odd = replace(night, metrics=(Metric("loss", 0.5, 1_796_004_776_760_000_000, -3),))
    (found,) = bodies(odd, "evaluation.completed")
    assert (found["completed_at"][:4], "step" in found) == ("9999", False)


def test_tags_beyond_the_room_of_a_record_are_counted(night: MlflowRun) -> None:
    many = replace(night, tags={f"tag-{number}": "z" * 7000 for number in range(20)})
    kept = [each for each in registration(many)["tags"] if each.startswith("tag-")]
    assert 0 < len(kept) < 20
    assert any(f"{20 - len(kept)} of the longest tags" in each for each in lines(many).remarks)


def test_history_is_cut_into_chunks_of_bounded_size_with_keys_of_their_own() -> None:
    points = (Metric("loss", 1 / (step + 1), 1_700_000_000_000 + step, step) for step in range(40_000))
    chunks = list(chunks_of(points))
    assert [each.number for each in chunks] == [0, 1, 2, 3]
    assert len({each.key for each in chunks}) == 4
    assert all(len(each.data) < CHUNK_BYTES for each in chunks)
    again = list(
        chunks_of(Metric("loss", 1 / (step + 1), 1_700_000_000_000 + step, step) for step in range(40_000))
    )
    assert [each.key for each in again] == [each.key for each in chunks]
