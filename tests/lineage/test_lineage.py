"""Lineage by model version, as users ask for it: over HTTP, on both databases."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import event, text

from shipworthy.formats.log_entry import leaf_entry
from shipworthy.formats.merkle import leaf_hash, verify_inclusion
from shipworthy.formats.notes import parse_tree_head, verify_note
from tests.support.databases import DatabaseUrls
from tests.support.service import RunningService, running_service


@pytest.fixture
def service(database_urls: DatabaseUrls, tmp_path: Path) -> Iterator[RunningService]:
    with running_service(database_urls, tmp_path / "data") as running:
        yield running


@pytest.fixture
def client(service: RunningService) -> httpx.Client:
    return service.client("recorder", "author")


def digest(number: int) -> str:
    return f"sha256:{number:064x}"


def run_id(number: int) -> str:
    return f"01900000-0000-7000-8000-{number:012x}"


def post(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(path, json=body)
    assert answer.status_code in (200, 201), answer.text
    return dict(answer.json())


def register(client: httpx.Client, number: int, reads: int, writes: int, **more: Any) -> dict[str, Any]:
    body = {
        "run_id": run_id(number),
        "job": {"namespace": "fraud", "name": "train"},
        "inputs": [{"role": "train", "digest": digest(reads)}],
        "artifacts": [{"digest": digest(writes)}],
        **more,
    }
    return post(client, "/v1/runs", body)


def lineage(client: httpx.Client, model: str = "fraud", version: str = "1", **query: Any) -> dict[str, Any]:
    answer = client.get(f"/v1/models/{model}/versions/{version}/lineage", params=query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def chain(client: httpx.Client, length: int) -> None:
    """Run n reads what run n − 1 wrote; the last one's artifact is model fraud, version 1."""
    for number in range(1, length + 1):
        register(client, number, reads=number - 1, writes=number)
    post(
        client,
        "/v1/model-versions",
        {"model": "fraud", "version": "1", "artifact": digest(length), "run_id": run_id(length)},
    )


def test_lineage_upstream_follows_artifacts_to_the_runs_that_made_them(client: httpx.Client) -> None:
    chain(client, 4)
    found = lineage(client, depth=10)
    assert [(run["hop"], run["run_id"]) for run in found["runs"]] == [
        (hop, run_id(number)) for hop, number in enumerate([4, 3, 2, 1])
    ]
    assert found["next"] == []
    assert not found["partial"]
    assert found["unresolved"] == [digest(0)]


def test_lineage_cut_by_depth_says_where_it_goes_on(client: httpx.Client) -> None:
    chain(client, 4)
    found = lineage(client, depth=1)
    assert [run["run_id"] for run in found["runs"]] == [run_id(4), run_id(3)]
    (following,) = found["next"]
    more = client.get(following).json()
    assert [run["run_id"] for run in more["runs"]] == [run_id(3), run_id(2)]


def test_lineage_downstream_of_a_run_names_what_was_made_from_it(client: httpx.Client) -> None:
    chain(client, 4)
    found = client.get(f"/v1/runs/{run_id(1)}/lineage", params={"direction": "downstream", "depth": 9}).json()
    assert [run["run_id"] for run in found["runs"]] == [run_id(number) for number in (1, 2, 3, 4)]


def test_lineage_of_a_diamond_lists_each_run_once(client: httpx.Client) -> None:
    register(client, 1, reads=0, writes=1)
    register(client, 2, reads=1, writes=2)
    register(client, 3, reads=1, writes=3)
    both = [{"role": "left", "digest": digest(2)}, {"role": "right", "digest": digest(3)}]
    register(client, 4, reads=2, writes=4, inputs=both)
    post(
        client,
        "/v1/model-versions",
        {"model": "m", "version": "1", "artifact": digest(4), "run_id": run_id(4)},
    )
    found = lineage(client, "m", depth=10)
    assert [run["hop"] for run in found["runs"]] == [0, 1, 1, 2]


