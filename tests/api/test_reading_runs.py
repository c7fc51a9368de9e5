"""Reading runs over HTTP: pages, filters, states, marks, and that a tenant sees its own."""

import json
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from sqlalchemy import text

from models.bulk import upsert_rows
from models.fields import instant_text
from models.lineage.tables import RunProgress
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import JsonValue, canonicalize
from tests.support.facts import digest, get, get_all, make_checkpoint, make_run, make_snapshot, post, run_id
from tests.support.service import RunningService


def ago(**units: float) -> str:
    return instant_text(datetime.now(UTC) - timedelta(**units))


def ids(items: list[dict[str, str]]) -> list[str]:
    return [item["run_id"] for item in items]


def test_pages_give_each_run_once_while_runs_arrive(service: RunningService) -> None:
    client = service.client("recorder")
    for number in range(10):
        post(client, "/v1/runs", make_run(number))
    page = get(client, "/v1/runs", limit=3)
    seen = ids(page["items"])
    for number in range(10, 13):
        post(client, "/v1/runs", make_run(number))
        page = get(client, "/v1/runs", limit=3, after=page["next"])
        seen += ids(page["items"])
    assert seen == [run_id(number) for number in reversed(range(10))]
    assert page["next"] is None
    assert ids(get_all(client, "/v1/runs", limit=5)) == [run_id(number) for number in reversed(range(13))]


def test_filters_find_what_they_name(service: RunningService) -> None:
    client = service.client("recorder", owner="ada@example.org")
    parts = {
        "inputs": [{"role": "train", "snapshot": make_snapshot(1)}],
        "code": {"commit": "a" * 40, "dirty": False},
        "environment": {"python": "3.12"},
        "config": {"values": {"lr": 0.1, "seed": 1}, "seed_keys": ["/seed"]},
        "seeds": {"values": {"torch": 1}},
    }
    other_seed = parts | {
        "seeds": {"values": {"torch": 2}},
        "config": {"values": {"lr": 0.1, "seed": 2}, "seed_keys": ["/seed"]},
    }
    post(client, "/v1/runs", make_run(1, team="vision", started_at="2026-05-01T12:00:00Z", **parts))
    post(client, "/v1/runs", make_run(2, team="speech", started_at="2026-05-02T12:00:00Z", **other_seed))
    post(client, "/v1/runs", make_run(3, job={"namespace": "night", "name": "train/all"}))
    first = get(client, f"/v1/runs/{run_id(1)}")

    def found(**filters: str) -> list[str]:
        return ids(get(client, "/v1/runs", **filters)["items"])

    assert found(team="vision") == [run_id(1)]
    assert found(job_namespace="night") == [run_id(3)]
    assert found(job="train/all", job_namespace="night") == [run_id(3)]
    assert found(job="train") == [run_id(2), run_id(1)]
    assert found(recipe_digest=first["recipe_digest"]) == [run_id(1)]
    assert found(family_digest=first["family_digest"]) == [run_id(2), run_id(1)]
    assert found(started_after="2026-05-02T12:00:00Z") == [run_id(2)]
    assert found(started_before="2026-05-02T14:00:00+02:00") == [run_id(1)]
    assert found(owner=first["owner"], team="speech") == [run_id(2)]
    assert found(owner="nobody") == []
    assert found(team="vision' OR 1=1 --") == []


def test_silent_run_is_lost_at_its_last_step_until_it_is_heard_again(service: RunningService) -> None:
    client = service.client("recorder")
    heartbeat = {"limit_seconds": 60}
    post(client, "/v1/runs", make_run(1, started_at=ago(hours=3), heartbeat=heartbeat))
    post(client, f"/v1/runs/{run_id(1)}/checkpoints", make_checkpoint(40, trained_until=ago(hours=2)))
    said = {"namespace": "team-a", "run_id": run_id(1), "process": "rank-0", "step": 70, "phase": "epoch 2"}
    with service.services.database.connection() as connection:
        upsert_rows(connection, RunProgress, [said | {"received_at": datetime.now(UTC) - timedelta(hours=1)}])

    run = get(client, f"/v1/runs/{run_id(1)}")
    assert (run["state"], run["reported_state"], run["lost_at_step"]) == ("lost", "running", 70)
    assert [(row["process"], row["step"], row["phase"]) for row in run["progress"]] == [
        ("rank-0", 70, "epoch 2")
    ]
    (listed,) = get(client, "/v1/runs", state="lost")["items"]
    assert listed["lost_at_step"] == 70
    assert get(client, "/v1/runs", state="running")["items"] == []

    post(client, f"/v1/runs/{run_id(1)}/progress", {"process": "rank-0", "step": 71})
    healed = get(client, f"/v1/runs/{run_id(1)}")
    assert (healed["state"], healed["lost_at_step"]) == ("running", None)
    end = {"type": "state", "state": "completed", "at": ago(minutes=90)}
    post(client, f"/v1/runs/{run_id(1)}/events", end)
    ended = get(client, f"/v1/runs/{run_id(1)}")
    assert (ended["state"], ended["ended_at"]) == ("completed", end["at"])


