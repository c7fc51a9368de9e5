"""Reading the tables of MLflow's registry, within a session that the caller holds."""

from collections.abc import Collection, Sequence
from typing import Protocol

from mlflow.store.model_registry.dbmodels.models import (
    SqlModelVersion,
    SqlRegisteredModel,
    SqlRegisteredModelAlias,
)
from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.orm import Session

from shipworthy.mlflow.plans import ModelState, VersionRow

DELETED_STAGE = "Deleted_Internal"
"""Where MLflow puts versions that were deleted; their numbers are never given again."""


class Sessions(Protocol):
    """MLflow's ManagedSessionMaker: a session that commits at the end of its block and rolls back on an error."""

    def __call__(self, read_only: bool = True) -> "SessionBlock": ...


class SessionBlock(Protocol):
    def __enter__(self) -> Session: ...
    def __exit__(self, *error: object) -> bool | None: ...


class Reader:
    """Reads one workspace of the registry; `registry` is its name at the service."""

    def __init__(self, session: Session, registry: str, workspace: str) -> None:
        self._session = session
        self._registry = registry
        self._workspace = workspace

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
        held = self._aliases(model)
        numbers = {*versions, *(version for alias, version in held if alias in aliases)}
        wanted = or_(SqlModelVersion.version.in_(numbers), SqlModelVersion.current_stage.in_(list(stages)))
        rows = self._versions(model, wanted)
        if not rows and any_version:
            rows = self._versions(model, SqlModelVersion.version > 0, 1)
        return ModelState(self._registry, model, held, tuple(rows))

    def _aliases(self, model: str) -> tuple[tuple[str, int], ...]:
        query = select(SqlRegisteredModelAlias.alias, SqlRegisteredModelAlias.version).where(
            SqlRegisteredModelAlias.workspace == self._workspace, SqlRegisteredModelAlias.name == model
        )
        return tuple(sorted((str(alias), int(version)) for alias, version in self._session.execute(query)))

    def _versions(
        self, model: str, wanted: ColumnElement[bool], limit: int | None = None
    ) -> Sequence[VersionRow]:
        columns = (
            SqlModelVersion.version,
            SqlModelVersion.source,
            SqlModelVersion.storage_location,
            SqlModelVersion.run_id,
            SqlModelVersion.current_stage,
        )
        query = (
            select(*columns)
            .where(
                SqlModelVersion.workspace == self._workspace,
                SqlModelVersion.name == model,
                SqlModelVersion.current_stage != DELETED_STAGE,
                wanted,
            )
            .order_by(SqlModelVersion.version)
            .limit(limit)
        )
        return [
            VersionRow(version, source or None, location or source or None, run_id or None, stage)
            for version, source, location, run_id, stage in self._session.execute(query)
        ]


def lock_model(session: Session, workspace: str, model: str) -> None:
    """Nobody else changes the model, its aliases and versions through a guarded server until the session ends: an
    UPDATE that changes nothing locks the row in PostgreSQL and the database in SQLite."""
    table = SqlRegisteredModel.__table__
    statement = (
        update(table)
        .where(table.c.workspace == workspace, table.c.name == model)
        .values(last_updated_time=table.c.last_updated_time)
    )
    session.connection().execute(statement)
