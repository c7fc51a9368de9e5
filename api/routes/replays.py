"""Past decisions judged again by another policy, before it is published."""

import json
from datetime import datetime
from typing import Any, Final

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from starlette.responses import JSONResponse

from api.auth import require_role
from api.documents import refusal
from api.keeping import kept_blob
from api.pages import JSON, decode_position, encode_cursor
from api.policies import WHAT, published_policy, read_policy
from api.recording import parse_json, read_fact
from api.routes.reading_gates import GatePath
from api.routes.recording import documented
from api.schemas.gates import ReplayRequest
from api.services import Services, services_of
from gates.documents.problems import DocumentError
from gates.release.evaluate import Decision, evaluate
from gates.release.policy import Policy
from models.actor import Actor, Role
from models.errors import FieldProblem, InvalidInput
from models.gates.queries import StoredDecision, get_gate, get_gate_version, list_decisions
from shipworthy.formats.times import parse_instant

router = APIRouter(tags=["gates"])

_REPLAYED: Final[dict[str, Any]] = {
    JSON: {
        "schema": {
            "type": "object",
            "required": ["replayed", "flips", "next"],
            "properties": {
                "replayed": {"type": "integer"},
                "flips": {"type": "array", "items": {"type": "object"}},
                "next": {"type": ["string", "null"]},
            },
        }
    }
}


@router.post(
    "/v1/gates/{name}:replay",
    response_class=JSONResponse,
    openapi_extra=documented(ReplayRequest),
    responses={200: {"description": "The decisions that would have been others.", "content": _REPLAYED}},
    summary="What past decisions would have been under another policy",
)
async def replay(name: GatePath, request: Request) -> Response:
    """Newest first, `limit` of them; pass `next` as `after` for older ones. Judged on the facts that were kept and at
    the time of each decision; reviews and waivers are taken as if they had been given under this policy. Nothing is
    stored."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, Role.AUTHOR)
    wanted = read_fact(parse_json(await request.body()), ReplayRequest)
    return JSONResponse(await to_thread.run_sync(_replayed, services, actor, name, wanted))


def _replayed(services: Services, actor: Actor, name: str, wanted: ReplayRequest) -> dict[str, Any]:
    scope = ["replay", actor.namespace, name]
    after = decode_position(scope, wanted.after)
    with services.database.read() as session:
        get_gate(session.connection(), actor.namespace, name)
        policy = _policy(services, actor, name, wanted)
        rows = list_decisions(session, actor.namespace, after, wanted.limit + 1, gate=name, type="gate")
    shown = rows[: wanted.limit]
    flips = [flip for row in shown if (flip := _flip(services, actor, policy, row)) is not None]
    following = encode_cursor(scope, (shown[-1].position,)) if len(rows) > wanted.limit else None
    return {"replayed": len(shown), "flips": flips, "next": following}


def _policy(services: Services, actor: Actor, name: str, wanted: ReplayRequest) -> Policy:
    if wanted.policy is None:
        with services.database.read() as session:
            version = get_gate_version(session.connection(), actor.namespace, name, wanted.version)
        return published_policy(services.blobs, actor.namespace, version)
    try:
        policy = read_policy(wanted.policy.encode(), None).policy
    except DocumentError as error:
        raise refusal(error, WHAT) from error
    if policy.name != name:
        message = f"is a policy of {policy.name}, the URL says {name}"
        raise InvalidInput(f"/policy {message}", problems=[FieldProblem("/policy", message)])
    return policy


def _flip(services: Services, actor: Actor, policy: Policy, row: StoredDecision) -> dict[str, Any] | None:
    """What would have changed, None when the verdict stays."""
    made = json.loads(row.document)
    facts = json.loads(kept_blob(services.blobs, actor.namespace, made["facts"]))
    found = evaluate(policy, under(policy, facts), _when(made))
    if found.verdict == row.verdict:
        return None
    return {
        "decision": row.record,
        "model": row.model,
        "artifact": row.artifact,
        "from": row.verdict,
        "to": found.verdict,
        "because": _because(made, found),
    }


def under(policy: Policy, facts: dict[str, Any]) -> dict[str, Any]:
    """The facts as if this policy had been the one in force."""
    reference = facts["policy"] | {
        "name": policy.name,
        "version": policy.version,
        "digest": policy.digest,
        "document_digest": policy.document_digest,
    }
    bound = {
        name: [each | {"policy_version": policy.version} for each in facts[name] if _is_bound(each, facts)]
        for name in ("reviews", "waivers")
    }
    return facts | bound | {"policy": reference}


def _is_bound(grant: dict[str, Any], facts: dict[str, Any]) -> bool:
    """Whether it counted for the policy that decided; what was void then stays void."""
    return bool(grant["policy_version"] == facts["policy"]["version"])


def _when(made: dict[str, Any]) -> datetime:
    return parse_instant(made["evaluated_at"])


def _because(made: dict[str, Any], found: Decision) -> list[str]:
    """Ids of the criteria whose effect is another one, or that only one of the two policies has."""
    before = {each["id"]: each["effect"] for each in made["criteria"]}
    now = {each.id: each.effect for each in found.criteria}
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
