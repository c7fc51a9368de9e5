"""MLflow's SQL registry store with the guard in it: `shipworthy+sqlite://…`, `shipworthy+postgresql://…`."""

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Final, Protocol, cast

from mlflow.entities.model_registry.model_version_stages import get_canonical_stage
from mlflow.environment_variables import MLFLOW_ENABLE_WORKSPACES
from mlflow.exceptions import MlflowException
from mlflow.server.constants import READ_REPLICA_BACKEND_STORE_URI_ENV_VAR
from mlflow.store.model_registry.sqlalchemy_store import SqlAlchemyStore
from mlflow.store.model_registry.sqlalchemy_workspace_store import WorkspaceAwareSqlAlchemyStore
from mlflow.utils.validation import _validate_model_version

from shipworthy.mlflow import planning
from shipworthy.mlflow.gate import Gate
from shipworthy.mlflow.guard import Arguments, Guard, GuardedStore, Planner
from shipworthy.mlflow.kept import Keeper
from shipworthy.mlflow.marks import Marks
from shipworthy.mlflow.plans import Plan, VersionRow
from shipworthy.mlflow.protections import ACTIVE_STAGES, Protections, Standing
from shipworthy.mlflow.rows import Reader, Sessions
from shipworthy.mlflow.settings import read_guard_settings
from shipworthy.mlflow.surface import (
    BUILT_ON_GUARDED,
    DESCRIBING,
    GUARDED,
    READING,
    public_names,
    require_known,
    require_present,
)


class MlflowStore(GuardedStore, Protocol):
    """MLflow's SQL registry store."""

    ManagedSessionMaker: Sessions


def build_store(database_uri: str) -> object:
    """The guarded store of a database. Raises UsageError when the guard could not do its work."""
    kind = _store_class(MLFLOW_ENABLE_WORKSPACES.get())
    return kind(database_uri, read_db_uri=os.environ.get(READ_REPLICA_BACKEND_STORE_URI_ENV_VAR))


def is_built() -> bool:
    """Whether this process has made a guarded store."""
    return _store_class.cache_info().currsize > 0


def guard_of(store: object) -> Guard:
    return cast(Guard, getattr(store, "_shipworthy_guard"))  # noqa: B009  # The class is made at run time.


@functools.cache
def _store_class(with_workspaces: bool) -> Callable[..., object]:
    """A subclass of MLflow's store whose guarded methods ask first and whose sessions are watched."""
    base = WorkspaceAwareSqlAlchemyStore if with_workspaces else SqlAlchemyStore
    names = public_names(base)
    require_known("registry methods", names, GUARDED | BUILT_ON_GUARDED | READING | DESCRIBING)
    require_present("registry methods", names, GUARDED | BUILT_ON_GUARDED)

    def __init__(self: MlflowStore, db_uri: str, read_db_uri: str | None = None) -> None:
        settings = read_guard_settings()
        base.__init__(self, db_uri, read_db_uri=read_db_uri)
        parts = (self, self.ManagedSessionMaker, settings, Gate(settings), Marks(db_uri))
        guard, keeper = Guard(*parts), Keeper(*parts)
        vars(self).update(
            _shipworthy_guard=guard, _shipworthy_keeper=keeper, ManagedSessionMaker=guard.sessions
        )

    methods = {name: _guarded(getattr(base, name), planner) for name, planner in _PLANNERS.items()}
    return type(f"Guarded{base.__name__}", (base,), {"__init__": __init__, "__doc__": __doc__, **methods})


def _guarded(original: Callable[..., object], planner: Planner) -> Callable[..., object]:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def call(self: object, *args: object, **kwargs: object) -> object:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        return guard_of(self).run(planner, bound.arguments, lambda: original(self, *args, **kwargs))

    return call


def _set_alias(reader: Reader, protections: Protections, arguments: Arguments) -> Plan:
    model, alias, version = str(arguments["name"]), str(arguments["alias"]), _version(arguments)
    if version is None or protections.standing(alias) is Standing.FREE:
        return Plan(model)
    state = reader.state(model, versions=[version], aliases=[alias])
    return planning.plan_alias(state, protections, alias, version)


def _delete_alias(reader: Reader, protections: Protections, arguments: Arguments) -> Plan:
    model, alias = str(arguments["name"]), str(arguments["alias"])
    if protections.standing(alias) is not Standing.PROTECTED:
        return Plan(model)
    return planning.plan_alias_deletion(reader.state(model, aliases=[alias]), protections, alias)


def _change_stage(reader: Reader, protections: Protections, arguments: Arguments) -> Plan:
    model, version = str(arguments["name"]), _version(arguments)
    try:
        stage = str(get_canonical_stage(str(arguments["stage"])))
    except MlflowException:
        return Plan(model)  # MLflow says so itself, in its own words.
    if version is None:
        return Plan(model)
    archive = bool(arguments["archive_existing_versions"])
    stages = _protected_stages(protections) | ({stage} if archive else set())
    state = reader.state(model, versions=[version], stages=stages)
    return planning.plan_stage(state, protections, version, stage, archive)


def _delete_version(reader: Reader, protections: Protections, arguments: Arguments) -> Plan:
    model, version = str(arguments["name"]), _version(arguments)
    if version is None:
        return Plan(model)
    return planning.plan_version_deletion(reader.state(model, versions=[version]), protections, version)


def _delete_model(reader: Reader, protections: Protections, arguments: Arguments) -> Plan:
    state = reader.state(str(arguments["name"]), stages=_protected_stages(protections))
    return planning.plan_model_deletion(state, protections)


def _rename_model(reader: Reader, protections: Protections, arguments: Arguments) -> Plan:
    stages = _protected_stages(protections)
    state = reader.state(str(arguments["name"]), stages=stages, any_version=True)
    return planning.plan_rename(state, protections, str(arguments["new_name"]))


def _create_version(reader: Reader, protections: Protections, arguments: Arguments) -> Plan:
    source, run_id = str(arguments["source"]), arguments["run_id"]
    row = VersionRow(0, source, source, str(run_id) if run_id else None, "None")
    return planning.plan_registration(str(arguments["name"]), protections, row)


_PLANNERS: Final[Mapping[str, Planner]] = {
    "set_registered_model_alias": _set_alias,
    "delete_registered_model_alias": _delete_alias,
    "transition_model_version_stage": _change_stage,
    "create_model_version": _create_version,
    "delete_model_version": _delete_version,
    "delete_registered_model": _delete_model,
    "rename_registered_model": _rename_model,
}


def _version(arguments: Arguments) -> int | None:
    """None for what MLflow takes for no version number."""
    try:
        return int(_validate_model_version(arguments["version"]))
    except (MlflowException, TypeError):
        return None


def _protected_stages(protections: Protections) -> set[str]:
    return {*protections.targets, *ACTIVE_STAGES} if protections.everything else set(protections.targets)
