"""What a reconciler saw in a registry, compared with the records and kept."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from anyio import to_thread
from sqlalchemy import Connection

from api.deciding import judge_now
from api.keeping import keep_blob
from api.policies import published_policy
from api.schemas.gates import DecisionRequest
from api.schemas.promotions import ReconciliationRequest
from api.services import Services
from models.actor import Actor
from models.bulk import Row
from models.errors import ShipworthyError
from models.fields import instant_text
from models.gates.asking import JsonObject
from models.gates.in_force import Standing, standing, why
from models.gates.queries import CurrentGate, get_gate_version
from models.kinds.registry import KINDS
from models.ledger.drafts import Item, Stored, make_draft
from models.ledger.head import read_head
from models.promotions.findings import Finding, Place, Sighting, Today, findings_of, needs_judging
from models.promotions.judging import held_back
from models.promotions.reconciliations import find_latest, held_places, sign, unconfirmed_grants
from models.promotions.verdicts import DECIDERS
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize

MAX_JUDGED: Final = 100
"""Promoted models that are judged again at once: 30 to 50 ms each, most of it in the database."""
KEPT_TIME: Final = timedelta(hours=1)
"""What looks the same is recorded again after so long."""
SCHEMA: Final = "shipworthy.reconciliation/1"


@dataclass(frozen=True, slots=True)
class Compared:
    findings: Sequence[Finding]
    judged: int
    not_judged: int


async def reconcile(services: Services, actor: Actor, asked: ReconciliationRequest) -> JsonObject:
    """The record of it, or the one that says the same already, with all findings."""
    compared = await to_thread.run_sync(_compared, services, actor.namespace, asked)
    findings = [finding_json(each) for each in compared.findings]
    report: JsonObject = {
        "schema": SCHEMA,
        "observed": [each.model_dump() for each in asked.observed],
        "findings": findings,
    }
    data = canonicalize(report)
    digest = sha256_digest(data)
    stored = await to_thread.run_sync(_signed, services, actor.namespace, asked, digest)
    if stored is None:
        await to_thread.run_sync(keep_blob, services.blobs, actor.namespace, digest, data)
        body: JsonObject = {
            "registry": asked.registry,
            "started_at": instant_text(asked.started_at),
            "finished_at": instant_text(asked.finished_at),
            "complete": asked.complete,
            "observed": len(asked.observed),
            "findings": dict(Counter(each.kind for each in compared.findings)),
            "judged": compared.judged,
            "not_judged": compared.not_judged,
            "report": digest,
        }
        kind = KINDS["registry.reconciled"]
        draft = make_draft(kind, actor, body, kind.body.model_validate(body))
        (outcome,) = await services.ledger.append_all([Item((draft,))])
        if isinstance(outcome, ShipworthyError):
            raise outcome
        stored = outcome[0]
    return {
        "record": stored.digest,
        "position": stored.position,
        "created": stored.created,
        "findings": findings,
        "judged": compared.judged,
        "not_judged": compared.not_judged,
    }


def finding_json(finding: Finding) -> JsonObject:
    return asdict(finding) | {"since": instant_text(finding.since), "who": list(finding.who)}


def _compared(services: Services, namespace: str, asked: ReconciliationRequest) -> Compared:
    seen = [
        Sighting(each.model, each.target, each.version, each.artifact, each.unreadable)
        for each in asked.observed
    ]
    with services.database.reading() as connection:
        head = read_head(connection)
        now = datetime.now(UTC) if head is None else max(datetime.now(UTC), head.committed_at)
        places = held_places(connection, namespace, asked.registry)
        unconfirmed = unconfirmed_grants(connection, namespace, asked.registry, now)
        today, lapsed = _standing_today(connection, namespace, seen, places, now)
        turn = _turn(lapsed, asked.started_at)
        for sighting, gate in turn:
            today[sighting.model, sighting.target] = _judged_today(
                services, connection, namespace, asked.registry, sighting, gate
            )
    found = findings_of(asked.registry, seen, places, today, unconfirmed, complete=asked.complete)
    return Compared(found, len(today), len(lapsed) - len(turn))


def _standing_today(
    connection: Connection,
    namespace: str,
    seen: Sequence[Sighting],
    places: Mapping[Place, Row],
    now: datetime,
) -> tuple[dict[Place, Today], list[tuple[Sighting, CurrentGate]]]:
    """What records alone tell, and those whose pass only lapsed: their gates have to be asked."""
    today: dict[Place, Today] = {}
    lapsed: list[tuple[Sighting, CurrentGate]] = []
    for sighting in seen:
        if sighting.artifact is None:
            continue
        place = places.get((sighting.model, sighting.target))
        found = standing(connection, namespace, sighting.model, sighting.target, sighting.artifact, now)
        if needs_judging(sighting, place) and found.has_only_lapsed and found.gate is not None:
            lapsed.append((sighting, found.gate))
        else:
            today[sighting.model, sighting.target] = _today(found)
    return today, lapsed


def _today(found: Standing) -> Today:
    if found.decision is not None and found.decision.type == "break_glass" and found.is_active:
        return Today(why(found), DECIDERS)
    return Today(None, ()) if found.is_active else Today(found.missing[0], DECIDERS)


def _turn(
    lapsed: Sequence[tuple[Sighting, CurrentGate]], started_at: datetime
) -> Sequence[tuple[Sighting, CurrentGate]]:
    """Where there are too many, each minute has others."""
    if len(lapsed) <= MAX_JUDGED:
        return lapsed
    first = int(started_at.timestamp() // 60) * MAX_JUDGED % len(lapsed)
    return [*lapsed[first:], *lapsed[:first]][:MAX_JUDGED]


def _judged_today(
    services: Services,
    connection: Connection,
    namespace: str,
    registry: str,
    sighting: Sighting,
    gate: CurrentGate,
) -> Today:
    """What the gate says of a promoted artifact whose pass is over; nothing is recorded of it."""
    policy = published_policy(
        services.blobs, namespace, get_gate_version(connection, namespace, gate.name, gate.version)
    )
    wanted = DecisionRequest(
        model=sighting.model,
        artifact=sighting.artifact or "",
        to=sighting.target,
        registry=registry,
    )
    decision = judge_now(services, connection, namespace, gate, policy, wanted).decision
    if decision.verdict == "passed":
        return Today(None, ())
    who = ("approver",) if decision.verdict == "review_required" else ("recorder", "evaluator", "approver")
    said = held_back(each.as_json() for each in decision.criteria)
    return Today(f"Gate {gate.name} would not pass it today: {decision.sentence} {said}", who)


def _signed(services: Services, namespace: str, asked: ReconciliationRequest, report: str) -> Stored | None:
    """The record that says the same, marked as still true."""
    now = datetime.now(UTC)
    with services.database.connection() as connection:
        latest = find_latest(connection, namespace, asked.registry)
        if latest is None or latest.report != report or latest.at < now - KEPT_TIME:
            return None
        sign(connection, namespace, asked.registry, now)
    return Stored("registry.reconciled", latest.record, latest.position, False)
