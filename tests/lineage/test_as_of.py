"""Lineage as of a position of the log: what was known then, for ever."""

import itertools
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.bodies import digest_of, make_snapshot, new_run_id
from tests.support.service import RunningService

NAMES = st.sampled_from("abc")
ABOUT_NOW = ("as_of", "next", "proof")
"""What says when it was asked, and not what is known."""

_scenes = itertools.count(1)


def post(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(path, json=body)
    assert answer.status_code < 500, answer.text
    return dict(answer.json())


def shown(client: httpx.Client, run: str, **query: Any) -> dict[str, Any]:
    asked: dict[str, Any] = {"direction": "both", "depth": 4} | query
    answer = client.get(f"/v1/runs/{run}/lineage", params=asked).json()
    return {name: value for name, value in answer.items() if name not in ABOUT_NOW}


def head(client: httpx.Client) -> int:
    return int(client.get("/v1/log/checkpoint").text.split("\n")[1]) - 1


@pytest.fixture
def client(service: RunningService) -> httpx.Client:
    return service.client("recorder", "author", "evaluator")


def test_what_completes_a_snapshot_later_is_not_known_before(client: httpx.Client) -> None:
    snapshot, run = make_snapshot(), new_run_id()
    body = {
        "run_id": run,
        "job": {"namespace": "n", "name": "j"},
        "inputs": [{"role": "train", "snapshot": snapshot}],
    }
    then = post(client, "/v1/runs", body)["position"]
    known = shown(client, run, as_of=then)
    split = {"name": "train", "of": "whole", "method": "hash"}
    completed = post(client, "/v1/snapshots", snapshot | {"split": split})
    assert shown(client, run, as_of=then) == known
    assert "split" not in known["snapshots"][0]
    (now,) = shown(client, run, as_of=completed["position"])["snapshots"]
    assert (now["split"], now["completed_by"]) == (split, [completed["record"]])


def test_registering_a_version_is_no_sign_of_life_and_stands_in_lineage_as_of_then(
    client: httpx.Client,
) -> None:
    run, model = new_run_id(), f"model-{next(_scenes)}"
    start = {"run_id": run, "job": {"namespace": "n", "name": "j"}, "artifacts": [{"digest": digest_of("m")}]}
    post(client, "/v1/runs", start)
    before = shown(client, run)["runs"][0]
    bound = {"run_id": run, "model": model, "version": "1", "artifact": digest_of("m")}
    position = post(client, "/v1/model-versions", bound)["position"]
    post(client, "/v1/evaluations", {"run_id": run, "subject": digest_of("m"), "metrics": {"m": 1}})
    now = shown(client, run)["runs"][0]
    assert now["last_sign_of_life_at"] == before["last_sign_of_life_at"]
    assert shown(client, run, as_of=position)["runs"][0] == now
    post(client, f"/v1/runs/{run}/artifacts", {"digest": digest_of("later")})
    assert [each["revision"] for each in shown(client, run)["runs"][0]["sealed"]] == [2]
    assert shown(client, run, as_of=position)["runs"][0] == now


def facts_of(scene: int) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """Calls about three runs of this scene, three digests of data and three of what is made."""
    runs = {name: f"019f0000-{scene:04x}-7000-8000-00000000000{name}" for name in "abc"}
    run, made = NAMES.map(runs.__getitem__), NAMES.map(lambda name: digest_of(f"made {scene} {name}"))
    data = NAMES.map(lambda name: digest_of(f"data {scene} {name}"))
    snapshots = st.builds(
        lambda digest, name, grade, more: (
            make_snapshot(digest=digest, dataset={"namespace": "n", "name": name}, grade=grade) | more
        ),
        data,
        NAMES,
        st.sampled_from(["content", "manifest", "declared"]),
        st.fixed_dictionaries(
            {"row_count": st.integers(1, 2)},
            optional={"split": st.just({"name": "train", "of": "w", "method": "m"}), "uri": NAMES},
        ),
    )
    inputs = st.lists(
        st.one_of(
            st.builds(lambda digest: {"role": "base", "digest": digest}, made),
            st.builds(lambda snapshot: {"role": "train", "snapshot": snapshot}, snapshots),
        ),
        max_size=2,
    )
    registered = st.builds(
        lambda run, read: {"run_id": run, "job": {"namespace": "n", "name": "j"}, "inputs": read}, run, inputs
    )
    state = st.sampled_from(["queued", "running", "completed"])
    at = "2026-05-01T12:00:00Z"
    return st.one_of(
        st.tuples(st.just("/v1/runs"), registered),
        st.tuples(st.just("/v1/snapshots"), snapshots),
        st.builds(lambda r, s: (f"/v1/runs/{r}/events", {"type": "state", "state": s, "at": at}), run, state),
        st.builds(lambda r, d: (f"/v1/runs/{r}/artifacts", {"digest": d}), run, made),
        st.builds(
            lambda r, d: (f"/v1/runs/{r}/checkpoints", {"digest": d, "step": 1, "trained_until": at}),
            run,
            made,
        ),
        st.builds(
            lambda r, d: ("/v1/evaluations", {"run_id": r, "subject": d, "metrics": {"m": 1}}), run, made
        ),
        st.builds(
            lambda r, d, version: (
                "/v1/model-versions",
                {"run_id": r, "model": f"scene-{scene}", "version": version, "artifact": d},
            ),
            run,
            made,
            NAMES,
        ),
    )


@given(st.data())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_lineage_as_of_the_head_is_lineage_now_and_stays(client: httpx.Client, data: st.DataObject) -> None:
    scene = next(_scenes)
    run = f"019f0000-{scene:04x}-7000-8000-00000000000a"
    post(client, "/v1/runs", {"run_id": run, "job": {"namespace": "n", "name": "j"}})
    answers: dict[int, dict[str, Any]] = {}
    recorded = []
    for path, body in data.draw(st.lists(facts_of(scene), min_size=4, max_size=14)):
        record = post(client, path, body).get("record")
        if record is not None:
            recorded.append(record)
            if data.draw(st.integers(0, 5)) == 0:
                wrong = {"record": record, "effect": "contested", "reason": "looked at again"}
                post(client, "/v1/revocations", wrong)
        position = head(client)
        answers[position] = shown(client, run)
        assert shown(client, run, as_of=position) == answers[position]
    for position, answer in answers.items():
        assert shown(client, run, as_of=position) == answer
