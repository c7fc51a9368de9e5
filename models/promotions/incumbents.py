"""Whether a target holds what a decision compared with."""

from collections.abc import Mapping
from typing import Any

from models.bulk import Row
from models.gates.in_force import Standing
from models.kinds.promotions import Held
from models.promotions.verdicts import FindTarget, Refused, Wanted, refused


def incumbent_refusal(
    wanted: Wanted, place: Row | None, find_target: FindTarget, found: Standing
) -> Refused | None:
    """Whether the target holds what the decision compared with. Two persons who break the glass compare nothing."""
    assert found.decision is not None
    if found.decision.type != "gate":
        return None
    record = found.decision.record
    incumbent: Mapping[str, Any] = found.predicate["incumbent"]
    of = incumbent.get("target", wanted.target)
    if of != wanted.target:
        other = find_target(of)
        holds = [] if other is None or other["artifact"] is None else [other["artifact"]]
    else:
        known = _held(place, wanted.incumbent)
        if isinstance(known, str):
            return refused("incumbent_unknown", known, record)
        holds = known
    # What somebody only said that it holds has to be there: else whoever records would choose what is compared with.
    is_fit = not holds and incumbent["how"] != "observed"
    if is_fit or {incumbent["artifact"], wanted.artifact} & set(holds):
        return None
    where = "" if wanted.registry == "default" else f' and "registry": "{wanted.registry}"'
    compared = incumbent["artifact"] or "nothing"
    held = f"artifact {holds[0]}" if holds else "nothing"
    return refused(
        "incumbent_changed",
        f"{of} holds {held}, and the decision compared with {compared}; decide again with "
        f"POST /v1/gates/{found.decision.gate}/decisions{where}",
        record,
    )


def _held(place: Row | None, present: Held | None) -> list[str] | str:
    """The artifacts that may stand for what the target holds, none when it holds nothing; or why no record knows it.

    What it held before the last record counts too: that is what it holds when the registry did not commit.
    """
    version = None if present is None else present.version
    unknown = (
        f"the registry says version {version}, which no record knows"
        if version is not None
        else "the registry says that the target holds nothing, the records that it does"
    )
    advice = "record what it holds with `shipworthy import mlflow` or POST /v1/promotions:observe, then decide again"
    if place is None:
        return [] if version is None else f"{unknown}; {advice}"
    if version not in (place["version"], place["before_version"]):
        return f"{unknown}; {advice}"
    if present is None:
        return []
    is_before = version != place["version"]
    found = [place["before_artifact"], place["artifact"]] if is_before else [place["artifact"]]
    # What was only seen has to be what is there; before it may have been seen too, unless a promotion replaced it.
    is_seen = place["how"] == "observed" or (is_before and place["how"] is None)
    if is_seen and present.artifact not in found:
        return f"version {version} was seen with another artifact than is there now; {advice}"
    known = [artifact for artifact in found if artifact is not None]
    return known or f"nobody could read what version {version} is made of; {advice}"
