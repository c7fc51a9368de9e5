"""Asking a real service, on both databases."""

from collections.abc import Iterator

import httpx
import pytest

from shipworthy.query.client import ShipworthyClient
from shipworthy.query.errors import (
    InvalidRequest,
    KeyRefused,
    NotFound,
    RoleMissing,
    Unreachable,
)
from tests.support.bodies import make_run, make_start, make_version, new_run_id
from tests.support.service import RunningService


def token_of(client: httpx.Client) -> str:
    return client.headers["authorization"].removeprefix("Bearer ")


@pytest.fixture
def recorder(service: RunningService) -> httpx.Client:
    return service.client("recorder")


@pytest.fixture
def client(service: RunningService, recorder: httpx.Client) -> Iterator[ShipworthyClient]:
    with ShipworthyClient(service.url, token_of(recorder)) as asking:
        yield asking


def test_health_tells_database_clock_and_version(client: ShipworthyClient, service: RunningService) -> None:
    health = client.health()
    assert health.database == service.services.database.dialect
    assert health.clock is not None
    assert health.version == "0.1.0"


def test_runs_iterate_over_pages_newest_first(client: ShipworthyClient, recorder: httpx.Client) -> None:
    ids = [new_run_id() for _ in range(5)]
    for run_id in ids:
        recorder.post("/v1/runs", json=make_start(run_id=run_id)).raise_for_status()
    assert [run.run_id for run in client.runs(page=2)] == ids[::-1]
    first = next(client.runs(job_namespace="team-a", job="train", page=1))
    assert (first.run_id, first.job, first.state) == (ids[-1], "team-a/train", "queued")
    assert list(client.runs(job="another")) == []


def test_lineage_of_a_version_is_typed_and_keeps_the_document(
    client: ShipworthyClient, recorder: httpx.Client
) -> None:
    body = make_run(model_versions=[make_version(model="shop/ranker", version="7")])
    recorder.post("/v1/runs", json=body).raise_for_status()
    lineage = client.lineage("shop/ranker", "7")
    assert lineage.model_version is not None
    assert lineage.model_version.run_id == lineage.run.run_id == body["run_id"]
    assert {part.part: part.status for part in lineage.completeness}["data.train"] == "resolved"
    assert lineage.ingredients[lineage.run.ingredients["hardware"]]["nodes"] == 2
    assert lineage.run.inputs[0].dataset == "s3://lake/clicks/train"
    assert lineage.document["schema"] == "shipworthy.lineage/1"
    assert [version.version for version in client.versions("shop/ranker")] == ["7"]
    assert client.run_lineage(body["run_id"]).model_version is None


def test_errors_are_the_classes_of_their_codes(client: ShipworthyClient, service: RunningService) -> None:
    with pytest.raises(NotFound) as missing:
        client.lineage("nothing", "1")
    assert (missing.value.code, bool(missing.value.request_id)) == ("not_found", True)
    with pytest.raises(InvalidRequest) as wrong:
        list(client.runs(state="sleeping"))
    assert wrong.value.problems[0].field == "/query/state"
    with ShipworthyClient(service.url) as nobody, pytest.raises(KeyRefused, match="Authorization"):
        nobody.run(new_run_id())
    reader = ShipworthyClient(service.url, token_of(service.client("reader")))
    with reader, pytest.raises(RoleMissing, match="this key has reader"):
        reader.append(["{}"])


def test_append_answers_line_by_line(client: ShipworthyClient) -> None:
    run_id = new_run_id()
    good = f'{{"kind":"run.registered","body":{{"run_id":"{run_id}","job":{{"namespace":"a","name":"b"}}}}}}'
    first = client.append([good, '{"kind":"poem","body":{}}'])
    assert [(each.line, each.status, each.is_refused) for each in first] == [(1, 201, False), (2, 422, True)]
    assert [each.status for each in client.append([good])] == [200]


def test_nobody_there_is_unreachable() -> None:
    with (
        ShipworthyClient("http://127.0.0.1:9") as client,
        pytest.raises(Unreachable, match="can't be reached"),
    ):
        client.health()
