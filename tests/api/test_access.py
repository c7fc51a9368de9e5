"""Who may do what: every call with every role, and with bad tokens."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import httpx
import pytest

from models.actor import Role
from models.keys.administration import create_key, revoke_key
from tests.support.bodies import (
    digest_of,
    make_start,
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
    "POST /v1/checkpoints/{digest}/verifications:request": frozenset(
        {Role.AUTHOR, Role.EVALUATOR, Role.RECORDER}
    ),
    "POST /v1/evaluations": frozenset({Role.RECORDER, Role.EVALUATOR}),
    "POST /v1/evaluation-attempts": frozenset({Role.EVALUATOR}),
    "POST /v1/evaluation-attempts/extensions": frozenset({Role.APPROVER}),
    "POST /v1/evaluation-attempts/{id}/statistics": frozenset({Role.AUTHOR, Role.EVALUATOR}),
    "POST /v1/evidence": frozenset({Role.EVALUATOR}),
    "POST /v1/revocations": frozenset({Role.AUTHOR}),
    "PUT /v1/contracts/{name}": frozenset({Role.AUTHOR}),
    "POST /v1/contracts:lint": frozenset({Role.AUTHOR}),
    "PUT /v1/gates/{name}": frozenset({Role.AUTHOR}),
    "POST /v1/gates:lint": frozenset({Role.AUTHOR}),
    "POST /v1/gates/{name}:replay": frozenset({Role.AUTHOR}),
    "POST /v1/gates/{name}/decisions": frozenset({Role.AUTHOR, Role.EVALUATOR, Role.RECORDER}),
    "POST /v1/reviews": frozenset({Role.APPROVER, Role.AUTHOR, Role.EVALUATOR}),
    "POST /v1/waivers": frozenset({Role.APPROVER}),
    "POST /v1/break-glass": frozenset({Role.APPROVER}),
    "POST /v1/promotions:check": frozenset({Role.REGISTRY}),
    "POST /v1/promotions": frozenset({Role.REGISTRY}),
    "POST /v1/promotions:move": frozenset({Role.REGISTRY}),
    "POST /v1/promotions:observe": frozenset({Role.RECORDER, Role.REGISTRY, Role.WORKER}),
    "POST /v1/demotions": frozenset({Role.APPROVER}),
    "POST /v1/reconciliations": frozenset({Role.REGISTRY, Role.WORKER}),
    "POST /v1/baselines": frozenset({Role.AUTHOR}),
    "POST /v1/baselines/{digest}/approvals": frozenset({Role.APPROVER}),
    "POST /v1/contract-checks": frozenset({Role.AUTHOR, Role.EVALUATOR, Role.RECORDER}),
    "POST /v1/contract-checks/{id}:cancel": frozenset({Role.AUTHOR, Role.EVALUATOR, Role.RECORDER}),
    "POST /v1/work:claim": frozenset({Role.WORKER}),
    "POST /v1/work/{id}:renew": frozenset({Role.WORKER}),
    "POST /v1/work/{id}:complete": frozenset({Role.WORKER}),
    "POST /v1/work/{id}:cancel": frozenset({Role.AUTHOR, Role.EVALUATOR, Role.RECORDER}),
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
    "GET /v1/evaluation-attempts": ANY,
    "GET /v1/evaluation-attempts/{id}": ANY,
    "GET /v1/evaluation-attempts/extensions": ANY,
    "GET /v1/evidence": ANY,
    "GET /v1/gates": ANY,
    "GET /v1/gates/{name}": ANY,
    "GET /v1/gates/{name}/versions": ANY,
    "GET /v1/gates/{name}/versions/{version}": ANY,
    "GET /v1/decisions": ANY,
    "GET /v1/decisions:in-force": ANY,
    "GET /v1/decisions/{id}": ANY,
    "GET /v1/decisions/{digest}/bundle": ANY,
    "GET /v1/decisions/{digest}/dsse": ANY,
    "GET /v1/decisions/{digest}/vsa": ANY,
    "GET /v1/trust": ANY,
    "GET /v1/models/{model}/versions/{version}/decisions": ANY,
    "GET /v1/protections": ANY,
    "GET /v1/promotions": ANY,
    "GET /v1/models/{model}/promotions": ANY,
    "GET /v1/reconciliations:latest": ANY,
    "PUT /v1/slos/{name}": frozenset({Role.AUTHOR}),
    "POST /v1/slos:lint": frozenset({Role.AUTHOR}),
    "POST /v1/slos/{name}/exclusions": frozenset({Role.APPROVER}),
    "POST /v1/sources/{name}/heartbeats": _RECORDER,
    "GET /v1/slos": ANY,
    "GET /v1/slos/{name}": ANY,
    "GET /v1/slos/{name}/versions": ANY,
    "GET /v1/slos/{name}/versions/{version}": ANY,
    "GET /v1/slos/{name}/windows": ANY,
    "GET /v1/slos/{name}/windows/{id}": ANY,
    "GET /v1/slos/{name}/exclusions": ANY,
    "GET /v1/slo-report": ANY,
    "GET /v1/reviews": ANY,
    "GET /v1/waivers": ANY,
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


@pytest.mark.parametrize("roles", [("reader",), ("admin",)])
def test_role_is_told_with_the_command_that_makes_such_a_key(
    service: RunningService, roles: tuple[str, ...]
) -> None:
    answer = post(service.client(*roles), "/v1/runs", make_start())
    assert (answer.status_code, answer.json()["code"]) == (403, "role_missing")
    assert "keys create --namespace team-a --role recorder" in answer.json()["detail"]
