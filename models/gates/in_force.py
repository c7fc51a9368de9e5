"""Whether a pass may be used now: the one answer that a promotion rests on.

A decision never changes; what it rests on does. Everything is asked anew each time, by a fixed number of indexed
reads, and whatever is not plainly in order makes the answer no.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import orjson
from pydantic import ValidationError
from sqlalchemy import Connection

from gates.release.facts import Review, Waiver
from gates.release.waivers import is_active
from models.columns import instant
from models.fields import instant_text
from models.gates.asking import read
from models.gates.queries import CurrentGate, StoredDecision
from models.gates.standing_rows import STANDING, StandingRow

Obstacle = Literal["no_gate", "undecided", "not_passed", "lapsed", "fallen"]
"""Why a pass may not be used. `lapsed`: its time, that of an approval or waiver in it, or its policy version is past;
`fallen`: what it rests on was taken back, or did not pass later."""


@dataclass(frozen=True, slots=True)
class Standing:
    """`decision` is the newest enforced one, whether it may be used or not; `missing` says what would have to be done,
    and is empty exactly when it may. `obstacles` are the kinds of these. `gate` stands before the target now, and
    `predicate` is what the decision's document says."""

    decision: StoredDecision | None
    gate: CurrentGate | None
    missing: tuple[str, ...]
    obstacles: tuple[Obstacle, ...] = ()
    predicate: Mapping[str, Any] = field(default_factory=dict)

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
    return standing_of(rows, model, target, artifact, now)


def standing_of(
    rows: Iterable[StandingRow], model: str, target: str, artifact: str, now: datetime
) -> Standing:
    """The same from the rows of STANDING."""
    found: dict[str, dict[Any, None]] = defaultdict(dict)
    for row in rows:
        found[row.what][row] = None
    gate = next((_gate(row, model, target) for row in found["gate"]), None)
    decision = next((_decision(row, model, target, artifact) for row in found["decision"]), None)
    if decision is None:
        return Standing(None, gate, (_undecided(gate, model, target),), (_without_decision(gate),))
    predicate: Mapping[str, Any] = orjson.loads(decision.document)
    missing = tuple(_missing(gate, decision, predicate, found, now))
    sentences, kinds = tuple(sentence for _, sentence in missing), tuple(kind for kind, _ in missing)
    return Standing(decision, gate, sentences, kinds, predicate)


def _gate(row: StandingRow, model: str, target: str) -> CurrentGate:
    return CurrentGate(row.one, row.number, row.two, row.three, model, target, row.document, row.four)


def _decision(row: StandingRow, model: str, target: str, artifact: str) -> StoredDecision:
    return StoredDecision(
        record=row.one,
        type=row.two,
        verdict=row.three,
        model=model,
        target=target,
        artifact=artifact,
        gate=row.four,
        gate_version=row.number,
        valid_until=instant(row.moment),
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
    gate: CurrentGate | None,
    decision: StoredDecision,
    predicate: Mapping[str, Any],
    found: Mapping[str, Iterable[Any]],
    now: datetime,
) -> Iterable[tuple[Obstacle, str]]:
    again = "decide again with POST /v1/gates/{name}/decisions"
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
