"""What the service answers about names of a model registry, as frozen values. `document` is the answer as it came."""

from dataclasses import dataclass, field

from shipworthy.query.results import Document


@dataclass(frozen=True, slots=True)
class PromotionEvent:
    """One thing that happened to a target: `state` is promoted, demoted, registered, failed, refused, observed or
    demotion_allowed. `action` of a promotion is promote or rollback; `at` is an instant as text."""

    state: str
    action: str | None
    registry: str
    model: str
    version: str | None
    target: str
    artifact: str | None
    decision: str | None
    sentence: str | None
    registry_user: str | None
    at: str
    document: Document = field(repr=False)


@dataclass(frozen=True, slots=True)
class Release:
    """What a target held at a time. `how` is promotion, or observed when nobody decided; `by` is a user of MLflow's."""

    target: str
    version: str
    artifact: str | None
    decision: str | None
    by: str | None
    since: str
    how: str
    document: Document = field(repr=False)


@dataclass(frozen=True, slots=True)
class Finding:
    """Where a registry and the records differ. `sentence` says it for a person, `who` names roles or groups that can
    mend it; `version` and `artifact` are None where a target holds nothing, or nothing readable."""

    kind: str
    registry: str
    model: str
    target: str
    version: str | None
    artifact: str | None
    since: str | None
    sentence: str
    who: tuple[str, ...]
    document: Document = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The last comparison of a registry with the records, `age_seconds` old; findings come worst first. `observed` is
    the number of names, `complete` False when not every one could be looked at."""

    registry: str
    findings: tuple[Finding, ...]
    observed: int
    complete: bool
    finished_at: str
    age_seconds: float
    document: Document = field(repr=False)


def event(answer: Document) -> PromotionEvent:
    return PromotionEvent(
        state=answer["state"],
        action=answer["action"],
        registry=answer["registry"],
        model=answer["model"],
        version=answer["version"],
        target=answer["target"],
        artifact=answer["artifact"],
        decision=answer["decision"],
        sentence=answer["sentence"],
        registry_user=answer["registry_user"],
        at=answer["at"],
        document=answer,
    )


def release(answer: Document) -> Release:
    return Release(
        target=answer["target"],
        version=answer["version"],
        artifact=answer["artifact"],
        decision=answer["decision"],
        by=answer["by"],
        since=answer["since"],
        how=answer["how"],
        document=answer,
    )


def finding(answer: Document) -> Finding:
    return Finding(
        kind=answer["kind"],
        registry=answer["registry"],
        model=answer["model"],
        target=answer["target"],
        version=answer["version"],
        artifact=answer["artifact"],
        since=answer["since"],
        sentence=answer["sentence"],
        who=tuple(answer["who"]),
        document=answer,
    )


def reconciliation(answer: Document) -> Reconciliation:
    return Reconciliation(
        registry=answer["registry"],
        findings=tuple(finding(each) for each in answer["findings"]),
        observed=answer["observed"],
        complete=answer["complete"],
        finished_at=answer["finished_at"],
        age_seconds=answer["age_seconds"],
        document=answer,
    )