def test_lineage_as_of_a_position_or_time_leaves_out_what_came_later(client: httpx.Client) -> None:
    first = register(client, 1, reads=0, writes=1, started_at="2026-05-01T12:00:00Z")
    sealed = post(
        client,
        "/v1/model-versions",
        {"model": "fraud", "version": "1", "artifact": digest(1), "run_id": run_id(1)},
    )
    before = lineage(client)["runs"][0]["received_at"]
    register(client, 1, reads=7, writes=8, tags={"late": "yes"})
    post(
        client,
        f"/v1/runs/{run_id(1)}/events",
        {"type": "state", "state": "completed", "at": "2026-05-01T13:00:00Z"},
    )
    now = lineage(client)
    assert now["runs"][0]["tags"] == {"late": "yes"}
    assert now["runs"][0]["state"] == "completed"
    assert now["manifest"]["revision"] == 2
    for as_of in (sealed["position"], before):
        then = lineage(client, as_of=as_of)
        assert then["runs"][0]["tags"] == {}
        assert then["runs"][0]["state"] != "completed"
        assert then["manifest"]["revision"] == 1
        assert [edge["digest"] for edge in then["edges"]] == [digest(0), digest(1)]
    gone = client.get("/v1/models/fraud/versions/1/lineage", params={"as_of": first["position"]})
    assert (gone.status_code, gone.json()["code"]) == (404, "not_found")


def test_lineage_completeness_names_every_missing_and_weak_part(client: httpx.Client) -> None:
    register(
        client,
        1,
        reads=0,
        writes=1,
        inputs=[
            {"role": "train", "snapshot": {"dataset": {"namespace": "w", "name": "t"}, "grade": "none"}},
            {
                "role": "test",
                "snapshot": {
                    "dataset": {"namespace": "w", "name": "u"},
                    "grade": "sampled",
                    "version": {"kind": "mlflow", "value": "1a2b3c4d"},
                },
            },
        ],
        code={"commit": "abcdef1", "dirty": True},
        environment={"image": {"tag": "latest"}},
        seeds={"unseeded": True},
    )
    post(
        client,
        "/v1/model-versions",
        {"model": "fraud", "version": "1", "artifact": digest(99), "run_id": run_id(1)},
    )
    found = lineage(client)
    status = {entry["part"]: entry["status"] for entry in found["completeness"]}
    assert status == {
        "data.train": "unresolved",
        "data.test": "weak",
        "code": "weak",
        "environment": "weak",
        "config": "unresolved",
        "hardware": "unresolved",
        "seeds": "weak",
        "artifact": "unresolved",
    }
    assert all(entry["reason"] for entry in found["completeness"])
    assert found["weakest_grade"] == "none"


def test_lineage_proof_verifies_offline_against_the_signed_head(client: httpx.Client) -> None:
    chain(client, 3)
    proof = lineage(client, proof=True, depth=5)["proof"]
    key = client.get("/v1/log/key").text.strip()
    head = parse_tree_head(verify_note(proof["checkpoint"], [key]))
    assert {entry["kind"] for entry in proof["records"]} == {"run.registered", "model_version"}
    for entry in proof["records"]:
        leaf = leaf_hash(leaf_entry(entry["record"], entry["kind"]))
        path = [bytes.fromhex(step) for step in entry["path"]]
        assert verify_inclusion(leaf, entry["position"], head.size, path, head.root)


def test_lineage_shows_a_revoked_record(client: httpx.Client) -> None:
    register(client, 1, reads=0, writes=1)
    recorded = post(
        client,
        "/v1/evaluations",
        {"run_id": run_id(1), "subject": digest(1), "metrics": {"auc": 0.9}},
    )
    post(
        client,
        "/v1/model-versions",
        {"model": "fraud", "version": "1", "artifact": digest(1), "run_id": run_id(1)},
    )
    assert lineage(client)["revocations"] == []
    post(
        client,
        "/v1/revocations",
        {"record": recorded["record"], "effect": "revoked", "reason": "measured on the wrong split"},
    )
    (said,) = lineage(client)["revocations"]
    assert (said["record"] != recorded["record"], said["effect"]) == (True, "revoked")
    assert [each["metrics"] for each in lineage(client)["evaluations"]] == [{"auc": 0.9}]


