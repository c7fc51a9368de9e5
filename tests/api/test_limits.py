"""Every length and size limit of every recording call: at the limit it is stored whole, beyond it it is refused."""

from typing import Any

import httpx
import pytest

from api.schemas.runs import NESTED
from tests.support.attempts import make_attempt, make_evidence
from tests.support.bodies import (
    Body,
    digest_of,
    make_artifact,
    make_checkpoint,
    make_evaluation,
    make_event,
    make_snapshot,
    make_start,
    make_verification,
    make_version,
    new_run_id,
)
from tests.support.calls import log_size, post, stored_body
from tests.support.schemas import Schema, limits_of, long_text, reaching, with_value
from tests.support.service import RunningService

LONGEST_NAMESPACE = "n" * 256


def request_schema(document: Schema, path: str) -> Schema:
    schema: Schema = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    return schema


def bodies(run_id: str) -> list[tuple[str, str, Body]]:
    """Route, address, and a body that it takes."""
    checkpoint, run = digest_of("checkpoint"), f"/v1/runs/{run_id}"
    return [
        ("/v1/runs", "/v1/runs", make_start(inputs=[{"role": "train", "snapshot": make_snapshot()}])),
        ("/v1/runs/{run_id}/events", f"{run}/events", make_event()),
        ("/v1/runs/{run_id}/checkpoints", f"{run}/checkpoints", make_checkpoint()),
        ("/v1/runs/{run_id}/artifacts", f"{run}/artifacts", make_artifact()),
        ("/v1/runs/{run_id}/progress", f"{run}/progress", {}),
        ("/v1/snapshots", "/v1/snapshots", make_snapshot()),
        (
            "/v1/checkpoints/{digest}/verifications",
            f"/v1/checkpoints/{checkpoint}/verifications",
            make_verification(),
        ),
        ("/v1/evaluations", "/v1/evaluations", make_evaluation()),
        ("/v1/model-versions", "/v1/model-versions", make_version(run_id=run_id)),
        ("/v1/evaluation-attempts", "/v1/evaluation-attempts", make_attempt()),
        ("/v1/evidence", "/v1/evidence", make_evidence(outcome="failed", exit_code=3)),
    ]


@pytest.fixture
def prepared(service: RunningService) -> tuple[httpx.Client, str]:
    """Who records and evaluates in the longest namespace there can be, and a run of it with a checkpoint."""
    client = service.client("recorder", "evaluator", namespace=LONGEST_NAMESPACE)
    run_id = new_run_id()
    start = make_start(run_id=run_id, checkpoints=[make_checkpoint(step=1)])
    assert post(client, "/v1/runs", start).status_code == 201
    return client, run_id


def unique(route: str, body: Body, number: int) -> Body:
    """The body as a thing of its own, where its kind has an identity."""
    name = f"thing {number}"
    own: Body = {
        "/v1/runs": {"run_id": new_run_id()},
        "/v1/runs/{run_id}/checkpoints": {"digest": digest_of(name)},
        "/v1/runs/{run_id}/artifacts": {"digest": digest_of(name)},
        "/v1/evaluation-attempts": {"candidate": digest_of(name)},
    }.get(route, {})
    if route == "/v1/model-versions":
        own = {name: value for name, value in {"tags": {"n": str(number)}}.items() if "tags" not in body}
        own |= {"version": f"v{number}"} if body["version"] == "1" else {}
    return body | own


def test_limits_hold_to_the_character(service: RunningService, prepared: tuple[httpx.Client, str]) -> None:
    client, run_id = prepared
    document = client.get("/openapi.json").json()
    definitions = document["components"]["schemas"]
    wrong: list[Any] = []
    tried = 0
    for route, address, body in bodies(run_id):
        schema = request_schema(document, route)
        for limit in limits_of(schema, definitions):
            if limit.path[0] in NESTED or limit.path in (("run_id",), ("checkpoint",)):
                continue  # nested facts are the same types as in their own calls
            tried += 1
            over = with_value(body, schema, definitions, limit, reaching(limit, 1))
            size = log_size(client)
            refused = post(client, address, unique(route, over, tried))
            pointed = [each["field"] for each in refused.json().get("errors", [])]
            if refused.status_code != 422 or not pointed or log_size(client) != size:
                wrong.append((route, limit, "over", refused.status_code, refused.text[:300]))
            at = unique(route, with_value(body, schema, definitions, limit, reaching(limit, 0)), tried)
            taken = post(client, address, at)
            if route == "/v1/runs/{run_id}/progress":
                if taken.status_code != 200:
                    wrong.append((route, limit, "at", taken.text[:300]))
                continue
            if taken.status_code != 201:
                wrong.append((route, limit, "at", taken.status_code, taken.text[:300]))
                continue
            stored = stored_body(client, taken.json()["record"])
            if not at.items() <= stored.items() and "initiated_by" not in limit.path:
                wrong.append((route, limit, "reads back differently"))
    assert not wrong, "\n".join(map(str, wrong))
    assert tried > 100


def test_names_of_greatest_length_fit_their_indexes_together(prepared: tuple[httpx.Client, str]) -> None:
    client, _ = prepared
    name = {"namespace": "a" * 256, "name": long_text(512)}
    run = make_start(job=name, team=long_text(256))
    run["inputs"] = [{"role": "r" * 256, "snapshot": make_snapshot(dataset=name)}]
    run["artifacts"] = [make_artifact(role="r" * 256)]
    run["model_versions"] = [make_version(registry="g" * 256, model="m" * 256, version="v" * 128)]
    answer = post(client, "/v1/runs", run)
    assert answer.status_code == 201, answer.text
    assert post(client, "/v1/snapshots", make_snapshot(dataset=name, row_count=1)).status_code == 201
    assert client.get(f"/v1/runs/{run['run_id']}").json()["identity"]["job"] == name


def test_largest_run_of_nested_facts_is_taken_whole(prepared: tuple[httpx.Client, str]) -> None:
    client, _ = prepared
    events = [{"type": "note", "at": "2026-05-01T00:00:00Z", "text": str(number)} for number in range(5000)]
    run = make_start(events=events)
    size = log_size(client)
    answer = post(client, "/v1/runs", run)
    assert answer.status_code == 201, answer.text
    assert log_size(client) == size + 5001
    refused = post(client, "/v1/runs", make_start(events=[*events, events[0]]))
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "/events")
    assert log_size(client) == size + 5001
