"""Who may do what: every call with every role, with bad tokens, and with another tenant's ids."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx
import pytest

from models.actor import Role
from models.keys.administration import create_key, revoke_key
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
    new_run_id,
)
from tests.support.calls import post
from tests.support.service import RunningService

ANY: Final = frozenset(Role)
PUBLIC: Final = None
"""Calls that ask for no key."""
_RECORDER: Final = frozenset({Role.RECORDER})

MAY_CALL: Final[dict[str, frozenset[Role] | None]] = {
    "GET /healthz": PUBLIC,
    "GET /readyz": PUBLIC,
    "GET /metrics": PUBLIC,
    "POST /v1/runs": _RECORDER,
    "POST /v1/runs/{run_id}/events": _RECORDER,
    "POST /v1/runs/{run_id}/checkpoints": _RECORDER,
    "POST /v1/runs/{run_id}/artifacts": _RECORDER,
    "POST /v1/runs/{run_id}/progress": _RECORDER,
    "POST /v1/snapshots": _RECORDER,
    "POST /v1/model-versions": _RECORDER,
    "POST /v1/checkpoints/{digest}/verifications": frozenset({Role.RECORDER, Role.WORKER}),
    "POST /v1/evaluations": frozenset({Role.RECORDER, Role.EVALUATOR}),
    "POST /v1/revocations": frozenset({Role.AUTHOR}),
    "PUT /v1/contracts/{name}": frozenset({Role.AUTHOR}),
    "POST /v1/contracts:lint": frozenset({Role.AUTHOR}),
    "POST /v1/baselines": frozenset({Role.AUTHOR}),
    "POST /v1/baselines/{digest}/approvals": frozenset({Role.APPROVER}),
    "POST /v1/contract-checks": frozenset({Role.AUTHOR, Role.EVALUATOR, Role.RECORDER}),
    "POST /v1/contract-checks/{id}:cancel": frozenset({Role.AUTHOR, Role.EVALUATOR, Role.RECORDER}),
    "POST /v1/work:claim": frozenset({Role.WORKER}),
    "POST /v1/work/{id}:renew": frozenset({Role.WORKER}),
    "POST /v1/work/{id}:complete": frozenset({Role.WORKER}),
    "POST /v1/records:batch": frozenset({Role.RECORDER, Role.EVALUATOR, Role.WORKER, Role.AUTHOR}),
    "PUT /v1/blobs/{digest}": frozenset({Role.RECORDER, Role.EVALUATOR, Role.WORKER}),
    "GET /v1/blobs/{digest}": ANY,
    "HEAD /v1/blobs/{digest}": ANY,
    "GET /v1/runs": ANY,
    "GET /v1/runs/{run_id}": ANY,
    "GET /v1/runs/{run_id}/artifacts": ANY,
    "GET /v1/runs/{run_id}/checkpoints": ANY,
    "GET /v1/runs/{run_id}/evaluations": ANY,
    "GET /v1/runs/{run_id}/records": ANY,
    "GET /v1/runs/{run_id}/lineage": ANY,
    "GET /v1/snapshots": ANY,
    "GET /v1/snapshots/{digest}": ANY,
    "GET /v1/datasets": ANY,
    "GET /v1/datasets/{namespace}/{name}/snapshots": ANY,
    "GET /v1/checkpoints/{digest}": ANY,
    "GET /v1/checkpoints/{digest}/verifications": ANY,
    "GET /v1/models": ANY,
    "GET /v1/models/{model}/versions": ANY,
    "GET /v1/models/{model}/versions/{version}": ANY,
    "GET /v1/models/{model}/versions/{version}/lineage": ANY,
    "GET /v1/contracts": ANY,
    "GET /v1/contracts/{name}": ANY,
    "GET /v1/contracts/{name}/compiled": ANY,
    "GET /v1/contracts/{name}/versions": ANY,
    "GET /v1/contracts/{name}/versions/{version}": ANY,
    "GET /v1/contracts/{name}/versions/{version}/compiled": ANY,
    "GET /v1/baselines": ANY,
    "GET /v1/baselines/{digest}": ANY,
    "GET /v1/contract-checks": ANY,
    "GET /v1/contract-checks/{id}": ANY,
    "GET /v1/work/{id}": ANY,
    "GET /v1/records/{digest}": ANY,
    "GET /v1/lineage-manifests/{digest}": ANY,
    "GET /v1/ingredients/{digest}": ANY,
    "GET /v1/schemas": ANY,
    "GET /v1/schemas/{digest}": ANY,
    "GET /v1/log/checkpoint": ANY,
    "GET /v1/log/key": ANY,
    "GET /v1/log/proof/inclusion": ANY,
    "GET /v1/log/proof/consistency": ANY,
}


def calls(service: RunningService) -> Iterator[tuple[str, str, str]]:
    """Every call of the document, with its path filled in."""
    document = httpx.get(f"{service.url}/openapi.json").json()
    example = {"run_id": new_run_id(), "digest": digest_of("nothing")}
    for path, methods in document["paths"].items():
        for method in methods:
            filled = re.sub(r"\{(\w+)\}", lambda found: example.get(found[1], "name"), path)
            yield f"{method.upper()} {path}", method, filled


def code_of(answer: httpx.Response) -> str:
    return str(answer.json()["code"]) if answer.content else ""


def test_every_role_may_do_what_the_table_says_and_nothing_else(service: RunningService) -> None:
    listed = list(calls(service))
    assert {name for name, _, _ in listed} == set(MAY_CALL)
    wrong: list[tuple[Role, str, object]] = []
    for role in Role:
        client = service.client(role)
        for name, method, path in listed:
            allowed = MAY_CALL[name]
            answer = client.request(method, path, content=b"{}" if method in ("post", "put") else None)
            refused = answer.status_code == 403
            if refused and code_of(answer) != "role_missing":
                wrong.append((role, name, answer.text))
            if answer.status_code in (401, 500) or refused != (allowed is not PUBLIC and role not in allowed):
                wrong.append((role, name, answer.status_code))
    assert not wrong, "\n".join(map(str, wrong))


def test_every_call_but_the_public_ones_asks_for_a_key_in_force(service: RunningService) -> None:
    services = service.services
    made = create_key(services.ledger, services.ring, namespace="team-a", roles=["recorder"])
    revoked = create_key(services.ledger, services.ring, namespace="team-a", roles=["recorder"])
    soon = datetime.now(UTC) + timedelta(milliseconds=200)
    expired = create_key(
        services.ledger, services.ring, namespace="team-a", roles=["recorder"], expires_at=soon
    )
    headers = {"Authorization": f"Bearer {revoked.token}"}
    assert httpx.get(f"{service.url}/v1/runs", headers=headers).status_code == 200
    revoke_key(services.ledger, revoked.key_id, namespace="team-a", reason="lost")
    services.authenticator.forget(revoked.key_id)
    head, secret = made.token[:-10], made.token[-10:]
    tokens: dict[str | None, str] = {
        None: "token_missing",
        "": "token_missing",
        f"Basic {made.token}": "token_missing",
        f"Bearer {revoked.token}": "token_invalid",
        f"Bearer {expired.token}": "token_invalid",
        f"Bearer {head}{secret.swapcase()}": "token_invalid",
        f"Bearer {made.token}x": "token_invalid",
        f"Bearer {made.token[:-1]}": "token_invalid",
        "Bearer": "token_invalid",
        "Bearer sw_": "token_invalid",
        "Bearer " + "a" * 5000: "token_invalid",
    }
    while datetime.now(UTC) <= soon:
        pass
    wrong = []
    with httpx.Client(base_url=service.url) as client:
        for name, method, path in calls(service):
            if MAY_CALL.get(name, ANY) is PUBLIC:
                continue
            for token, code in tokens.items():
                sent = {} if token is None else {"Authorization": token}
                answer = client.request(method, path, headers=sent)
                if answer.status_code != 401 or (method != "head" and code_of(answer) != code):
                    wrong.append((name, token, answer.status_code, answer.text))
                assert answer.headers["www-authenticate"] == "Bearer"
    assert not wrong, "\n".join(map(str, wrong))


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


@pytest.mark.parametrize("roles", [("reader",), ("admin",)])
def test_role_is_told_with_the_command_that_makes_such_a_key(
    service: RunningService, roles: tuple[str, ...]
) -> None:
    answer = post(service.client(*roles), "/v1/runs", make_start())
    assert (answer.status_code, answer.json()["code"]) == (403, "role_missing")
    assert "keys create --namespace team-a --role recorder" in answer.json()["detail"]
