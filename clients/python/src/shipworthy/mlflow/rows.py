"""Reading the tables of MLflow's registry, within a session that the caller holds."""

import json
from collections.abc import Callable, Collection
from typing import Final, Protocol

from mlflow.store.model_registry.dbmodels.models import (
    SqlModelVersion,
    SqlRegisteredModel,
    SqlRegisteredModelAlias,
)
from sqlalchemy import Table, TextClause, text
from sqlalchemy.orm import Session, make_transient_to_detached

from shipworthy.mlflow.plans import ModelState, VersionRow

_HANDED_OVER: Final = "shipworthy_handed_over"
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
_IS_MODEL: Final = f"{_M_WORKSPACE} = :workspace AND {_M_NAME} = :model"
_LOCK: Final = f"UPDATE {_MODELS.name} SET last_updated_time = {_M_UPDATED} WHERE {_IS_MODEL}"
"""Changes nothing, and locks the database in SQLite."""
_LOCK_ROW: Final = f"SELECT 1 FROM {_MODELS.name} WHERE {_IS_MODEL} FOR NO KEY UPDATE"
_OF_MODEL: Final = f"{_V_WORKSPACE} = :workspace AND {_V_NAME} = :model AND {_V_STAGE} <> '{DELETED_STAGE}'"
_SELECTED: Final = f"SELECT {_V_VERSION}, {', '.join(_V_REST)}"
_STATE: Final = (
    f"{_SELECTED}, NULL AS alias FROM {_VERSIONS.name} WHERE {_OF_MODEL} AND ({_V_VERSION} {{numbers}} "
    f"OR {_V_STAGE} {{stages}} OR {_V_VERSION} IN (SELECT {_A_VERSION} FROM {_ALIASES.name} "
    f"WHERE {_A_WORKSPACE} = :workspace AND {_A_NAME} = :model AND {_A_ALIAS} {{aliases}})) "
    f"UNION ALL SELECT {_A_VERSION}, NULL, NULL, NULL, NULL, {_A_ALIAS} FROM {_ALIASES.name} "
    f"WHERE {_A_WORKSPACE} = :workspace AND {_A_NAME} = :model"
)


def _of_state(query: str, is_among: str) -> TextClause:
    return text(query.format_map({name: is_among.format(name) for name in ("numbers", "stages", "aliases")}))


_ANY_OF: Final = "= ANY(:{})"
_ASK_STATE: Final = {
    "sqlite": _of_state(_STATE, "IN (SELECT value FROM json_each(:{}))"),
    "postgresql": _of_state(_STATE, _ANY_OF),
}
_LOCK_AND_ASK: Final = _of_state(f"{_LOCK_ROW}; {_STATE}", _ANY_OF)
"""Going there and back once. The second statement sees what was committed while the first one waited."""
_LOCKS: Final = {"sqlite": text(_LOCK), "postgresql": text(_LOCK_ROW)}
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
        """The model's row in PostgreSQL, the database in SQLite."""
        if self._locked != model:
            connection = self._session.connection()
            given = {"workspace": self._workspace, "model": model}
            connection.execute(_LOCKS[connection.dialect.name], given)
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
        `any_version` also one that is none of them. The model is locked from here on."""
        given = {"workspace": self._workspace, "model": model}
        connection = self._session.connection()
        database = connection.dialect.name
        as_given: Callable[[list[object]], object] = json.dumps if database == "sqlite" else list
        among = {"numbers": versions, "stages": stages, "aliases": aliases}
        asked = given | {name: as_given(list(values)) for name, values in among.items()}
        statement = _ASK_STATE[database]
        # Other drivers take one statement at a time.
        if self._locked != model and connection.dialect.driver == "psycopg2":
            statement, self._locked = _LOCK_AND_ASK, model
        self.lock(model)
        held: list[tuple[str, int]] = []
        rows: list[VersionRow] = []
        for *row, alias in connection.execute(statement, asked):
            if alias is None:
                rows.append(_version(*row))
                continue
            held.append((str(alias), int(row[0])))
            if alias in aliases:
                self._hand_over(model, *held[-1])
        if not rows and any_version:
            rows = [_version(*row) for row in connection.execute(_ANY, given)]
        return ModelState(
            self._registry, model, tuple(sorted(held)), tuple(sorted(rows, key=lambda row: row.version))
        )

    def _hand_over(self, model: str, alias: str, version: int) -> None:
        """MLflow's session has the row from here: it would read it again before it writes it."""
        row = SqlRegisteredModelAlias(workspace=self._workspace, name=model, alias=alias, version=version)
        make_transient_to_detached(row)
        self._session.add(row)
        # The session itself forgets what nobody holds.
        self._session.info.setdefault(_HANDED_OVER, []).append(row)


def _version(
    version: int, source: str | None, location: str | None, run_id: str | None, stage: str
) -> VersionRow:
    return VersionRow(version, source or None, location or source or None, run_id or None, stage)
