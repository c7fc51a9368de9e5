"""What another tenant holds answers like what does not exist."""

import json
import re
from typing import Any

import httpx

from tests.support.bodies import (
    Body,
    digest_of,
    make_artifact,
    make_checkpoint,
    make_evaluation,
    make_event,
    make_run,
    make_snapshot,
    make_start,
    make_verification,
    make_version,
)
from tests.support.calls import post
from tests.support.service import RunningService


class Tenant:
    """What a namespace holds, and how somebody would ask for it."""

    def __init__(self, client: httpx.Client, mark: str) -> None:
        self.checkpoint, self.model = digest_of(f"checkpoint {mark}"), f"model-{mark}"
        snapshot = make_snapshot(
            digest=digest_of(f"data {mark}"), dataset={"namespace": f"lake-{mark}", "name": "clicks"}
        )
        run = make_run(
            checkpoints=[make_checkpoint(digest=self.checkpoint)],
            inputs=[{"role": "train", "snapshot": snapshot}],
            config={"values": {"mark": mark}},
            model_versions=[make_version(model=self.model)],
        )
        self.run_id, self.snapshot, self.dataset = run["run_id"], snapshot["digest"], f"lake-{mark}/clicks"
        self.record, self.manifest, self.ingredient = digest_of("r"), digest_of("m"), digest_of("i")
        self.blob = digest_of(f"blob {mark}")
        if client.headers.get("Authorization"):
            answer = post(client, "/v1/runs", run)
            assert answer.status_code == 201, answer.text
            self.record = answer.json()["record"]
            self.ingredient = client.get(f"/v1/runs/{self.run_id}").json()["ingredients"]["config"]
            assert client.put(f"/v1/blobs/{self.blob}", content=f"blob {mark}".encode()).status_code == 201

    def reads(self) -> list[str]:
        return [
            f"/v1/runs/{self.run_id}",
            f"/v1/runs/{self.run_id}/artifacts",
            f"/v1/runs/{self.run_id}/checkpoints",
            f"/v1/runs/{self.run_id}/evaluations",
            f"/v1/runs/{self.run_id}/records",
            f"/v1/runs/{self.run_id}/lineage",
            f"/v1/checkpoints/{self.checkpoint}",
            f"/v1/checkpoints/{self.checkpoint}/verifications",
            f"/v1/snapshots/{self.snapshot}",
            f"/v1/datasets/{self.dataset}/snapshots",
            f"/v1/models/{self.model}/versions",
            f"/v1/models/{self.model}/versions/1",
            f"/v1/models/{self.model}/versions/1/lineage",
            f"/v1/records/{self.record}",
            f"/v1/ingredients/{self.ingredient}",
            f"/v1/blobs/{self.blob}",
            f"/v1/log/proof/inclusion?record={self.record}",
        ]

    def writes(self) -> list[tuple[str, Body]]:
        return [
            (f"/v1/runs/{self.run_id}/events", make_event()),
            (f"/v1/runs/{self.run_id}/checkpoints", make_checkpoint()),
            (f"/v1/runs/{self.run_id}/artifacts", make_artifact()),
            (f"/v1/runs/{self.run_id}/progress", {"step": 1}),
            (f"/v1/checkpoints/{self.checkpoint}/verifications", make_verification()),
            ("/v1/evaluations", make_evaluation(run_id=self.run_id)),
            ("/v1/model-versions", make_version(run_id=self.run_id)),
            ("/v1/revocations", {"record": self.record, "effect": "revoked", "reason": "not ours"}),
        ]

    def normalised(self, answer: httpx.Response) -> tuple[int, str]:
        """Status and body without what is this tenant's own and what is each answer's own."""
        text = json.dumps(answer.json(), sort_keys=True)
        for own in (
            self.run_id,
            self.checkpoint,
            self.model,
            self.snapshot,
            self.dataset,
            self.record,
            self.blob,
        ):
            text = text.replace(own, "…")
        return answer.status_code, re.sub(r'"request_id": "\w+"', "", text.replace(self.ingredient, "…"))


def test_ids_of_another_tenant_answer_exactly_like_random_ones(service: RunningService) -> None:
    theirs = Tenant(service.client("recorder", namespace="team-b"), "theirs")
    with httpx.Client() as nobody:
        random = Tenant(nobody, "random")
    ours = service.client("recorder", "author")
    for path, other in zip(theirs.reads(), random.reads(), strict=True):
        asked, guessed = theirs.normalised(ours.get(path)), random.normalised(ours.get(other))
        assert asked == guessed, path
        assert asked[0] == 404 or asked[1] == '{"items": [], "next": null}', path
        head = ours.head(path), ours.head(other)
        assert head[0].status_code == head[1].status_code
    for (path, body), (other, unknown) in zip(theirs.writes(), random.writes(), strict=True):
        asked = theirs.normalised(post(ours, path, body))
        assert asked == random.normalised(post(ours, other, unknown)), path
        assert asked[0] == 404, path
    items = [
        theirs.normalised(ours.post("/v1/records:batch", json={"kind": "run.event", "body": body})),
        random.normalised(ours.post("/v1/records:batch", json={"kind": "run.event", "body": unknown})),
    ]
    assert items[0] == items[1]


def test_lists_show_the_own_namespace_only(service: RunningService) -> None:
    Tenant(service.client("recorder", namespace="team-b"), "theirs")
    ours = service.client("recorder")
    assert post(ours, "/v1/runs", make_start()).status_code == 201
    for path, expected in (("/v1/runs", 1), ("/v1/models", 0), ("/v1/datasets", 0)):
        assert len(ours.get(path).json()["items"]) == expected, path


def test_same_ids_in_two_namespaces_are_two_things(service: RunningService) -> None:
    run: dict[str, Any] = make_run()
    ours, theirs = service.client("recorder"), service.client("recorder", namespace="team-b")
    assert post(ours, "/v1/runs", run).status_code == 201
    assert post(theirs, "/v1/runs", run | {"team": "other"}).status_code == 201
    assert ours.get(f"/v1/runs/{run['run_id']}").json() != theirs.get(f"/v1/runs/{run['run_id']}").json()


def test_cursor_of_another_tenant_is_no_cursor(service: RunningService) -> None:
    theirs, ours = service.client("recorder", namespace="team-b"), service.client("recorder")
    for client in (theirs, ours):
        for _ in range(3):
            assert post(client, "/v1/runs", make_start()).status_code == 201
    cursor = theirs.get("/v1/runs", params={"limit": 1}).json()["next"]
    assert theirs.get("/v1/runs", params={"after": cursor}).status_code == 200
    answers = [ours.get("/v1/runs", params={"after": after}) for after in (cursor, "bm90aGluZw")]
    assert [answer.status_code for answer in answers] == [422, 422]
    assert answers[0].json()["detail"] == answers[1].json()["detail"]
