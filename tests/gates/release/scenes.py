"""Ways to change one fact of the passing release, and what is decided then."""

import copy
from collections.abc import Callable
from datetime import datetime
from typing import Any

from gates.release.evaluate import Decision, evaluate
from gates.release.policy import Policy
from tests.gates.release.passing import LATER, NOW, RECENTLY, Body, make_facts
from tests.gates.release.policies import digest


def decide(
    policy: Policy, *changes: Callable[[Body], object], facts: Body | None = None, now: datetime = NOW
) -> Decision:
    """The decision about the passing facts after some changes."""
    changed = copy.deepcopy(make_facts(policy) if facts is None else facts)
    for change in changes:
        change(changed)
    return evaluate(policy, changed, now)


def put(path: str, value: object) -> Callable[[Body], None]:
    """A change: puts a value at a path such as "statistics/metrics/roc_auc/estimate"."""

    def change(facts: Body) -> None:
        holder, name = _holder(facts, path)
        holder[name] = value

    return change


def drop(path: str) -> Callable[[Body], None]:
    def change(facts: Body) -> None:
        holder, name = _holder(facts, path)
        del holder[name]

    return change


def _holder(facts: Body, path: str) -> tuple[Any, Any]:
    *parts, last = (int(part) if part.isdecimal() else part for part in path.split("/"))
    holder: Any = facts
    for part in parts:
        holder = holder[part]
    return holder, last


def make_review(policy: Policy, owner: str | None, action: str = "approve", **changed: object) -> Body:
    return {
        "record": digest(f"{action} {owner}"),
        "action": action,
        "owner": owner,
        "groups": ["model-risk"],
        "artifact": digest("artifact"),
        "gate": policy.name,
        "policy_version": policy.version,
        "to": "champion",
        "at": RECENTLY,
        "expires_at": None,
        "reason": "looked at",
        "revoked": False,
    } | changed


def make_waiver(policy: Policy, owner: str | None, criterion: str, **changed: object) -> Body:
    return {
        "record": digest(f"waiver {criterion} {owner}"),
        "criterion": criterion,
        "owner": owner,
        "artifact": digest("artifact"),
        "gate": policy.name,
        "policy_version": policy.version,
        "to": "champion",
        "at": RECENTLY,
        "starts_at": RECENTLY,
        "expires_at": LATER,
        "reason": "known",
        "revoked": False,
    } | changed
