"""review: people who answer for a release by name, where the policy asks for them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from gates.release.context import Context
from gates.release.criteria.base import Criterion, OwnProblem
from gates.release.facts import Review
from gates.release.numbers import Unusable
from gates.release.results import CriterionResult, Finding, Inputs
from gates.release.texts import counted, day, joined
from gates.release.values import Duration, Items, Line
from gates.release.waivers import is_active, is_bound

Trigger: TypeAlias = Literal[
    "inconclusive", "contested-data-provenance", "first-release", "business-conditions-changed"
]
Excluded: TypeAlias = Literal["trainer", "policy-author", "waiver-grantor"]

_ALL: Final[tuple[Excluded, ...]] = ("trainer", "policy-author", "waiver-grantor")
_WORDS: Final[Mapping[Excluded, str]] = {
    "trainer": "who trained it",
    "policy-author": "who wrote the policy",
    "waiver-grantor": "who waived a criterion",
}


class ReviewCriterion(Criterion):
    """Approvals of `approvals` different persons, none of them excluded, clear what asks for review. It is asked for
    when a trigger fired or another criterion asks for review; without `triggeredBy` always."""

    kind: Literal["review"]
    # A review that may be skipped is none, and a denial must never weigh less than no answer.
    severity: Literal["block"]
    approvals: Annotated[int, Field(ge=1, le=10)]
    roles: Annotated[Items[Line], Field(min_length=1)]
    """Groups of the approvers' keys, one of which an approver must have."""
    excluding: Items[Excluded] = _ALL
    triggered_by: Annotated[Items[Trigger], Field(min_length=1)] | None = None
    expires_after: Duration
    """How long an approval counts."""

    def own_problems(self) -> list[OwnProblem]:
        missing = [each for each in _ALL if each not in self.excluding]
        if missing:
            message = f"must hold all of {joined(_ALL)}: nobody may approve what is their own; add {joined(missing)}"
            return [("excluding", message)]
        return []

    def judge(
        self,
        context: Context,
        results: Sequence[CriterionResult],
        triggers: Collection[Trigger],
        waiver_grantors: Collection[str],
    ) -> Finding:
        """`results` are those of the other criteria, waivers applied."""
        reviews = [each for each in context.facts.reviews if is_bound(each, context)]
        standing = _standing(reviews, context.now)
        denials = [each for each in standing if each.action == "deny"]
        if denials:
            return Finding(
                outcome="failed",
                state="denied",
                code="denied",
                sentence=f"The release was denied by {counted(len(denials), 'person')}.",
                inputs=_inputs(denials),
            )
        asked = self._asked(results, triggers)
        if not asked:
            return Finding(outcome="passed", sentence="Nothing happened that asks for a review.")
        return self._approvals(context, standing, asked, waiver_grantors)

    def _asked(self, results: Sequence[CriterionResult], triggers: Collection[Trigger]) -> list[str]:
        """Why a review is asked for, in words."""
        if self.triggered_by is None:
            return ["every release"]
        fired = [each.replace("-", " ") for each in self.triggered_by if each in triggers]
        return [*fired, *(result.id for result in results if result.effect == "review")]

    def _approvals(
        self,
        context: Context,
        standing: Sequence[Review],
        asked: Sequence[str],
        waiver_grantors: Collection[str],
    ) -> Finding:
        trainers, author = context.trainers(), context.facts.policy.owner
        if not trainers or author is None:
            whom = "wrote the policy" if trainers else "trained the artifact"
            sentence = f"It is not known who {whom}, so that nobody can be shown to be somebody else."
            raise Unusable("unknown_person", sentence)
        excluded = {*trainers, author, *waiver_grantors}
        approvals = {
            each.owner: each
            for each in standing
            if each.action == "approve"
            and each.owner is not None
            and each.owner not in excluded
            and set(each.groups) & set(self.roles)
            and is_active(each, context.now, self.expires_after)
        }
        given = sorted(approvals.values(), key=lambda each: (each.at, each.record))
        why = f"asked for by {joined(list(dict.fromkeys(asked)))}"
        if len(given) < self.approvals:
            nobody = joined([_WORDS[each] for each in self.excluding], "or")
            sentence = (
                f"Needs review, {why}: {len(given)} of {self.approvals} approvals by {joined(self.roles, 'or')}, "
                f"not by {nobody}."
            )
            return Finding(
                outcome="error",
                state="unmet",
                code="too_few_approvals",
                sentence=sentence,
                n=len(given),
                bound=counted(self.approvals, "approval"),
                inputs=_inputs(given),
            )
        ends = tuple(_end(each, self) for each in given)
        sentence = (
            f"{counted(len(given), 'person')} approved it, {why}; the approvals count until {day(min(ends))}."
        )
        return Finding(
            outcome="passed",
            state="approved",
            sentence=sentence,
            n=len(given),
            bound=counted(self.approvals, "approval"),
            inputs=_inputs(given),
            good_until=ends,
        )


def _standing(reviews: Sequence[Review], now: datetime) -> list[Review]:
    """The last word of each person that still counts. At the same instant a denial is the last word; one whose
    person is unknown stands for itself."""
    words: dict[str, Review] = {}
    for review in sorted(reviews, key=lambda each: (each.at, each.action == "deny", each.record)):
        if review.action != "request" and is_active(review, now):
            words[review.owner or review.record] = review
    return list(words.values())


def _inputs(reviews: Sequence[Review]) -> Inputs:
    return tuple(("review", each.record) for each in reviews)


def _end(review: Review, criterion: ReviewCriterion) -> datetime:
    end = review.at + criterion.expires_after
    return end if review.expires_at is None else min(end, review.expires_at)
