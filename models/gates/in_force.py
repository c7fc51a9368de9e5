"""Whether a pass may be used now: the one answer that a promotion rests on.

A decision never changes; what it rests on does. Everything is asked anew each time, by a fixed number of indexed
reads, and whatever is not plainly in order makes the answer no.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

import orjson
from pydantic import ValidationError
from sqlalchemy import Connection

from gates.release.facts import Review, Waiver
from gates.release.waivers import is_active
from models.columns import UTCDateTime
from models.fields import instant_text
from models.gates.asking import read
from models.gates.queries import CurrentGate, StoredDecision

_STANDS: Final = (
    "NOT EXISTS (SELECT 1 FROM revocation said WHERE said.namespace = later.namespace "
    "AND said.revoked = later.record AND said.effect = 'revoked')"
)
_RESTED: Final = (
    "rested.namespace = :namespace AND rested.decision = (SELECT record FROM latest) "
    "AND later.position > rested.position AND later.outcome <> 'passed' AND {stands} "
)
_AFTER: Final = "later.position > (SELECT position FROM latest) AND {stands} "
# One statement: what an answer costs is mostly their number. The first row set is the newest decision, the others what
# became of it since. What was said before it was known to it, and judged: contested data may pass with a review. Later
# findings are those about the same thing that are no pass: of the same kind of evidence, the same contract, the same
# checkpoint, a checksum of the artifact; and whoever denied the artifact.
STANDING: Final = (
    (
        "WITH latest AS (SELECT record, type, verdict, gate, gate_version, valid_until, position, document "
        "FROM gate_decision WHERE artifact = :artifact AND namespace = :namespace AND mode = 'enforce' "
        "AND model = :model AND target = :target ORDER BY position DESC LIMIT 1) "
        "SELECT 'decision' AS what, record AS one, type AS two, verdict AS three, gate AS four, "
        "gate_version AS number, valid_until AS moment, position, document FROM latest "
        "UNION ALL SELECT 'gate', name, digest, document_digest, record, version, NULL, 0, owner FROM gate "
        "WHERE model = :model AND namespace = :namespace AND target = :target "
        "UNION ALL SELECT 'taken back', said.revoked, said.effect, record.kind, '', 0, NULL, 0, '' "
        "FROM decision_input rested JOIN revocation said ON said.revoked = rested.record "
        "AND said.namespace = rested.namespace JOIN record ON record.digest = rested.record "
        "WHERE rested.namespace = :namespace AND rested.decision = (SELECT record FROM latest) "
        "AND said.position > rested.position "
        "UNION ALL SELECT 'taken back', said.revoked, said.effect, 'decision', '', 0, NULL, 0, '' FROM revocation said "
        "WHERE said.namespace = :namespace AND said.revoked = (SELECT record FROM latest) "
        "UNION ALL SELECT 'key', rested.key_id, '', '', '', 0, NULL, 0, '' FROM decision_input rested "
        "JOIN record ended ON ended.idempotency_key = 'key.revoked|' || rested.key_id "
        "AND ended.namespace = rested.namespace WHERE rested.namespace = :namespace "
        "AND rested.decision = (SELECT record FROM latest) AND ended.kind = 'key.revoked' "
        "AND ended.position > rested.position "
        "UNION ALL SELECT 'later', later.kind, later.record, '', '', 0, NULL, 0, '' FROM decision_input rested "
        "JOIN evidence was ON was.record = rested.record AND was.namespace = rested.namespace "
        "JOIN evidence later ON later.subject = was.subject AND later.namespace = was.namespace "
        "AND later.kind = was.kind WHERE {rested}"
        "UNION ALL SELECT 'later', 'contract ' || later.contract, later.record, '', '', 0, NULL, 0, '' "
        "FROM decision_input rested "
        "JOIN contract_check was ON was.record = rested.record AND was.namespace = rested.namespace "
        "JOIN contract_check later ON later.manifest = was.manifest AND later.namespace = was.namespace "
        "AND later.contract = was.contract AND later.object = was.object WHERE {rested}"
        "UNION ALL SELECT 'later', 'checkpoint verification', later.record, '', '', 0, NULL, 0, '' "
        "FROM decision_input rested "
        "JOIN checkpoint_verification was ON was.record = rested.record AND was.namespace = rested.namespace "
        "JOIN checkpoint_verification later ON later.checkpoint = was.checkpoint AND later.namespace = was.namespace "
        "WHERE {rested}"
        "UNION ALL SELECT 'later', 'checksum', later.record, '', '', 0, NULL, 0, '' FROM checkpoint_verification later "
        "WHERE later.checkpoint = :artifact AND later.namespace = :namespace AND later.outcome <> 'passed' AND {after}"
        "UNION ALL SELECT 'later', later.kind, later.record, '', '', 0, NULL, 0, '' FROM evidence later "
        "WHERE later.subject = :artifact AND later.namespace = :namespace AND later.kind = 'artifact-checksum' "
        "AND later.outcome <> 'passed' AND {after}"
        "UNION ALL SELECT 'later', 'denial', later.record, '', '', 0, NULL, 0, '' FROM review later "
        "WHERE later.artifact = :artifact AND later.namespace = :namespace AND later.target = :target "
        "AND later.action = 'denied' AND {after}"
    )
    .replace("{rested}", _RESTED)
    .replace("{after}", _AFTER)
    .replace("{stands}", _STANDS)
)
"""Rows of nine columns by what they are: what, one, two, three, four, number, moment, position, document. Others that
are wanted in the same moment can be asked for with a UNION ALL; their `what` has to be another."""


Obstacle = Literal["no_gate", "undecided", "not_passed", "lapsed", "fallen"]
"""Why a pass may not be used. `lapsed`: its time, that of an approval or waiver in it, or its policy version is past;
`fallen`: what it rests on was taken back, or did not pass later."""


@dataclass(frozen=True, slots=True)
class Standing:
    """`decision` is the newest enforced one, whether it may be used or not; `missing` says what would have to be done,
    and is empty exactly when it may. `obstacles` are the kinds of these. `gate` stands before the target now."""

    decision: StoredDecision | None
    gate: CurrentGate | None
    missing: tuple[str, ...]
    obstacles: tuple[Obstacle, ...] = ()

    @property
    def is_active(self) -> bool:
        return not self.missing

    @property
    def has_only_lapsed(self) -> bool:
        """Whether nothing but time and newer policies stands in the way of what a gate let pass."""
        is_of_gate = self.decision is not None and self.decision.type == "gate"
        return is_of_gate and set(self.obstacles) == {"lapsed"}


def standing(
    connection: Connection, namespace: str, model: str, target: str, artifact: str, now: datetime
) -> Standing:
    """What stands about this artifact and this place at `now`, which is not before the last commit."""
    rows = read(connection, STANDING, namespace, model=model, target=target, artifact=artifact)
    return standing_of(connection, rows, model, target, artifact, now)


def standing_of(
    connection: Connection, rows: Iterable[Any], model: str, target: str, artifact: str, now: datetime
) -> Standing:
    """The same from the rows of STANDING."""
    found: dict[str, dict[Any, None]] = defaultdict(dict)
    for row in rows:
        found[row.what][row] = None
    gate = next((_gate(row, model, target) for row in found["gate"]), None)
    decision = next((_decision(connection, row, model, target, artifact) for row in found["decision"]), None)
    if decision is None:
        return Standing(None, gate, (_undecided(gate, model, target),), (_without_decision(gate),))
    missing = tuple(_missing(gate, decision, found, now))
    return Standing(
        decision, gate, tuple(sentence for _, sentence in missing), tuple(kind for kind, _ in missing)
    )


def _gate(row: Any, model: str, target: str) -> CurrentGate:  # noqa: ANN401 - a row of STANDING
    return CurrentGate(row.one, row.number, row.two, row.three, model, target, row.document, row.four)


def _decision(
    connection: Connection,
    row: Any,  # noqa: ANN401 - a row of STANDING
    model: str,
    target: str,
    artifact: str,
) -> StoredDecision:
    until = UTCDateTime().process_result_value(row.moment, connection.dialect)
    return StoredDecision(
        record=row.one,
        type=row.two,
        verdict=row.three,
        model=model,
        target=target,
        artifact=artifact,
        gate=row.four,
        gate_version=row.number,
        valid_until=until,
        position=row.position,
        document=row.document,
    )


def why(found: Standing) -> str:
    """One sentence."""
    decision = found.decision
    if decision is None or not found.is_active:
        return found.missing[0]
    until = instant_text(decision.valid_until)
    if decision.type == "break_glass":
        return f"BREAK-GLASS: two persons let it pass its gate until {until}; no gate has passed it."
    return (
        f"Gate {decision.gate} version {decision.gate_version} passed it; the pass may be used until {until}."
    )


def _without_decision(gate: CurrentGate | None) -> Obstacle:
    return "no_gate" if gate is None else "undecided"


def _undecided(gate: CurrentGate | None, model: str, target: str) -> str:
    if gate is None:
        return (
            f"No gate stands before {target} of model {model}, and nothing goes there without one; an author publishes "
            "a policy with PUT /v1/gates/{name}."
        )
    return f"Gate {gate.name} has not decided about this artifact; ask it with POST /v1/gates/{gate.name}/decisions."


def _missing(
    gate: CurrentGate | None, decision: StoredDecision, found: Mapping[str, Iterable[Any]], now: datetime
) -> Iterable[tuple[Obstacle, str]]:
    again = "decide again with POST /v1/gates/{name}/decisions"
    predicate: Mapping[str, Any] = orjson.loads(decision.document)
    if decision.verdict not in ("passed", "break_glass"):
        yield (
            "not_passed",
            f"The latest decision is {decision.verdict.replace('_', ' ')}: {predicate['sentence']}",
        )
        yield from (("not_passed", sentence) for sentence in predicate["unblocks"])
    if decision.valid_until is None or now >= decision.valid_until:
        ended = instant_text(decision.valid_until)
        yield "lapsed", f"The decision could be used until {ended}, and that time is over; {again}."
    yield from _changed_gate(gate, decision)
    for row in found["taken back"]:
        yield (
            "fallen",
            f"The {row.three} record {row.one} that it rests on was {row.two} since; replace it, then {again}.",
        )
    for row in found["key"]:
        yield (
            "fallen",
            f"Key {row.one}, whose evidence it rests on, was revoked; have it made again with another, then {again}.",
        )
    for row in found["later"]:
        yield "fallen", f"A later {row.one}, record {row.two}, did not pass; look at it, then {again}."
    yield from (("lapsed", sentence) for sentence in _expired(predicate, now))


def _changed_gate(gate: CurrentGate | None, decision: StoredDecision) -> Iterable[tuple[Obstacle, str]]:
    if decision.type == "break_glass":
        return
    if gate is None:
        yield "no_gate", _undecided(None, decision.model, decision.target)
    elif (gate.name, gate.version) != (decision.gate, decision.gate_version):
        yield (
            "lapsed",
            f"It was decided by version {decision.gate_version} of gate {decision.gate}; version {gate.version} of "
            f"{gate.name} stands there now: decide again with POST /v1/gates/{gate.name}/decisions.",
        )


def _expired(predicate: Mapping[str, Any], now: datetime) -> Iterable[str]:
    """Waivers and reviews that a pass rests on, by the same function that judged them."""
    for waiver in predicate["waivers"]:
        if not _stands(Waiver, waiver, now):
            yield f"The waiver of {waiver.get('criterion')} has expired; meet the criterion, or have it waived again."
    for review in predicate["reviews"]:
        if review.get("action") == "approve" and not _stands(Review, review, now):
            yield "An approval has expired; have the artifact reviewed again, then decide again."


def _stands(kind: type[Waiver] | type[Review], grant: Mapping[str, Any], now: datetime) -> bool:
    try:
        return is_active(kind.model_validate(dict(grant)), now)
    except ValidationError:
        return False
