"""What a registry holds against what was promoted there. No database, no clock: rows in, findings out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, get_args

from models.bulk import Row
from models.kinds.promotions import FindingKind
from models.promotions.verdicts import DECIDERS

Place = tuple[str, str]
"""Model and target."""
_ORDER: Final[tuple[str, ...]] = get_args(FindingKind)
_AGAIN: Final = (
    "move the name again through the guard, or put back what was promoted with `shipworthy rollback`"
)


@dataclass(frozen=True, slots=True)
class Sighting:
    """What one name holds in the registry; `unreadable` says why `artifact` is not known."""

    model: str
    target: str
    version: str
    artifact: str | None
    unreadable: str | None


@dataclass(frozen=True, slots=True)
class Today:
    """What would be said today of the artifact that a name holds: `why_not` is None when it would pass."""

    why_not: str | None
    who: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as the records say; `who` may mend it: roles, or groups of persons."""

    kind: FindingKind
    registry: str
    model: str
    target: str
    version: str | None
    artifact: str | None
    since: datetime | None
    sentence: str
    who: tuple[str, ...]


def findings_of(
    registry: str,
    seen: Sequence[Sighting],
    places: Mapping[Place, Row],
    today: Mapping[Place, Today],
    unconfirmed: Iterable[Row],
    *,
    complete: bool,
) -> list[Finding]:
    """Worst first, then by name. `places` are the rows of targets that hold something by the records; `complete` says
    that what was not seen holds nothing."""
    found: list[Finding] = []
    for sighting in seen:
        place = places.get((sighting.model, sighting.target))
        found += _of_sighting(registry, sighting, place, today.get((sighting.model, sighting.target)))
    if complete:
        names = {(sighting.model, sighting.target) for sighting in seen}
        found += (
            _not_moved(registry, place, None)
            for name, place in places.items()
            if name not in names and place["how"] == "promotion"
        )
    found += (_unconfirmed(registry, grant) for grant in unconfirmed if not _is_overtaken(grant, places))
    return sorted(found, key=lambda each: (_ORDER.index(each.kind), each.model, each.target))


def needs_judging(sighting: Sighting, place: Row | None) -> bool:
    """Whether the name holds what was promoted there: of anything else the gate need not be asked."""
    return (
        place is not None
        and place["how"] == "promotion"
        and (place["version"], place["artifact"]) == (sighting.version, sighting.artifact)
    )


def _of_sighting(
    registry: str, sighting: Sighting, place: Row | None, today: Today | None
) -> Iterator[Finding]:
    name = f"{sighting.target} of {sighting.model}"
    since = None if place is None else place["since"]

    def finding(kind: FindingKind, sentence: str, who: tuple[str, ...]) -> Finding:
        return Finding(
            kind,
            registry,
            sighting.model,
            sighting.target,
            sighting.version,
            sighting.artifact,
            since,
            sentence,
            who,
        )

    if place is None or place["how"] != "promotion":
        if today is not None and today.why_not is None:
            passed = "which its gate passed, but no grant put it there"
            sentence = f"{name} holds version {sighting.version}, {passed}; {_AGAIN}."
            yield finding("moved_without_grant", sentence, DECIDERS)
        else:
            because = "" if today is None else f" {today.why_not}"
            sentence = f"{name} holds version {sighting.version}, which no decision put there.{because}"
            yield finding("undecided", sentence, DECIDERS)
    elif place["version"] != sighting.version:
        if sighting.version == place["before_version"]:
            yield _not_moved(registry, place, sighting)
        else:
            promoted = place["version"]
            sentence = (
                f"{name} holds version {sighting.version}, and version {promoted} was promoted; {_AGAIN}."
            )
            yield finding("moved_without_grant", sentence, DECIDERS)
    elif sighting.artifact is not None and sighting.artifact != place["artifact"]:
        sentence = (
            f"{name} holds version {sighting.version}, whose artifact is {sighting.artifact} now; promoted was "
            f"{place['artifact']}. Put the bytes back, or roll back to another version."
        )
        yield finding("artifact_changed", sentence, ("recorder", "evaluator"))
    elif today is not None and today.why_not is not None:
        yield finding("would_fail", f"{name} holds version {sighting.version}. {today.why_not}", today.who)
    if sighting.artifact is None:
        reason = sighting.unreadable or "it was not hashed"
        sentence = f"The artifact of version {sighting.version}, which {name} holds, can't be read: {reason}."
        yield finding("unreadable", sentence, ("worker",))


def _not_moved(registry: str, place: Row, sighting: Sighting | None) -> Finding:
    holds = "nothing" if sighting is None else f"version {sighting.version}"
    return Finding(
        "record_without_move",
        registry,
        place["model"],
        place["target"],
        place["version"],
        place["artifact"],
        place["since"],
        f"Version {place['version']} of {place['model']} was promoted to {place['target']}, and the registry holds "
        f"{holds}: its server ended before it committed, or somebody went round the guard. {_AGAIN.capitalize()}.",
        ("registry",),
    )


def _unconfirmed(registry: str, grant: Row) -> Finding:
    return Finding(
        "unconfirmed_grant",
        registry,
        grant["model"],
        grant["target"],
        None,
        None,
        grant["expires_at"],
        f"A grant for {grant['target']} of {grant['model']}, record {grant['record']}, was never confirmed: the "
        "registry's server ended, or could not reach the service. It moves nothing any more.",
        ("registry",),
    )


def _is_overtaken(grant: Row, places: Mapping[Place, Row]) -> bool:
    place = places.get((grant["model"], grant["target"]))
    return place is not None and place["since"] is not None and place["since"] > grant["expires_at"]
