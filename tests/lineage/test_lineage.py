"""Lineage by model version, as users ask for it: over HTTP, on both databases."""

import httpx

from tests.lineage.chains import chain, digest, lineage, post, register, run_id
from tests.support.service import RunningService


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
    noted = {"type": "note", "text": "sealed", "at": "2026-05-01T12:30:00Z"}
    post(client, f"/v1/runs/{run_id(1)}/events", noted)
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


def test_lineage_of_another_tenants_version_answers_like_an_unknown_one(service: RunningService) -> None:
    chain(service.client("recorder", namespace="team-a"), 2)
    stranger = service.client("reader", namespace="team-b")
    answers = [
        stranger.get(f"/v1/models/{model}/versions/1/lineage").json() for model in ("fraud", "never-heard-of")
    ]
    assert [answer.pop("request_id") is not None for answer in answers] == [True, True]
    assert answers[0] == answers[1]
    assert answers[0]["code"] == "not_found"
