"""Facts about persons: who could approve, who did, and who took responsibility for what is not met."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from models.actor import Role
from models.columns import UTCDateTime
from models.gates.asking import Asked, JsonObject, effects, read, time_text

MAX_SAID: Final = 500
_APPROVERS: Final = (
    "SELECT owner, roles, groups FROM api_key WHERE namespace = :namespace AND owner IS NOT NULL "
    "AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)"
)
_SAID: Final = (
    "SELECT record, at, document FROM {} WHERE namespace = :namespace AND artifact = :artifact "
    f"AND gate = :gate AND target = :target ORDER BY {{}} position DESC LIMIT {MAX_SAID}"
)
# However much is said after it, a denial is not pushed out of what is read.
_DENIALS_FIRST: Final = "CASE action WHEN 'denied' THEN 0 WHEN 'approved' THEN 1 ELSE 2 END,"


@dataclass(frozen=True, slots=True)
class Approver:
    """A person with a key in force that may approve, and the groups of all such keys of theirs."""

    owner: str
    groups: frozenset[str]


def approvers(connection: Connection, namespace: str, now: datetime) -> list[Approver]:
    when = UTCDateTime().process_bind_param(now, connection.dialect)
    groups: dict[str, set[str]] = {}
    for owner, roles, named in read(connection, _APPROVERS, namespace, now=when):
        if Role.APPROVER in roles.split(","):
            groups.setdefault(owner, set()).update(json.loads(named))
    return [Approver(owner, frozenset(named)) for owner, named in sorted(groups.items())]


def eligible(found: Iterable[Approver], roles: Iterable[str], without: Iterable[str | None] = ()) -> int:
    """How many persons are in one of these groups, or in any when none is named."""
    wanted, left_out = frozenset(roles), frozenset(without)
    return sum(
        each.owner not in left_out and (not wanted or not wanted.isdisjoint(each.groups)) for each in found
    )


def gather_reviews(connection: Connection, asked: Asked) -> list[JsonObject]:
    """What was said about this artifact at this gate under any policy version: denials, approvals, then requests, each
    newest first."""
    return [
        {
            "record": row.record,
            "action": {"requested": "request", "approved": "approve", "denied": "deny"}[said["action"]],
            "owner": said["by"],
            "groups": said["groups"],
            "artifact": said["artifact"],
            "gate": said["gate"],
            "policy_version": said["policy_version"],
            "to": said["to"],
            "at": time_text(connection, row.at),
            "expires_at": said.get("expires_at"),
            "reason": said["reason"],
            "revoked": revoked,
        }
        for row, said, revoked in _said(connection, asked, "review", _DENIALS_FIRST)
    ]


def gather_waivers(connection: Connection, asked: Asked) -> list[JsonObject]:
    return [
        {
            "record": row.record,
            "criterion": said["criterion"],
            "owner": said["by"],
            "artifact": said["artifact"],
            "gate": said["gate"],
            "policy_version": said["policy_version"],
            "to": said["to"],
            "at": time_text(connection, row.at),
            "starts_at": time_text(connection, row.at),
            "expires_at": said["expires_at"],
            "reason": said["reason"],
            "revoked": revoked,
        }
        for row, said, revoked in _said(connection, asked, "waiver")
    ]


def _said(
    connection: Connection, asked: Asked, table: str, before: str = ""
) -> list[tuple[Any, JsonObject, bool]]:
    rows = read(
        connection,
        _SAID.format(table, before),
        asked.namespace,
        artifact=asked.artifact,
        gate=asked.gate.name,
        target=asked.target,
    )
    said = effects(connection, asked.namespace, (row.record for row in rows))
    return [(row, json.loads(row.document), "revoked" in said.get(row.record, ())) for row in rows]