def test_manifest_revision_names_reason_author_and_the_digest_before(client: httpx.Client) -> None:
    register(client, 1, reads=0, writes=1)
    post(
        client,
        "/v1/model-versions",
        {"model": "fraud", "version": "1", "artifact": digest(1), "run_id": run_id(1)},
    )
    first = lineage(client)["manifest"]
    unchanged = {"type": "note", "text": "looks good", "at": "2026-05-01T13:00:00Z"}
    post(client, f"/v1/runs/{run_id(1)}/events", unchanged)
    assert lineage(client)["manifest"] == first
    post(client, f"/v1/runs/{run_id(1)}/artifacts", {"digest": digest(5), "role": "tokenizer"})
    second = lineage(client)["manifest"]
    assert second["revision"] == 2
    document = client.get(f"/v1/lineage-manifests/{second['digest']}").json()
    assert document["previous"] == first["digest"]
    assert document["reason"] == "artifact recorded"
    assert made_of(client, document) == ["model", "tokenizer"]
    original = client.get(f"/v1/lineage-manifests/{first['digest']}").json()
    assert made_of(client, original) == ["model"]


def made_of(client: httpx.Client, manifest: dict[str, Any]) -> list[str]:
    """Roles of the artifacts in what a manifest says its version is made of."""
    document = client.get(f"/v1/ingredients/{manifest['made_of']}").json()
    return [made["role"] for made in document["artifacts"]]


def test_sealed_lineage_grows_by_one_document_a_change_however_many_versions_there_are(
    service: RunningService, client: httpx.Client
) -> None:
    register(client, 1, reads=0, writes=1)
    body = {"model": "m", "artifact": digest(1), "run_id": run_id(1)}
    for version in range(32):
        post(client, "/v1/model-versions", body | {"version": str(version)})
    refused = client.post("/v1/model-versions", json=body | {"version": "one too many"})
    assert refused.status_code == 422
    refused = client.post("/v1/model-versions", json=body | {"version": "32"})
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    with service.services.database.read() as session:
        count = text("SELECT count(*), sum(length(document)) FROM ingredient WHERE kind = 'made_of'")
        before = session.connection().execute(count).one()
    post(client, f"/v1/runs/{run_id(1)}/artifacts", {"digest": digest(5), "role": "tokenizer"})
    with service.services.database.read() as session:
        after = session.connection().execute(count).one()
    assert after[0] - before[0] == 1


def test_lineage_of_very_many_links_is_cut_and_says_so(client: httpx.Client) -> None:
    shared = [{"role": f"part-{number}", "digest": digest(number)} for number in range(1000)]
    made = [{"role": "model", "digest": digest(number)} for number in range(1000)]
    for number in range(1, 13):
        post(
            client,
            "/v1/runs",
            {
                "run_id": run_id(number),
                "job": {"namespace": "fraud", "name": "train"},
                "inputs": shared,
                "artifacts": made,
            },
        )
    found = client.get(f"/v1/runs/{run_id(1)}/lineage", params={"depth": 5}).json()
    assert found["partial"]
    assert len(found["edges"]) <= 10_000
    assert found["next"]


def test_lineage_of_another_tenants_version_answers_like_an_unknown_one(service: RunningService) -> None:
    chain(service.client("recorder", namespace="team-a"), 2)
    stranger = service.client("reader", namespace="team-b")
    answers = [
        stranger.get(f"/v1/models/{model}/versions/1/lineage").json() for model in ("fraud", "never-heard-of")
    ]
    assert [answer.pop("request_id") is not None for answer in answers] == [True, True]
    assert answers[0] == answers[1]
    assert answers[0]["code"] == "not_found"


def test_lineage_asks_no_more_queries_for_more_runs_of_one_level(
    service: RunningService, client: httpx.Client
) -> None:
    for number in range(2, 42):
        register(client, number, reads=0, writes=number)
    wide = [{"role": f"part-{number}", "digest": digest(number)} for number in range(2, 42)]
    register(client, 50, reads=2, writes=50)
    register(client, 60, reads=2, writes=60, inputs=wide)
    for model, number in (("narrow", 50), ("wide", 60)):
        post(
            client,
            "/v1/model-versions",
            {"model": model, "version": "1", "artifact": digest(number), "run_id": run_id(number)},
        )
    counts = {}
    for model in ("narrow", "wide"):
        statements: list[str] = []

        def count(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
            statements.append(statement)  # noqa: B023 - removed before the next round

        event.listen(service.services.database.engine, "before_cursor_execute", count)
        lineage(client, model, depth=3)
        event.remove(service.services.database.engine, "before_cursor_execute", count)
        counts[model] = len(statements)
    assert counts["wide"] == counts["narrow"]
    assert counts["wide"] <= 25
