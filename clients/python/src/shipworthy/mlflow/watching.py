"""What a session of the registry's database does to aliases, stages and versions, noted as it is flushed.

The listeners are those of all sessions of the process: three of them put on each session cost more than a statement.
"""

from collections.abc import Iterator

from mlflow.store.model_registry.dbmodels.models import (
    SqlModelVersion,
    SqlRegisteredModel,
    SqlRegisteredModelAlias,
)
from sqlalchemy import event, inspect
from sqlalchemy.orm import ORMExecuteState, Session

from shipworthy.mlflow.plans import Change
from shipworthy.mlflow.refusals import denied
from shipworthy.mlflow.rows import DELETED_STAGE

_WATCHED = (SqlModelVersion, SqlRegisteredModel, SqlRegisteredModelAlias)
_TABLES = frozenset(each.__tablename__ for each in _WATCHED)
_WATCH = "shipworthy_watch"
_FIXED = ("source", "storage_location", "run_id", "workspace", "version")
"""What a version is; it is written once."""


class Watch:
    """Notes the changes of a session from now on. A rollback forgets them."""

    def __init__(self, session: Session) -> None:
        self.changes: list[Change] = []
        session.info[_WATCH] = self

    def note(self, session: Session) -> None:
        """What is about to be flushed."""
        for row in [*session.new, *session.dirty]:
            if isinstance(row, _WATCHED):
                self.changes.extend(_written(row))
        for row in session.deleted:
            if isinstance(row, SqlRegisteredModelAlias):
                self.changes.append(Change("alias", row.name, row.alias, None))
            elif isinstance(row, _WATCHED):
                self.changes.append(Change("model deleted", row.name, "", None))


@event.listens_for(Session, "before_flush")
def _note(session: Session, _context: object, _instances: object) -> None:
    watch: Watch | None = session.info.get(_WATCH)
    if watch is not None:
        watch.note(session)


@event.listens_for(Session, "after_soft_rollback")
def _forget(session: Session, _transaction: object) -> None:
    watch: Watch | None = session.info.get(_WATCH)
    if watch is not None:
        watch.changes.clear()


def _written(row: object) -> Iterator[Change]:
    state = inspect(row)
    assert state is not None
    is_new = state.transient or state.pending

    def changed(name: str) -> bool:
        return bool(state.attrs[name].history.has_changes())

    def before(name: str) -> str | None:
        old = state.attrs[name].history.deleted
        return str(old[0]) if old else None

    values = state.attrs
    model = str(values["name"].value)
    if not is_new and changed("name"):
        yield Change("renamed", before("name") or "", "", model)
    if isinstance(row, SqlRegisteredModelAlias):
        if is_new or changed("version"):
            yield Change("alias", model, str(values["alias"].value), str(values["version"].value))
        if not is_new and changed("alias"):
            yield Change("rewritten", model, str(values["version"].value), "alias")
    elif isinstance(row, SqlModelVersion):
        version, stage = str(values["version"].value), values["current_stage"].value
        if is_new:
            yield Change("registered", model, "", values["source"].value, version=version)
            if stage not in (None, "None"):
                yield Change("stage", model, version, stage, before="None")
        elif changed("current_stage") and stage == DELETED_STAGE:
            yield Change("version deleted", model, version, None)
        else:
            if changed("current_stage"):
                yield Change("stage", model, version, stage, before=before("current_stage"))
            for name in _FIXED:
                if changed(name):
                    yield Change("rewritten", model, version, name)


@event.listens_for(Session, "do_orm_execute")
def _refuse_bulk(execution: ORMExecuteState) -> None:
    """Statements that write to rows without loading them pass by `note`; MLflow has none for these tables."""
    if execution.is_select or _WATCH not in execution.session.info:
        return
    table = getattr(getattr(execution.statement, "table", None), "name", None)
    if table in _TABLES:
        raise denied(
            f"This MLflow writes to {table} in a way that the Shipworthy guard does not know, so it was refused. "
            "Install the version of MLflow that docs/mlflow.md of Shipworthy names."
        )
