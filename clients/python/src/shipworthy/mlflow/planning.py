"""From what a registry holds and a call to it to the plan of that call. Pure: no database, no service.

Each function raises Refused for what no decision can allow.
"""

from typing import Final

from shipworthy.mlflow.plans import Change, ModelState, Move, Plan, Refused, VersionRow
from shipworthy.mlflow.protections import Protections, Standing

ARCHIVED: Final = "Archived"
REGISTRATION: Final = "registration"
"""The target of a gate that asks for a decision before a model version may exist."""


def plan_alias(state: ModelState, protections: Protections, alias: str, version: int) -> Plan:
    """For an alias that is to point to `version`."""
    row = state.version(version)
    standing = protections.standing(alias)
    if row is None or standing is Standing.FREE:
        return Plan(state.model)  # Without the version MLflow refuses by itself.
    if standing is Standing.LOOKALIKE:
        raise Refused(
            f"The alias {alias!r} reads like the protected alias {protections.model_of(alias)!r} and is not the same: "
            "whoever sees it would take the one for the other. Choose another name, or write the protected one."
        )
    return Plan(
        state.model,
        moves=(Move("promote", alias, row, state.holder(alias)),),
        permits=frozenset({Change("alias", state.model, alias, str(version))}),
    )


def plan_alias_deletion(state: ModelState, protections: Protections, alias: str) -> Plan:
    held = dict(state.aliases).get(alias)
    if held is None or protections.standing(alias) is not Standing.PROTECTED:
        return Plan(state.model)
    row = state.version(held)
    return Plan(
        state.model,
        moves=(Move("demote", alias, row, row),),
        permits=frozenset({Change("alias", state.model, alias, None)}),
    )


def plan_stage(
    state: ModelState, protections: Protections, version: int, stage: str, archive_others: bool
) -> Plan:
    """For a version that is to change into `stage`, in MLflow's own spelling; `state` holds all versions in
    protected stages and in `stage`."""
    row = state.version(version)
    if row is None:
        return Plan(state.model)
    other = None if protections.protects_stage(stage) else protections.model_of(stage)
    if other is not None and row.stage != stage:
        raise Refused(
            f"The stage {stage} reads like the protected name {other!r} and is not the same: who loads by stage may "
            "write it in any letter case. Publish the gate for the stage in MLflow's own spelling, or use the alias."
        )
    moves: list[Move] = []
    permits = {Change("stage", state.model, str(version), stage)}
    if row.stage != stage and protections.protects_stage(row.stage):
        moves += _leaving(state, row)
    others = [each for each in state.versions if each.stage == stage and each.version != version]
    if archive_others:
        permits |= {Change("stage", state.model, str(each.version), ARCHIVED) for each in others}
    if protections.protects_stage(stage):
        incumbent = state.in_stage(stage)
        if not archive_others and any(each.version > version for each in others):
            raise Refused(
                f"Version {max(each.version for each in others)} of {state.model} stays in {stage}, and whoever loads "
                f"by stage gets the highest version: version {version} would be released in name only. Pass "
                "archive_existing_versions=True."
            )
        moves.append(Move("promote", stage, row, incumbent))
    return Plan(state.model, tuple(moves), frozenset(permits))


def _leaving(state: ModelState, row: VersionRow) -> list[Move]:
    """What the gates must say for a version to leave its stage."""
    serving = state.in_stage(row.stage)
    if serving is None or serving.version != row.version:
        return []  # A higher version is what consumers get, before and after.
    rest = [each for each in state.versions if each.stage == row.stage and each.version != row.version]
    if not rest:
        return [Move("demote", row.stage, row, row)]
    return [Move("promote", row.stage, max(rest, key=lambda each: each.version), row)]


def plan_version_deletion(state: ModelState, protections: Protections, version: int) -> Plan:
    row = state.version(version)
    if row is None:
        return Plan(state.model)
    _keep_released(state, protections, version)
    return Plan(state.model, permits=frozenset({Change("version deleted", state.model, str(version), None)}))


def plan_model_deletion(state: ModelState, protections: Protections) -> Plan:
    _keep_released(state, protections, None)
    return Plan(state.model, permits=frozenset({Change("model deleted", state.model, "", None)}))


def plan_rename(state: ModelState, protections: Protections, new_name: str) -> Plan:
    """`state` holds at least one of the versions, if there are any."""
    _keep_released(state, protections, None)
    if state.versions and protections.gates_registration(new_name):
        raise Refused(
            f"Versions of {new_name} need a decision of its gate for registration, and renaming {state.model} would "
            "bring in versions without one. Register them under the new name one by one."
        )
    return Plan(state.model, permits=frozenset({Change("renamed", state.model, "", new_name)}))


def plan_registration(model: str, protections: Protections, row: VersionRow) -> Plan:
    """`row` is the version that is to be made, with the number 0."""
    if not protections.gates_registration(model):
        return Plan(model)
    return Plan(
        model,
        moves=(Move("register", REGISTRATION, row, None),),
        permits=frozenset({Change("registered", model, "", row.source)}),
    )


def _keep_released(state: ModelState, protections: Protections, version: int | None) -> None:
    """Refused when the version, or with None any of the model's, holds a protected target or held one."""
    if not protections.known:
        raise Refused(
            "The Shipworthy service can't be reached, so nobody knows what was released: nothing is deleted or renamed "
            "until it answers."
        )
    if not protections.complete:
        raise Refused(
            "More versions were released than the Shipworthy service lists, so it can't be told whether this was one: "
            "nothing is deleted or renamed through this server."
        )
    kept: list[tuple[str, str]] = []
    for alias, held in state.aliases:
        if version in (None, held) and protections.standing(alias) is Standing.PROTECTED:
            kept.append((str(held), f"holds {alias}"))
    for row in state.versions:
        if version in (None, row.version) and protections.protects_stage(row.stage):
            kept.append((str(row.version), f"is in {row.stage}"))
    for released in protections.released_versions(state.registry, state.model):
        if version is None or released.version == str(version):
            kept.append((released.version, f"was released to {', '.join(released.targets)}"))
    if kept:
        number, why = kept[0]
        raise Refused(
            f"Version {number} of {state.model} {why}: what was released is neither deleted nor renamed, because a "
            "rollback may need it and its record names it. A released version is taken out of use by moving or "
            "demoting what points to it."
        )
