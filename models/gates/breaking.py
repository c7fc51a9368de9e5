"""Who wants to pass by a gate: wishes that still count and that no decision has used up."""

import json
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from models.columns import UTCDateTime
from models.gates.asking import JsonObject, read
from models.gates.makers import of_ended_keys

MAX_WISHES: Final = 100
_ASKED: Final = (
    "SELECT break_glass.document FROM break_glass WHERE namespace = :namespace AND artifact = :artifact "
    "AND model = :model AND target = :target AND expires_at > :now "
    "AND NOT EXISTS (SELECT 1 FROM decision_input used WHERE used.namespace = :namespace "
    "AND used.record = break_glass.record) "
    "AND NOT EXISTS (SELECT 1 FROM revocation said WHERE said.namespace = :namespace "
    "AND said.revoked = break_glass.record) "
    f"ORDER BY position DESC LIMIT {MAX_WISHES}"
)


def find_asked(
    connection: Connection, namespace: str, model: str, target: str, artifact: str, now: datetime
) -> list[JsonObject]:
    """Bodies with `record` and `at`, the newest first. A wish counts for one decision: the next takes two persons
    again, and one of a key that was revoked counts for none: nobody knows whose wish it was."""
    when = UTCDateTime().process_bind_param(now, connection.dialect)
    rows = read(connection, _ASKED, namespace, artifact=artifact, model=model, target=target, now=when)
    asked: list[JsonObject] = [json.loads(row.document) for row in rows]
    bad = of_ended_keys(connection, namespace, (each["record"] for each in asked)) if asked else set()
    return [each for each in asked if each["record"] not in bad]
