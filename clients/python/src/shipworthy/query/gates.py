"""What the service answers about release gates, as frozen values. `document` is the answer as it came."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from shipworthy.query.results import Document


@dataclass(frozen=True, slots=True)
class Gate:
    """One version of a gate. `digest` is that of its bytes, `document_digest` that of the document in them."""

    name: str
    version: int
    digest: str
    document_digest: str
    model: str
    target: str
    document: Document = field(repr=False)


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """How one criterion came out. `effect` is none, warn, review or block; `sentence` says it for a person.
    `cleared_by` is the criterion whose review answers for this one."""

    id: str
    kind: str
    outcome: str
    state: str | None
    effect: str
    cleared_by: str | None
    observed: float | None
    interval: tuple[float, float] | None
    bound: str | None
    n: int | None
    method: str | None
    code: str | None
    sentence: str
    parts: tuple[Mapping[str, object], ...]
    document: Document = field(repr=False)


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision as it was signed. `verdict` is passed, review_required or blocked, or break_glass."""

    id: str
    type: str
    mode: str
    verdict: str
    sentence: str
    model: str
    version: str | None
    target: str
    artifact: str
    gate: str | None
    gate_version: int | None
    criteria: tuple[CriterionResult, ...]
    counts: Mapping[str, int]
    unblocks: tuple[str, ...]
    evaluated_at: str
    valid_until: str | None
    document: Document = field(repr=False)

    @property
    def lacks_evidence(self) -> bool:
        """Whether it blocks only because something was not measured, or not in a way that counts."""
        blocking = [each for each in self.criteria if each.effect == "block"]
        return bool(blocking) and all(each.outcome == "error" for each in blocking)


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether an artifact may take a place now; `decision` is the latest that was made, None when none was."""

    active: bool
    why: str
    missing: tuple[str, ...]
    decision: Decision | None
    document: Document = field(repr=False)


@dataclass(frozen=True, slots=True)
class Flip:
    """A past decision that would come out otherwise, and the criteria that make the difference."""

    decision: str
    model: str
    artifact: str
    before: str
    after: str
    because: tuple[str, ...]


def gate(answer: Document) -> Gate:
    return Gate(
        name=answer["name"],
        version=answer["version"],
        digest=answer["digest"],
        document_digest=answer["document_digest"],
        model=answer["applies_to"]["model"],
        target=answer["applies_to"]["to"],
        document=answer,
    )


def criterion_result(answer: Document) -> CriterionResult:
    interval = answer["interval"]
    return CriterionResult(
        id=answer["id"],
        kind=answer["kind"],
        outcome=answer["outcome"],
        state=answer["state"],
        effect=answer["effect"],
        cleared_by=answer["cleared_by"],
        observed=answer["observed"],
        interval=None if interval is None else (interval[0], interval[1]),
        bound=answer["bound"],
        n=answer["n"],
        method=answer["method"],
        code=answer["code"],
        sentence=answer["sentence"],
        parts=tuple(answer["parts"]),
        document=answer,
    )


def decision(answer: Document) -> Decision:
    named = answer["gate"]
    return Decision(
        id=answer["decision"],
        type=answer["type"],
        mode=answer["mode"],
        verdict=answer["verdict"],
        sentence=answer["sentence"],
        model=answer["model"],
        version=answer["version"],
        target=answer["to"],
        artifact=answer["artifact"]["digest"],
        gate=None if named is None else named["name"],
        gate_version=None if named is None else named["version"],
        criteria=tuple(criterion_result(each) for each in answer["criteria"]),
        counts=answer["counts"],
        unblocks=tuple(answer["unblocks"]),
        evaluated_at=answer["evaluated_at"],
        valid_until=answer["valid_until"],
        document=answer,
    )


def standing(answer: Document) -> Standing:
    found = answer["decision"]
    return Standing(
        active=answer["active"],
        why=answer["why"],
        missing=tuple(answer["missing"]),
        decision=None if found is None else decision(found),
        document=answer,
    )


def flip(answer: Document) -> Flip:
    return Flip(
        decision=answer["decision"],
        model=answer["model"],
        artifact=answer["artifact"],
        before=answer["from"],
        after=answer["to"],
        because=tuple(answer["because"]),
    )
