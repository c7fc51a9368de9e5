"""Releases at a gate as pages show them: one that may ship, one that waits for people, one that is blocked."""

import httpx

from tests.support.bodies import Body, digest_of, make_version
from tests.support.calls import post
from tests.support.gates import ARTIFACT, MODEL, SIGN_OFF, GateScene, make_policy
from tests.web.scenes import HTML, sign_in


def waiting(scene: GateScene) -> Body:
    """A first release, which has to be signed off by two persons; version 1 of the model."""
    for person in ("grace", "heidi"):
        scene.approver(person)
    scene.ready(make_policy(sign_off=SIGN_OFF))
    register(scene, "1", ARTIFACT)
    decision = scene.decided(version="1")
    assert decision["verdict"] == "review_required", decision["sentence"]
    return decision


def blocked(scene: GateScene) -> Body:
    """Another artifact, measured below the bound; version 2 of the model."""
    artifact = digest_of("worse model")
    scene.train(artifact)
    scene.evaluate(artifact, auc=0.7)
    scene.attest(subject=artifact)
    register(scene, "2", artifact)
    decision = scene.decided(artifact=artifact, version="2")
    assert decision["verdict"] == "blocked"
    return decision


def register(scene: GateScene, version: str, artifact: str) -> None:
    """Binds a version of the model to an artifact that was trained before."""
    run = scene.recorder.get("/v1/runs", params={"limit": 1}).json()["items"][0]["run_id"]
    body = make_version(model=MODEL, version=version, artifact=artifact)
    answer = post(scene.recorder, "/v1/model-versions", {**body, "run_id": run})
    assert answer.status_code == 201, answer.text


def signed_in(
    scene: GateScene, person: str, *roles: str, groups: tuple[str, ...] = ("model-risk",)
) -> httpx.Client:
    """A browser of this person, with a new key."""
    token = scene.token(person, *roles, groups=groups)
    client = httpx.Client(base_url=scene.service.url, headers=HTML, timeout=30)
    scene.service.closing.enter_context(client)
    answer = sign_in(client, token)
    assert answer.status_code == 303, answer.text
    return client
