"""The one search box: digests, ids and names, from their beginning, of the own namespace."""

import re

import httpx
import pytest

from tests.support.bodies import digest_of, make_run, make_snapshot, make_version
from tests.support.calls import post
from tests.support.gates import GATE, MODEL, TO
from tests.support.promotions import PromotionScene
from tests.support.service import RunningService
from tests.support.slos import NAME, SloScene, make_slo
from tests.web.decision_scenes import signed_in
from tests.web.registry_scenes import promoted
from tests.web.scenes import Scene, make_checks


def found(client: httpx.Client, text: str) -> dict[str, str]:
    """Address by name of what is listed."""
    page = client.get("/search", params={"q": text})
    assert page.status_code == 200, page.text
    rows = re.findall(r'<th scope="row"><a href="([^"]+)">([^<]+)</a>', page.text)
    return {name: address.replace("&amp;", "&") for address, name in rows}


def test_everything_shown_is_found_and_leads_to_it(scene: Scene) -> None:
    snapshot = make_snapshot(digest=digest_of("data"), dataset={"namespace": "lake", "name": "taxi/green"})
    run = make_run(
        inputs=[{"role": "train", "snapshot": snapshot}], model_versions=[make_version(model="eta")]
    )
    assert post(scene.recorder, "/v1/runs", run).status_code == 201
    published = scene.publish()
    check = scene.checked(published, make_checks())
    record = scene.recorder.get(f"/v1/contract-checks/{check}").json()["record"]
    client = scene.browser()
    expected = {
        run["run_id"]: {run["run_id"]: f"/runs/{run['run_id']}"},
        run["run_id"][:18]: {run["run_id"]: f"/runs/{run['run_id']}"},
        snapshot["digest"]: {snapshot["digest"]: f"/v1/snapshots/{snapshot['digest']}"},
        snapshot["digest"][7:20]: {snapshot["digest"]: f"/v1/snapshots/{snapshot['digest']}"},
        check: {check: f"/contract-checks/{check}"},
        published["suite_digest"]: {"taxi-trips": "/contracts/taxi-trips/versions/1"},
        "eta": {"eta": "/models/eta"},
        "ETA": {"eta": "/models/eta"},
        "team-a/": {"team-a/train": "/runs?job=team-a%2Ftrain"},
        "Train": {"team-a/train": "/runs?job=team-a%2Ftrain"},
        "lake/taxi": {"taxi/green": "/v1/snapshots?namespace=lake&name=taxi%2Fgreen"},
        "taxi": {
            "taxi-trips": "/contracts/taxi-trips/versions/1",
            "taxi/green": "/v1/snapshots?namespace=lake&name=taxi%2Fgreen",
        },
    }
    for text, hits in expected.items():
        assert found(client, text) == hits, text
        for address in hits.values():
            assert client.get(address).status_code == 200, address
    assert f"/contract-checks/{record}" in client.get("/search", params={"q": record}).text


def test_gates_and_names_of_models_and_promises_are_found(service: RunningService) -> None:
    scene = PromotionScene(service)
    promoted(scene)
    promises = SloScene(service)
    promises.published(make_slo())
    client = signed_in(scene, "rob", "reader")
    assert found(client, GATE[:5].upper())[GATE] == f"/v1/gates/{GATE}/versions/1?raw=1"
    assert found(client, TO.upper()) == {TO: f"/decisions?model={MODEL}&to={TO}"}
    assert found(client, "Night") == {NAME: f"/slo/{NAME}"}


@pytest.mark.parametrize("text", ["", "   ", "sha256:", "abc", "%", "_", "nothing", "' OR 1=1 --", "x" * 512])
def test_what_is_not_there_is_not_found(sqlite_scene: Scene, text: str) -> None:
    sqlite_scene.publish()
    assert found(sqlite_scene.browser(), text) == {}


def test_too_many_of_a_kind_are_said(sqlite_scene: Scene) -> None:
    for number in range(11):
        sqlite_scene.publish(f"orders-{number:02}")
    page = sqlite_scene.browser().get("/search", params={"q": "orders"})
    assert "10 things found" in page.text
    assert "There are more of: Contract." in page.text


def test_another_tenant_finds_nothing(scene: Scene) -> None:
    published = scene.publish()
    check = scene.checked(published, make_checks())
    stranger = Scene(scene.service, namespace="team-b").browser()
    for text in ("taxi", check, published["digest"], published["suite_digest"]):
        assert found(stranger, text) == {}
