"""What a move would most likely be allowed by, so that its record can be drafted before it is judged.

One statement, and no verdict: whoever drafts by it has the draft judged under the log lock, where a wrong guess is
found and costs another try.
"""

from typing import Any, Final

import orjson
from sqlalchemy import Connection

from models.gates.asking import read
from models.kinds.promotions import Granted
from models.promotions.verdicts import Allowed, Wanted

_SKETCH: Final = (
    "SELECT decision.record, decision.type, decision.verdict, decision.document, "
    "EXISTS (SELECT 1 FROM promotion WHERE namespace = :namespace AND artifact = :artifact "
    "AND registry_name = :registry AND model = :model AND target = :target AND state = 'promoted') AS held, "
    "(SELECT artifact FROM release_target WHERE namespace = :namespace AND registry_name = :registry "
    "AND model = :model AND target = :target) AS present "
    "FROM gate_decision decision WHERE decision.artifact = :artifact AND decision.namespace = :namespace "
    "AND decision.mode = 'enforce' AND decision.model = :model AND decision.target = :target "
    "ORDER BY decision.position DESC LIMIT 1"
)


def sketch(connection: Connection, wanted: Wanted) -> Allowed | None:
    """None for what no pass can allow, and where the latest decision is none."""
    if wanted.action == "demote":
        return None
    rows = read(
        connection,
        _SKETCH,
        wanted.namespace,
        registry=wanted.registry,
        model=wanted.model,
        target=wanted.target,
        artifact=wanted.artifact,
    )
    if not rows or rows[0].verdict not in ("passed", "break_glass"):
        return None
    record, kind, _, document, held, present = rows[0]
    predicate: dict[str, Any] = orjson.loads(document)
    gate = predicate.get("gate") if kind == "gate" else None
    goes_back = wanted.action == "promote" and held and present != wanted.artifact
    action: Granted = "register" if wanted.action == "register" else "rollback" if goes_back else "promote"
    return Allowed(action, "", decision=record, policy_digest=None if gate is None else gate["digest"])