def test_run_that_promised_no_heartbeat_is_unknown(service: RunningService) -> None:
    client = service.client("recorder")
    post(client, "/v1/runs", make_run(1, started_at=ago(days=900), heartbeat={"expected": False}))
    assert get(client, f"/v1/runs/{run_id(1)}")["state"] == "unknown"
    assert ids(get(client, "/v1/runs", state="unknown")["items"]) == [run_id(1)]


def test_run_shows_its_ingredients_by_digest(service: RunningService) -> None:
    client = service.client("recorder")
    config: JsonValue = {"values": {"lr": 3e-05, "name": "Grünkohl"}}
    step: JsonValue = {"name": "dedupe", "version": "2"}
    post(client, "/v1/runs", make_run(1, config=config, transformations=[step]))
    run = get(client, f"/v1/runs/{run_id(1)}")
    expected = {sha256_digest(canonicalize(document)): document for document in (config, step)}
    assert run["documents"] == expected
    config_digest = run["ingredients"]["config"]
    response = client.get(f"/v1/ingredients/{config_digest}")
    assert response.content == canonicalize(config)
    assert response.headers["x-ingredient-kind"] == "config"


def test_facts_of_a_run_come_newest_first_in_pages(service: RunningService) -> None:
    client = service.client("recorder")
    post(client, "/v1/runs", make_run(1, checkpoints=[make_checkpoint(number) for number in range(5)]))
    path = f"/v1/runs/{run_id(1)}"
    post(client, f"{path}/artifacts", {"digest": digest(90), "role": "tokenizer"})
    post(client, f"{path}/artifacts", {"digest": digest(91)})
    post(client, "/v1/evaluations", {"run_id": run_id(1), "subject": digest(91), "metrics": {"f1": 0.75}})
    post(client, "/v1/runs", make_run(2, checkpoints=[make_checkpoint(77)]))
    checkpoints = get_all(client, f"{path}/checkpoints", limit=2)
    assert [item["step"] for item in checkpoints] == [4, 3, 2, 1, 0]
    assert checkpoints[0]["evidence_level"] == "self_reported"
    assert [item["role"] for item in get_all(client, f"{path}/artifacts", limit=1)] == ["model", "tokenizer"]
    (evaluation,) = get_all(client, f"{path}/evaluations")
    assert evaluation["metrics"] == {"f1": 0.75}
    records = get_all(client, f"{path}/records", limit=3)
    assert [record["kind"] for record in records] == [
        "evaluation.completed",
        *["artifact"] * 2,
        "run.registered",
    ]
    assert [record["position"] for record in records] == sorted(
        (record["position"] for record in records), reverse=True
    )
    assert records[3]["record"] == checkpoints[0]["record"]


def test_artifacts_that_came_in_one_record_are_paged_one_by_one(service: RunningService) -> None:
    client = service.client("recorder")
    made = [
        {"digest": digest(90 + number), "role": role} for number in range(3) for role in ("model", "report")
    ]
    post(client, "/v1/runs", make_run(1, artifacts=made))
    found = get_all(client, f"/v1/runs/{run_id(1)}/artifacts", limit=1)
    assert sorted((each["digest"], each["role"]) for each in found) == sorted(
        (each["digest"], each["role"]) for each in made
    )


def test_revoked_record_is_shown_as_revoked(service: RunningService) -> None:
    client = service.client("recorder", "author")
    registered = post(client, "/v1/runs", make_run(1))
    saved = post(client, f"/v1/runs/{run_id(1)}/checkpoints", make_checkpoint(5))
    post(client, f"/v1/runs/{run_id(1)}/checkpoints", make_checkpoint(6))
    revoked = {"record": saved["record"], "effect": "revoked", "reason": "disk was failing"}
    by = post(client, "/v1/revocations", revoked)["record"]
    later, earlier = get(client, f"/v1/runs/{run_id(1)}/checkpoints")["items"]
    mark = revoked | {"kind": "checkpoint.saved", "by": by}
    assert (later["marks"], earlier["marks"]) == ([], [mark])
    assert get(client, f"/v1/runs/{run_id(1)}")["marks"] == [mark]
    assert get(client, "/v1/runs")["items"][0]["marks"] == []
    post(
        client, "/v1/revocations", {"record": registered["record"], "effect": "contested", "reason": "whose?"}
    )
    assert get(client, "/v1/runs")["items"][0]["marks"][0]["effect"] == "contested"


