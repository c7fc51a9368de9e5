"""A release policy: what has to hold before a model may take a place."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from gates.release.criteria.artifact import ArtifactCriterion
from gates.release.criteria.base import Criterion, MetricCriterion, OwnProblem
from gates.release.criteria.comparison import Comparison
from gates.release.criteria.evidence import EvidenceCriterion
from gates.release.criteria.provenance import Provenance
from gates.release.criteria.reproduction import Reproduction
from gates.release.criteria.review import ReviewCriterion
from gates.release.criteria.slices import Slices
from gates.release.criteria.stability import Stability
from gates.release.criteria.threshold import Threshold
from gates.release.metrics import find_metric
from gates.release.protocol import Protocol
from gates.release.values import Duration, GateName, Items, Line, Name, PolicyPart
from gates.release.waivers import WaiverRule

JudgedCriterion: TypeAlias = (
    Threshold
    | Comparison
    | Slices
    | Stability
    | Reproduction
    | EvidenceCriterion
    | ArtifactCriterion
    | Provenance
)
"""Judged by the facts alone; a review is judged by what these came to."""
AnyCriterion = Annotated[JudgedCriterion | ReviewCriterion, Field(discriminator="kind")]

KINDS: Final = (
    "threshold",
    "comparison",
    "slices",
    "stability",
    "reproduction",
    "evidence",
    "artifact",
    "provenance",
    "review",
)


class Metadata(PolicyPart):
    name: GateName
    version: Annotated[int, Field(ge=1, le=2**31 - 1)]
    owner: Line
    reason: Line
    """Why this version was made."""


class AppliesTo(PolicyPart):
    """`to`: an alias or a stage of the registry, or `registration`: no version can be made without a pass then."""

    model: Name
    to: Name
    valid_for: Duration
    """A pass older than this can't promote."""


class PolicyDocument(PolicyPart):
    """The document as written, after its shape was checked."""

    api_version: Literal["shipworthy/v1"]
    kind: Literal["ReleaseGate"]
    metadata: Metadata
    applies_to: AppliesTo
    protocol: Protocol | None = None
    criteria: Annotated[Items[AnyCriterion], Field(min_length=1, max_length=200)]
    waivers: WaiverRule | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """`digest` is that of the bytes, `document_digest` that of their RFC 8785 form; `lines` is keyed by JSON
    pointer."""

    document: PolicyDocument
    digest: str
    document_digest: str
    lines: Mapping[str, int]

    @property
    def name(self) -> str:
        return self.document.metadata.name

    @property
    def version(self) -> int:
        return self.document.metadata.version

    @property
    def model(self) -> str:
        return self.document.applies_to.model

    @property
    def to(self) -> str:
        return self.document.applies_to.to

    @property
    def valid_for(self) -> timedelta:
        return self.document.applies_to.valid_for

    @property
    def protocol(self) -> Protocol | None:
        return self.document.protocol

    @property
    def protocol_digest(self) -> str | None:
        """What attempts must be measured by; None when the policy asks for no measurement."""
        return None if self.protocol is None else self.protocol.digest

    @property
    def criteria(self) -> tuple[JudgedCriterion | ReviewCriterion, ...]:
        return self.document.criteria


def document_problems(document: PolicyDocument) -> list[OwnProblem]:
    """What is wrong beyond shapes: JSON pointer, and a sentence that says how to mend it. A policy with any is
    refused."""
    problems = _criteria_problems(document)
    criteria = document.criteria
    if all(each.severity == "warn" for each in criteria):
        problems.append(
            ("/criteria", "can't stop anything: give at least one criterion severity block or review")
        )
    if document.protocol is None and any(isinstance(each, MetricCriterion) for each in criteria):
        first = next(each.id for each in criteria if isinstance(each, MetricCriterion))
        problems.append(("", f"has no protocol, by which {first!r} would be measured; write one"))
    problems.extend(_waiver_problems(document))
    return problems


def _criteria_problems(document: PolicyDocument) -> list[OwnProblem]:
    problems: list[OwnProblem] = []
    first: dict[str, int] = {}
    for index, criterion in enumerate(document.criteria):
        place = f"/criteria/{index}"
        if criterion.id in first:
            message = f"{criterion.id!r} is already the id of criterion {first[criterion.id] + 1}; choose another one"
            problems.append((f"{place}/id", message))
        first.setdefault(criterion.id, index)
        for member, message in (*criterion.own_problems(), *_protocol_problems(criterion, document.protocol)):
            problems.append((f"{place}/{member}", message))
    return problems


def _protocol_problems(criterion: Criterion, protocol: Protocol | None) -> list[OwnProblem]:
    if isinstance(criterion, MetricCriterion):
        metric = find_metric(criterion.metric)
        if metric is not None and protocol is not None and protocol.task not in metric.tasks:
            message = f"{criterion.metric} is no metric of a {protocol.task} task; see protocol.task"
            return [("metric", message)]
    if isinstance(criterion, EvidenceCriterion) and criterion.about == "evaluation-data" and protocol is None:
        return [("about", "the policy has no protocol that names the evaluation data; write one")]
    return []


def _waiver_problems(document: PolicyDocument) -> list[OwnProblem]:
    if document.waivers is None:
        return []
    kinds = {criterion.id: criterion.kind for criterion in document.criteria}
    problems: list[OwnProblem] = []
    for index, identifier in enumerate(document.waivers.allowed):
        place = f"/waivers/allowed/{index}"
        if identifier not in kinds:
            problems.append(
                (place, f"{identifier!r} is the id of no criterion; write one of {', '.join(kinds)}")
            )
        elif kinds[identifier] == "review":
            problems.append((place, f"{identifier!r} is a review, which can't be waived; remove it"))
    return problems
