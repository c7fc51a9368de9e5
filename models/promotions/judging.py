"""May this target of a registry hold this artifact now? Asked before a grant, and again under the log lock when it is
written: what is answered there is what stands in the log at that moment."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from models.bulk import Row
from models.gates.asking import effects
from models.gates.in_force import Standing, standing_of, why
from models.gates.makers import of_ended_keys
from models.gates.standing_rows import STANDING, STANDING_TYPES, StandingRow
from models.kinds.promotions import Granted, RefusalCode
from models.promotions.incumbents import incumbent_refusal
from models.promotions.verdicts import WHO, Allowed, FindTarget, Refused, Wanted, refused
from models.questions import Question, ask_together

_WITH_BESIDE: Final = (
    f"{STANDING} UNION ALL SELECT 'bound', artifact, '', '', '', 0, NULL, 0, '' FROM model_version "
    "WHERE namespace = :namespace AND registry_name = :registry AND model = :model AND version = :version "
    "AND NOT EXISTS (SELECT 1 FROM revocation said WHERE said.namespace = :namespace "
    "AND said.revoked = model_version.record AND said.effect = 'revoked') "
    "UNION ALL SELECT 'held', '', '', '', '', 0, NULL, 0, '' "
    "WHERE EXISTS (SELECT 1 FROM promotion WHERE namespace = :namespace "
    "AND artifact = :artifact AND registry_name = :registry AND model = :model AND target = :target "
    "AND state = 'promoted' AND NOT EXISTS (SELECT 1 FROM revocation said WHERE said.namespace = :namespace "
    "AND said.revoked = promotion.record))"
)
"""What stands, and beside it what the version was recorded with, and whether the artifact held this target before."""
MAX_SAID: Final = 3
"""Criteria that a sentence for whoever moves a name holds; the decision's page has all."""


def standing_question(wanted: Wanted) -> Question:
    """What `judge` has to know of the artifact that is to be released."""
    more = {
        "registry": wanted.registry,
        "model": wanted.model,
        "version": wanted.version or "",
        "target": wanted.target,
        "artifact": wanted.artifact,
    }
    return Question(_WITH_BESIDE, STANDING_TYPES, wanted.namespace, more=more)


def judge(
    connection: Connection,
    wanted: Wanted,
    find_target: FindTarget,
    now: datetime,
    answer: Sequence[tuple[Any, ...]] | None = None,
) -> Allowed | Refused:
    """`now` is not before the last commit; `answer` is that to `standing_question`, None when it was not asked."""
    place = find_target(wanted.target)
    if wanted.action == "demote":
        verdict = _judge_demotion(connection, wanted, place, now)
    else:
        if answer is None:
            (answer,) = ask_together(connection, [standing_question(wanted)])
        verdict = _judge_release(wanted, place, find_target, [StandingRow._make(row) for row in answer], now)
    if isinstance(verdict, Allowed) and wanted.action != "register" and _is_under_way(place, now):
        return refused(
            "under_way", f"another promotion to {wanted.target} is under way; try again in a moment"
        )
    return verdict


def fallen(found: Standing, action: Granted, decision: str | None) -> str | None:
    """Why the decision that a grant rests on no longer stands, None while it does."""
    if found.decision is None or found.decision.record != decision:
        return "there is a later decision about it: check again"
    if found.is_active or (action == "rollback" and found.has_only_lapsed):
        return None
    return why(found)


def taken_back(connection: Connection, namespace: str, record: str) -> bool:
    """Whether a record was revoked or contested, or its key revoked."""
    return bool(effects(connection, namespace, [record])) or bool(
        of_ended_keys(connection, namespace, [record])
    )


def _judge_demotion(
    connection: Connection, wanted: Wanted, place: Row | None, now: datetime
) -> Allowed | Refused:
    record = place["demotion"] if place is not None else None
    if (
        place is None
        or record is None
        or place["demotion_until"] <= now
        or taken_back(connection, wanted.namespace, record)
    ):
        return refused(
            "no_demotion",
            f"nobody allowed {wanted.target} to be emptied; an approver allows it once, for 15 minutes, with "
            "`shipworthy demote` or POST /v1/demotions",
        )
    return Allowed("demote", f"A person allowed {wanted.target} to be emptied.", demotion=record)


def _judge_release(
    wanted: Wanted, place: Row | None, find_target: FindTarget, rows: Sequence[StandingRow], now: datetime
) -> Allowed | Refused:
    assert wanted.artifact is not None
    beside = {row.what: row.one for row in rows if row.what in ("bound", "held")}
    found = standing_of(rows, wanted.model, wanted.target, wanted.artifact, now)
    decision = None if found.decision is None else found.decision.record
    bound = beside.get("bound", wanted.artifact)
    if bound != wanted.artifact:
        return refused(
            "artifact_swapped",
            f"the version was recorded with artifact {bound}, and the registry holds {wanted.artifact} under its name; "
            "register what is there as a new version.",
            decision,
        )
    if "held" in beside and (found.is_active or found.has_only_lapsed):
        return _again(wanted, place, found)
    if not found.is_active:
        code = found.obstacles[0]
        return Refused(code, _reason(found), found.missing, _who(code, found), decision)
    refusal = None if wanted.action == "register" else incumbent_refusal(wanted, place, find_target, found)
    return refusal or _allowed("register" if wanted.action == "register" else "promote", found)


def held_back(criteria: Iterable[Mapping[str, Any]]) -> str:
    """What the first criteria say that keep an artifact from passing; they are as decisions hold them."""
    said = [f"{each['id']}: {each['sentence']}" for each in criteria if each["effect"] in ("block", "review")]
    more = f" {len(said) - MAX_SAID} more." if len(said) > MAX_SAID else ""
    return " ".join(said[:MAX_SAID]) + more


def _reason(found: Standing) -> str:
    if found.decision is None or found.obstacles[0] != "not_passed":
        return found.missing[0]
    return f"{found.missing[0]} {held_back(found.predicate['criteria'])}".rstrip()


def _again(wanted: Wanted, place: Row | None, found: Standing) -> Allowed:
    """What held the target before goes back, whatever is there now: that must never be slower than a promotion."""
    if found.is_active and place is not None and place["artifact"] == wanted.artifact:
        return _allowed("promote", found)
    if found.is_active:
        return _allowed("rollback", found, f"Rolled back: it held {wanted.target} before. {why(found)}")
    return _allowed(
        "rollback",
        found,
        f"Rolled back: it held {wanted.target} before, and what its pass rests on still stands.",
    )


def _allowed(action: Granted, found: Standing, sentence: str | None = None) -> Allowed:
    assert found.decision is not None
    gate = found.predicate.get("gate") if found.decision.type == "gate" else None
    return Allowed(
        action,
        sentence or why(found),
        decision=found.decision.record,
        policy_digest=None if gate is None else gate["digest"],
    )


def _who(code: RefusalCode, found: Standing) -> tuple[str, ...]:
    waits = found.decision is not None and found.decision.verdict == "review_required"
    return ("approver",) if code == "not_passed" and waits else WHO[code]


def _is_under_way(place: Row | None, now: datetime) -> bool:
    return place is not None and place["open_grant"] is not None and place["open_until"] > now
