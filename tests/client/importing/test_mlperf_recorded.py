"""The same logs as the service sees them, on both databases."""

import json
from typing import Any

import httpx
import pytest

from shipworthy.importing.mlperf import ImportedRun, Stated, import_log
from tests.client.importing.test_mlperf import ABORTED, LORA, WITHOUT_END, log
from tests.support.service import RunningService

PUBLISHED = Stated(
    repository="https://github.com/mlcommons/training_results_v4.0",
    commit="62f111b7690f163b269f32e4f93dcaaa13717c9c",
    release="v4.0",
)


@pytest.fixture
def client(service: RunningService) -> httpx.Client:
    return service.client("recorder", "reader")


def send(client: httpx.Client, run: ImportedRun) -> list[int]:
    body = "\n".join(json.dumps(line) for line in run.lines)
    answer = client.post("/v1/records:batch", content=body)
    assert answer.status_code == 200, answer.text
    items = answer.json()["items"]
    assert all(item["status"] in (200, 201) for item in items), items
    return [item["status"] for item in items]


def view(client: httpx.Client, run: ImportedRun) -> dict[str, Any]:
    return dict(client.get(f"/v1/runs/{run.run_id}").json())


def test_three_seeds_of_one_configuration_are_one_family(client: httpx.Client) -> None:
    views = []
    for number in range(3):
        run = import_log(log(LORA.format(number)), None, PUBLISHED)
        assert set(send(client, run)) == {201}
        views.append(view(client, run))
    assert len({each["family_digest"] for each in views}) == 1
    assert views[0]["family_digest"] is not None
    assert len({each["recipe_digest"] for each in views}) == 3
    listed = client.get("/v1/runs", params={"family_digest": views[0]["family_digest"]}).json()["items"]
    assert len(listed) == 3


def test_second_import_records_nothing(client: httpx.Client) -> None:
    run = import_log(log(LORA.format(0)), None, PUBLISHED)
    send(client, run)
    again = import_log(log(LORA.format(0)), None, PUBLISHED)
    assert set(send(client, again)) == {200}
    evaluations = client.get(f"/v1/runs/{run.run_id}/evaluations").json()["items"]
    assert len(evaluations) == 5


def test_states_are_aborted_and_unknown(client: httpx.Client) -> None:
    aborted, endless = import_log(log(ABORTED)), import_log(log(WITHOUT_END))
    send(client, aborted)
    send(client, endless)
    assert (view(client, aborted)["state"], view(client, endless)["state"]) == ("aborted", "unknown")


def test_evaluation_of_a_run_without_subject_is_in_its_lineage(client: httpx.Client) -> None:
    run = import_log(log(LORA.format(1)), None, PUBLISHED)
    send(client, run)
    lineage = client.get(f"/v1/runs/{run.run_id}/lineage").json()
    assert [each["step"] for each in lineage["evaluations"]] == [384, 336, 288, 240, 192]
    measured_on = {each["dataset"] for each in lineage["evaluations"]}
    read = {each["digest"] for each in lineage["edges"] if each["role"] == "validation"}
    assert measured_on == read


def test_evaluation_of_nothing_is_refused_with_the_mend(client: httpx.Client) -> None:
    answer = client.post("/v1/evaluations", json={"metrics": {"loss": 1.0}})
    assert answer.status_code == 422
    assert "`run_id`, the run it was part of" in answer.json()["detail"]
