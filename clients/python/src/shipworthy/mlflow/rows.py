"""Reading the tables of MLflow's registry, within a session that the caller holds."""

from collections.abc import Collection
from typing import Final, Protocol

from mlflow.store.model_registry.dbmodels.models import (
    SqlModelVersion,
    SqlRegisteredModel,
    SqlRegisteredModelAlias,
)
from sqlalchemy import Integer, String, Table, bindparam, text
from sqlalchemy.orm import Session

from shipworthy.mlflow.plans import ModelState, VersionRow

DELETED_STAGE: Final = "Deleted_Internal"
"""Where MLflow puts versions that were deleted; their numbers are never given again."""


def _columns(table: Table, *names: str) -> tuple[str, ...]:
    """As they are written in SQL. KeyError when this MLflow's table lacks one."""
    return tuple(f"{table.name}.{table.c[name].name}" for name in names)


_MODELS, _VERSIONS, _ALIASES = (
    kind.__table__ for kind in (SqlRegisteredModel, SqlModelVersion, SqlRegisteredModelAlias)
)
_M_WORKSPACE, _M_NAME, _M_UPDATED = _columns(_MODELS, "workspace", "name", "last_updated_time")
_A_WORKSPACE, _A_NAME, _A_ALIAS, _A_VERSION = _columns(_ALIASES, "workspace", "name", "alias", "version")
_V_WORKSPACE, _V_NAME, _V_VERSION, *_V_REST = _columns(
    _VERSIONS,
    "workspace",
    "name",
    "version",
    "source",
    "storage_location",
    "run_id",
    "current_stage",
)
_V_STAGE: Final = _V_REST[-1]
# Text, because each is asked for every call to a guarded server: from expressions it costs SQLAlchemy more than the
# database to make it.
_LOCK: Final = text(
    f"UPDATE {_MODELS.name} SET last_updated_time = {_M_UPDATED} "
    f"WHERE {_M_WORKSPACE} = :workspace AND {_M_NAME} = :model"
)
_OF_MODEL: Final = f"{_V_WORKSPACE} = :workspace AND {_V_NAME} = :model AND {_V_STAGE} <> '{DELETED_STAGE}'"
_SELECTED: Final = f"SELECT {_V_VERSION}, {', '.join(_V_REST)}"
_STATE: Final = text(
    f"{_SELECTED}, NULL AS alias FROM {_VERSIONS.name} WHERE {_OF_MODEL} AND ({_V_VERSION} IN :numbers "
    f"OR {_V_STAGE} IN :stages OR {_V_VERSION} IN (SELECT {_A_VERSION} FROM {_ALIASES.name} "
    f"WHERE {_A_WORKSPACE} = :workspace AND {_A_NAME} = :model AND {_A_ALIAS} IN :aliases)) "
    f"UNION ALL SELECT {_A_VERSION}, NULL, NULL, NULL, NULL, {_A_ALIAS} FROM {_ALIASES.name} "
    f"WHERE {_A_WORKSPACE} = :workspace AND {_A_NAME} = :model"
).bindparams(
    bindparam("numbers", expanding=True, type_=Integer),
    bindparam("stages", expanding=True, type_=String),
    bindparam("aliases", expanding=True, type_=String),
)
_ANY: Final = text(f"{_SELECTED} FROM {_VERSIONS.name} WHERE {_OF_MODEL} ORDER BY {_V_VERSION} LIMIT 1")


class Sessions(Protocol):
    """MLflow's ManagedSessionMaker: a session that commits at the end of its block and rolls back on an error."""

    def __call__(self, read_only: bool = True) -> "SessionBlock": ...


class SessionBlock(Protocol):
    def __enter__(self) -> Session: ...
    def __exit__(self, *error: object) -> bool | None: ...


class Reader:
    """Reads one workspace of the registry; `registry` is its name at the service. What was read stays as it is until
    the session ends: nobody else changes the model, its aliases and versions through a guarded server."""

    def __init__(self, session: Session, registry: str, workspace: str) -> None:
        self._session = session
        self._registry = registry
        self._workspace = workspace
        self._locked: str | None = None

    def lock(self, model: str) -> None:
        """An UPDATE that changes nothing locks the model's row in PostgreSQL and the database in SQLite."""
        if self._locked != model:
            self._session.connection().execute(_LOCK, {"workspace": self._workspace, "model": model})
            self._locked = model

    def state(
        self,
        model: str,
        versions: Collection[int] = (),
        aliases: Collection[str] = (),
        stages: Collection[str] = (),
        any_version: bool = False,
    ) -> ModelState:
        """The model's aliases, and its versions with these numbers, behind these aliases and in these stages; with
        `any_version` also one that is none of them."""
        self.lock(model)
        given = {"workspace": self._workspace, "model": model}
        asked = given | {"numbers": list(versions), "stages": list(stages), "aliases": list(aliases)}
        connection = self._session.connection()
        held: list[tuple[str, int]] = []
        rows: list[VersionRow] = []
        for *row, alias in connection.execute(_STATE, asked):
            if alias is None:
                rows.append(_version(*row))
            else:
                held.append((str(alias), int(row[0])))
        if not rows and any_version:
            rows = [_version(*row) for row in connection.execute(_ANY, given)]
        return ModelState(
            self._registry, model, tuple(sorted(held)), tuple(sorted(rows, key=lambda row: row.version))
        )


def _version(
    version: int, source: str | None, location: str | None, run_id: str | None, stage: str
) -> VersionRow:
    return VersionRow(version, source or None, location or source or None, run_id or None, stage)