TENANT_PATHS = (
    "/v1/runs/{run}",
    "/v1/runs/{run}/checkpoints",
    "/v1/runs/{run}/artifacts",
    "/v1/runs/{run}/evaluations",
    "/v1/runs/{run}/records",
    "/v1/snapshots/{snapshot}",
    "/v1/checkpoints/{checkpoint}",
    "/v1/checkpoints/{checkpoint}/verifications",
    "/v1/datasets/lake/{dataset}/snapshots",
    "/v1/models/{model}/versions",
    "/v1/models/{model}/versions/1",
    "/v1/lineage-manifests/{manifest}",
    "/v1/ingredients/{ingredient}",
    "/v1/records/{record}",
    "/v1/log/proof/inclusion?record={record}",
)


def test_another_tenants_id_answers_like_a_random_one(service: RunningService) -> None:
    theirs = service.client("recorder", namespace="team-b")
    mine = service.client("recorder", namespace="team-a")
    config = {"values": {"depth": 3}}
    run = make_run(1, config=config, inputs=[{"role": "train", "snapshot": make_snapshot(2, "secret")}])
    registered = post(theirs, "/v1/runs", run)
    post(theirs, f"/v1/runs/{run_id(1)}/checkpoints", make_checkpoint(3))
    post(theirs, f"/v1/runs/{run_id(1)}/artifacts", {"digest": digest(4)})
    post(
        theirs,
        "/v1/model-versions",
        {"run_id": run_id(1), "model": "m", "version": "1", "artifact": digest(4)},
    )
    manifest = get(theirs, "/v1/models/m/versions/1")["manifests"][0]["digest"]
    known = {
        "run": run_id(1),
        "snapshot": digest(2),
        "checkpoint": digest(3),
        "dataset": "secret",
        "model": "m",
        "manifest": manifest,
        "ingredient": sha256_digest(canonicalize(config)),
        "record": registered["record"],
    }
    random = {name: digest(999) for name in known} | {"run": run_id(999), "dataset": "none", "model": "none"}
    same_request = {"X-Request-Id": "the-same-for-both"}
    for path in TENANT_PATHS:
        assert theirs.get(path.format(**known)).status_code == 200, path
        foreign = mine.get(path.format(**known), headers=same_request)
        unknown = mine.get(path.format(**random), headers=same_request)
        assert foreign.content == unknown.content, path
        assert foreign.status_code == unknown.status_code
        assert _without_date(foreign) == _without_date(unknown)
    for path in ("/v1/runs", "/v1/datasets", "/v1/models"):
        assert get(mine, path) == {"items": [], "next": None}


def _without_date(response: httpx.Response) -> list[tuple[str, str]]:
    return [(name, value) for name, value in response.headers.multi_items() if name != "date"]


@pytest.mark.parametrize(
    ("query", "field", "told"),
    [
        ("jobs=train", "/query/jobs", "family_digest, job, job_namespace, limit"),
        ("team=a&team=b", "/query/team", "more than once"),
        ("limit=0", "/query/limit", "1 or more"),
        ("limit=501", "/query/limit", "500 or less"),
        ("state=dead", "/query/state", "'lost'"),
        ("started_after=2026-05-01", "/query/started_after", "RFC 3339"),
        ("recipe_digest=abc", "/query/recipe_digest", "sha256"),
    ],
)
def test_wrong_query_is_refused_with_the_field(
    sqlite_service: RunningService, query: str, field: str, told: str
) -> None:
    response = sqlite_service.client().get(f"/v1/runs?{query}")
    assert response.status_code == 422
    problem = response.json()
    assert problem["errors"][0]["field"] == field
    assert told in problem["errors"][0]["message"]


def test_reading_needs_a_key_before_anything_is_told(sqlite_service: RunningService) -> None:
    for path in ("/v1/runs?no=such", f"/v1/runs/{run_id(1)}", "/v1/schemas", "/v1/log/checkpoint"):
        response = httpx.get(sqlite_service.url + path)
        assert (response.status_code, response.json()["code"]) == (401, "token_missing")


def test_stored_text_passes_through_unchanged(service: RunningService) -> None:
    """Numbers and text that a second serialisation would write otherwise."""
    client = service.client("recorder")
    note = 'quote " backslash \\ snow ☃ \u2028'
    post(client, "/v1/runs", make_run(1, tags={"a": note}))
    post(client, "/v1/evaluations", {"run_id": run_id(1), "subject": digest(1), "metrics": {"loss": 1e-07}})
    assert get(client, f"/v1/runs/{run_id(1)}")["tags"] == {"a": note}
    with service.services.database.read() as session:
        stored = session.connection().execute(text("SELECT document FROM evaluation")).scalar_one()
    response = client.get(f"/v1/runs/{run_id(1)}/evaluations")
    assert stored[:-1].encode() in response.content
    assert json.loads(response.content)["items"][0]["metrics"] == {"loss": 1e-07}
