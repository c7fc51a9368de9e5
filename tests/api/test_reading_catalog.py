"""Checkpoints, data sets, models and exact bytes over HTTP."""

import json

from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize
from tests.support.facts import digest, get, get_all, make_checkpoint, make_run, make_snapshot, post, run_id
from tests.support.service import RunningService


def test_checkpoint_shows_who_saved_it_and_how_far_it_is_proven(service: RunningService) -> None:
    recorder, worker = service.client("recorder"), service.client("worker")
    saved = make_checkpoint(1, level="checksummed", save_completed_at="2026-05-01T12:05:00Z")
    for number in (1, 2):
        post(recorder, "/v1/runs", make_run(number))
        post(recorder, f"/v1/runs/{run_id(number)}/checkpoints", saved)
    path = f"/v1/checkpoints/{digest(1)}"
    fresh = get(recorder, path)
    assert (fresh["claimed_level"], fresh["effective_level"]) == ("checksummed", "checksummed")
    assert [row["run_id"] for row in fresh["saved_by"]] == [run_id(2), run_id(1)]

    def verify(level: str, outcome: str, checked_at: str) -> str:
        body = {"level": level, "outcome": outcome, "checked_at": checked_at}
        post(worker, f"{path}/verifications", body)
        effective: str = get(recorder, path)["effective_level"]
        return effective

    assert verify("restore_tested", "passed", "2026-05-02T12:00:00Z") == "restore_tested"
    # Before the saver's own word, which outweighs nothing that a worker found.
    assert verify("checksummed", "failed", "2026-05-01T11:00:00Z") is None
    assert verify("checksummed", "passed", "2026-05-02T13:00:00Z") == "restore_tested"
    assert verify("checksummed", "failed", "2026-05-03T12:00:00Z") is None
    assert verify("checksummed", "passed", "2026-05-04T12:00:00Z") == "restore_tested"
    known = get(recorder, path)
    assert [(row["outcome"], row["evidence_level"]) for row in known["verifications"]["items"]] == [
        ("passed", "trusted_runner"),
        ("failed", "trusted_runner"),
        ("passed", "trusted_runner"),
        ("failed", "trusted_runner"),
        ("passed", "trusted_runner"),
    ]
    assert known["levels"] == [
        {
            "level": "checksummed",
            "outcome": "passed",
            "checked_at": "2026-05-04T12:00:00.000000Z",
            "evidence_level": "trusted_runner",
        },
        {
            "level": "restore_tested",
            "outcome": "passed",
            "checked_at": "2026-05-02T12:00:00.000000Z",
            "evidence_level": "trusted_runner",
        },
    ]
    assert get_all(recorder, f"{path}/verifications", limit=3) == known["verifications"]["items"]


def test_first_verifications_lead_on_to_the_rest(sqlite_service: RunningService) -> None:
    client = sqlite_service.client("recorder")
    post(client, "/v1/runs", make_run(1, checkpoints=[make_checkpoint(1)]))
    path = f"/v1/checkpoints/{digest(1)}"
    for minute in range(55):
        check = {"level": "loaded", "outcome": "passed", "checked_at": f"2026-05-01T12:{minute:02}:00Z"}
        post(client, f"{path}/verifications", check)
    first = get(client, path)["verifications"]
    rest = get(client, f"{path}/verifications", after=first["next"])
    minutes = [row["checked_at"][14:16] for row in (*first["items"], *rest["items"])]
    assert minutes == [f"{minute:02}" for minute in reversed(range(55))]
    assert rest["next"] is None


def test_datasets_and_their_snapshots(service: RunningService) -> None:
    client = service.client("recorder")
    for number in range(4):
        post(client, "/v1/snapshots", make_snapshot(number, "clicks"))
    both = [
        {"role": role, "snapshot": make_snapshot(number, "a/b")}
        for number, role in ((8, "train"), (9, "test"))
    ]
    post(client, "/v1/runs", make_run(1, inputs=both))
    post(client, "/v1/snapshots", make_snapshot(20, "zebra"))
    datasets = get_all(client, "/v1/datasets", limit=1)
    assert datasets == [{"namespace": "lake", "name": name} for name in ("a/b", "clicks", "zebra")]
    assert get_all(client, "/v1/datasets", limit=2) == get_all(client, "/v1/datasets") == datasets
    snapshots = get_all(client, "/v1/datasets/lake/clicks/snapshots", limit=3)
    assert [snapshot["digest"] for snapshot in snapshots] == [digest(number) for number in (3, 2, 1, 0)]
    of_one_record = get_all(client, "/v1/datasets/lake/a/b/snapshots", limit=1)
    assert [snapshot["digest"] for snapshot in of_one_record] == [digest(9), digest(8)]
    page = get(client, "/v1/snapshots", namespace="lake", name="clicks", limit=1)
    assert page["items"] == snapshots[:1]
    assert get(client, "/v1/datasets/lake/clicks/snapshots", after=page["next"])["items"] == snapshots[1:]
    snapshot = get(client, f"/v1/snapshots/{digest(2)}")
    assert (snapshot["grade"], snapshot["dataset"]["name"]) == ("content", "clicks")


