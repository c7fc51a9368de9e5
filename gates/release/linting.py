"""What the author of a policy should know before it is published: what it will do, and how likely that is."""

import math
from collections.abc import Iterator, Mapping
from typing import Final

from gates.documents.problems import Problem, ProblemSeverity
from gates.documents.source import line_of
from gates.release.criteria.artifact import ArtifactCriterion
from gates.release.criteria.base import Criterion, MetricCriterion
from gates.release.criteria.comparison import Comparison
from gates.release.criteria.evidence import EvidenceCriterion
from gates.release.criteria.review import ReviewCriterion
from gates.release.criteria.slices import Slices
from gates.release.criteria.stability import Stability
from gates.release.criteria.threshold import Threshold
from gates.release.intervals import normal_cdf, z_value
from gates.release.numbers import Unusable, admit
from gates.release.policy import Policy
from gates.release.spending import spent_alpha
from gates.release.statistics_facts import Statistics
from gates.release.texts import counted, figure, joined

ASSUMED_DISAGREEMENT: Final = 0.05
"""Share of examples on which two models of the same quality differ in being right, when nothing was measured yet."""
_LIKELY: Final = 0.8


def lint(policy: Policy, statistics: Statistics | None = None) -> list[Problem]:
    """Warnings and notes about a policy that can be published, sorted by line. With the statistics of a past attempt
    the chances are computed from its standard errors, else from an assumption that the sentence names."""
    found = [
        Problem(line_of(policy.lines, pointer), pointer, severity, message)
        for pointer, severity, message in (*_of_criteria(policy, statistics), *_of_reviews(policy))
    ]
    return sorted(found)


_Note = tuple[str, ProblemSeverity, str]


def _of_criteria(policy: Policy, statistics: Statistics | None) -> Iterator[_Note]:
    for index, criterion in enumerate(policy.criteria):
        place = f"/criteria/{index}"
        if isinstance(criterion, Threshold | Comparison | Stability) and criterion.use == "estimate":
            yield (
                f"{place}/use",
                "warning",
                "decides by the estimate alone: a model that is not good enough passes half of the time when it is "
                "near the limit; leave `use` out to decide by the interval",
            )
        if isinstance(criterion, MetricCriterion | EvidenceCriterion | ArtifactCriterion) and (
            criterion.level == "self_reported"
        ):
            yield f"{place}/level", "warning", "takes what whoever trains the model reports about it"
        if _is_ageless(criterion):
            message = (
                "has no maxAge: a report that names no end counts for ever; write for example maxAge: P30D"
            )
            yield place, "warning", message
        if isinstance(criterion, Slices):
            yield from _of_slices(policy, criterion, place, statistics)


def _is_ageless(criterion: Criterion) -> bool:
    if isinstance(criterion, ArtifactCriterion):
        return criterion.serving_load_test is not None and criterion.max_age is None
    return isinstance(criterion, EvidenceCriterion) and criterion.max_age is None


def slice_chances(
    criterion: Slices, alpha: float, statistics: Statistics | None = None
) -> Mapping[str, float | None]:
    """By expected slice the chance that a model which is exactly as good as the incumbent keeps `maxRegression` there,
    at alpha; None where nothing says how many examples the slice has."""
    assert criterion.max_regression is not None
    known = {} if statistics is None else _errors(criterion, statistics)
    least = criterion.minimum_positives or criterion.minimum_rows
    assumed = None if least is None else math.sqrt(ASSUMED_DISAGREEMENT / least)
    chances: dict[str, float | None] = {}
    for value in criterion.expected:
        error = known.get(value, assumed)
        if error is None:
            chances[value] = None
        else:
            chances[value] = (
                1.0 if error == 0 else normal_cdf(criterion.max_regression / error - z_value(alpha))
            )
    return chances


def _errors(criterion: Slices, statistics: Statistics) -> dict[str, float]:
    errors = {}
    for each in statistics.slices:
        difference = each.differences.get(criterion.metric)
        if each.dimension == criterion.dimension and difference is not None:
            try:
                errors[each.value] = admit(difference.standard_error, "The standard error", 0)
            except Unusable:
                continue
    return errors


def _of_slices(
    policy: Policy, criterion: Slices, place: str, statistics: Statistics | None
) -> Iterator[_Note]:
    if criterion.minimum_positives is None and criterion.minimum_rows is None:
        message = (
            "has no minimumPositives or minimumRows: slices of any size are judged by what few examples say"
        )
        yield place, "warning", message
    if criterion.max_regression is None or policy.protocol is None:
        return
    alpha = spent_alpha(policy.protocol.attempts.alpha, 1)
    chances = slice_chances(criterion, alpha, statistics)
    by = (
        "by the standard errors that were measured"
        if statistics is not None
        else f"when two such models disagree on {ASSUMED_DISAGREEMENT:.0%} of the smallest slice allowed"
    )
    known = {value: chance for value, chance in chances.items() if chance is not None}
    for index, (value, chance) in enumerate(chances.items()):
        if chance is not None:
            severity: ProblemSeverity = "info" if chance >= _LIKELY else "warning"
            message = (
                f"{criterion.dimension}={value}: an unchanged model is shown to be no more than "
                f"{figure(criterion.max_regression)} worse in {chance:.0%} of first attempts, {by}"
            )
            yield f"{place}/expected/{index}", severity, message
    if known:
        together = math.prod(known.values())
        severity = "info" if together >= _LIKELY else "warning"
        together_text = f"in about {together:.0%} of first attempts"
        message = f"an unchanged model passes all {counted(len(known), 'slice')} {together_text}"
        if severity == "warning":
            message += "; allow a larger maxRegression, ask for more examples, or for review where it is inconclusive"
        yield f"{place}/maxRegression", severity, message


def _of_reviews(policy: Policy) -> Iterator[_Note]:
    reviews = [each for each in policy.criteria if isinstance(each, ReviewCriterion)]
    asking = [
        each.id
        for each in policy.criteria
        if "review" in (each.severity, *each.on().values()) and not isinstance(each, ReviewCriterion)
    ]
    if asking and not reviews:
        message = f"{joined(asking)} can ask for a review, and no criterion of kind review says who gives it; add one"
        yield "/criteria", "warning", message
    protocol = policy.protocol
    triggered = any(each.triggered_by is None or "first-release" in each.triggered_by for each in reviews)
    if protocol is not None and protocol.incumbent.on_none == "first-release" and not triggered:
        message = (
            "a first release asks for a review, but no review criterion has first-release among its triggers"
        )
        yield "/protocol/incumbent/onNone", "warning", message
