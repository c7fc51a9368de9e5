"""Waivers, what they change, and the one function that says whether a waiver or a review counts now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Annotated, Final

from pydantic import Field

from gates.release.context import Context
from gates.release.facts import Review, Waiver
from gates.release.results import CriterionResult
from gates.release.texts import day
from gates.release.values import Duration, Identifier, Items, PolicyPart

_WAIVABLE: Final = frozenset({"failed", "inconclusive", "error"})


class WaiverRule(PolicyPart):
    allowed: Items[Identifier]
    """Criteria that may be waived."""
    max_duration: Duration
    approvals: Annotated[int, Field(ge=1, le=10)] = 2
    """Different persons who must have given one."""
    max_per_decision: Annotated[int, Field(ge=0)]
    """Criteria that one decision may waive."""


def is_active(grant: Waiver | Review, now: datetime, longest: timedelta | None = None) -> bool:
    """Whether a waiver or a review counts at `now`: begun, not revoked, not expired, and given no longer ago than
    `longest`. The last instant is excluded. Every path that asks uses this function."""
    begins = grant.starts_at if isinstance(grant, Waiver) else grant.at
    if grant.revoked or now < begins:
        return False
    if grant.expires_at is not None and now >= grant.expires_at:
        return False
    return longest is None or now < begins + longest


def is_bound(grant: Waiver | Review, context: Context) -> bool:
    """Whether it was given for this artifact, gate, policy version and target: another one voids it."""
    return (grant.artifact, grant.gate, grant.policy_version, grant.to) == (
        context.facts.artifact.digest,
        context.gate,
        context.version,
        context.target,
    )


@dataclass(frozen=True, slots=True)
class ActiveWaiver:
    """A criterion that enough people waived. `record` completed it; at `expires_at` the first of them ends."""

    record: str
    records: tuple[str, ...]
    owners: frozenset[str]
    expires_at: datetime


def active_waivers(rule: WaiverRule | None, context: Context) -> Mapping[str, ActiveWaiver]:
    """By criterion. A waiver counts when the policy lists its criterion, when it lasts no longer than allowed, and
    when its person is known and neither a trainer nor the author of the policy."""
    trainers, author = context.trainers(), context.facts.policy.owner
    if rule is None or not trainers or author is None:
        return MappingProxyType({})
    given: dict[str, dict[str, Waiver]] = {}
    for waiver in sorted(context.facts.waivers, key=lambda each: (each.starts_at, each.record)):
        if (
            waiver.owner is None
            or waiver.owner in trainers | {author}
            or waiver.criterion not in rule.allowed
        ):
            continue
        is_short = waiver.expires_at - waiver.starts_at <= rule.max_duration
        if is_short and is_bound(waiver, context) and is_active(waiver, context.now):
            given.setdefault(waiver.criterion, {})[waiver.owner] = waiver
    return MappingProxyType(
        {
            criterion: _complete(list(by_owner.values()))
            for criterion, by_owner in given.items()
            if len(by_owner) >= rule.approvals
        }
    )


def _complete(waivers: Sequence[Waiver]) -> ActiveWaiver:
    return ActiveWaiver(
        record=waivers[-1].record,
        records=tuple(each.record for each in waivers),
        owners=frozenset(each.owner for each in waivers if each.owner is not None),
        expires_at=min(each.expires_at for each in waivers),
    )


def waived(
    rule: WaiverRule | None, results: Sequence[CriterionResult], waivers: Mapping[str, ActiveWaiver]
) -> list[CriterionResult]:
    """Applies waivers in the order of the results, to as many criteria as one decision may waive."""
    left = 0 if rule is None else rule.max_per_decision
    applied = []
    for result in results:
        waiver = waivers.get(result.id)
        # What the facts as a whole or the budget refuse is no matter of this criterion alone.
        can_be = result.outcome in _WAIVABLE and result.state not in ("refused", "budget_spent")
        if waiver is not None and can_be and left > 0:
            left -= 1
            inputs = (*result.finding.inputs, *(("waiver", record) for record in waiver.records))
            ends = (*result.finding.good_until, waiver.expires_at)
            sentence = f"Waived until {day(waiver.expires_at)}: {result.finding.sentence}"
            finding = replace(result.finding, sentence=sentence, inputs=inputs, good_until=ends)
            result = replace(result, waiver=waiver.record, finding=finding)
        applied.append(result)
    return applied