def test_snapshots_of_a_namespace_that_is_a_url(sqlite_service: RunningService) -> None:
    client = sqlite_service.client("recorder")
    dataset = {"namespace": "s3://bucket", "name": "raw/clicks"}
    post(client, "/v1/snapshots", make_snapshot(1, dataset=dataset))
    assert get_all(client, "/v1/datasets") == [dataset]
    (snapshot,) = get_all(client, "/v1/snapshots", **dataset)
    assert snapshot["digest"] == digest(1)
    response = client.get("/v1/snapshots")
    assert [error["field"] for error in response.json()["errors"]] == ["/query/namespace", "/query/name"]


def test_models_with_slashes_and_their_versions(service: RunningService) -> None:
    client = service.client("recorder")
    post(client, "/v1/runs", make_run(1))
    bound = [
        ("vision/detector", "1", "default"),
        ("vision/detector", "2", "default"),
        ("vision", "1", "mlflow"),
    ]
    for number, (model, version, registry) in enumerate(bound):
        artifact = {"model": model, "version": version, "registry": registry, "artifact": digest(number)}
        post(client, "/v1/model-versions", artifact | {"run_id": run_id(1)})
    assert get_all(client, "/v1/models", limit=1) == [
        {"registry": "default", "model": "vision/detector"},
        {"registry": "mlflow", "model": "vision"},
    ]
    versions = get_all(client, "/v1/models/vision/detector/versions", limit=1)
    assert [(row["version"], row["artifact"]) for row in versions] == [("2", digest(1)), ("1", digest(0))]
    assert get_all(client, "/v1/models/vision/versions") == []
    assert client.get("/v1/models/vision/versions/1").json()["code"] == "not_found"
    assert get(client, "/v1/models/vision/versions/1", registry="mlflow")["artifact"] == digest(2)

    post(client, "/v1/runs", make_run(1, code={"commit": "b" * 40, "dirty": False}))
    sealed = get(client, "/v1/models/vision/detector/versions/1")
    revisions = [manifest["revision"] for manifest in sealed["manifests"]]
    assert revisions == [2, 1]
    for manifest in sealed["manifests"]:
        response = client.get(f"/v1/lineage-manifests/{manifest['digest']}")
        assert sha256_digest(response.content) == manifest["digest"]
        assert response.json()["version"] == "1"
        assert response.headers["x-log-position"] == str(manifest["position"])


def test_record_is_answered_with_the_bytes_its_digest_names(service: RunningService) -> None:
    client = service.client("recorder")
    stored = post(client, "/v1/runs", make_run(1, tags={"größe": "12 µm", "z": "1e-7"}))
    response = client.get(f"/v1/records/{stored['record']}")
    assert sha256_digest(response.content) == stored["record"]
    assert canonicalize(json.loads(response.content)) == response.content
    assert response.headers["x-log-position"] == str(stored["position"])
    assert response.headers["x-record-kind"] == "run.registered"
    assert response.headers["x-evidence-level"] == "self_reported"
    (line,) = get(client, f"/v1/runs/{run_id(1)}/records")["items"]
    assert response.headers["x-recorded-at"] == line["recorded_at"]
    schema = client.get(f"/v1/schemas/{response.json()['schema']}")
    assert sha256_digest(schema.content) == response.json()["schema"]
    assert schema.json()["title"] == "run.registered"


def test_every_kind_has_a_published_schema(sqlite_service: RunningService) -> None:
    client = sqlite_service.client()
    items = get(client, "/v1/schemas")["items"]
    assert {"run.registered", "checkpoint.verified", "key.created"} <= {item["kind"] for item in items}
    for item in items:
        assert sha256_digest(client.get(f"/v1/schemas/{item['schema']}").content) == item["schema"]
    assert client.get(f"/v1/schemas/{digest(1)}").status_code == 404
