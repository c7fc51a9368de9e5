"""The guard of one registry store: lock the model, plan the call, let MLflow write, ask the gates, commit.

The order closes the race between a promotion and a revocation: the service judges and records after MLflow's rows are
written and before they are committed. What it does not record is rolled back.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, TypeVar

from sqlalchemy.orm import Session

from shipworthy.errors import NotDelivered
from shipworthy.mlflow.artifacts import Artifact, Artifacts, Found, Unhashed
from shipworthy.mlflow.enforcing import unguarded
from shipworthy.mlflow.gate import Gate
from shipworthy.mlflow.locating import Unreadable
from shipworthy.mlflow.marks import Marks
from shipworthy.mlflow.plans import Move, Plan, Refused, VersionRow
from shipworthy.mlflow.protections import Protections
from shipworthy.mlflow.refusals import denied, gate_away
from shipworthy.mlflow.rows import Reader, Sessions
from shipworthy.mlflow.settings import GuardSettings
from shipworthy.mlflow.users import registry_user
from shipworthy.mlflow.watching import Watch
from shipworthy.values import Body, Json

TRIES: Final = 8
"""A call moves two names at most, each with what it held: four artifacts that may have to be hashed, one at a time."""

T = TypeVar("T")
Arguments: TypeAlias = Mapping[str, object]
Planner: TypeAlias = Callable[[Reader, Protections, Arguments], Plan]


class GuardedStore(Protocol):
    """What the guard needs of MLflow's registry store."""

    def _get_active_workspace(self) -> str: ...
    def get_model_version_download_uri(self, name: str, version: str) -> str: ...


@dataclass(slots=True)
class Task:
    """A guarded call under way: the first session that it writes with belongs to it."""

    plan: Callable[[Reader], Plan]
    found: Found
    begun: bool = False


_TASK: Final[ContextVar[Task | None]] = ContextVar("shipworthy_task", default=None)


class Guard:
    """Stands between a registry store and its database."""

    def __init__(
        self, store: GuardedStore, sessions: Sessions, settings: GuardSettings, gate: Gate, marks: Marks
    ) -> None:
        self._store = store
        self._plain_sessions = sessions
        self._settings = settings
        self._gate = gate
        self._artifacts = Artifacts(store, marks)

    def run(self, planner: Planner, arguments: Arguments, call: Callable[[], T]) -> T:
        """Does the call when the gates allow what it would change. Raises MlflowException 403 otherwise."""
        protections = self._gate.protections()
        with ExitStack() as until:  # The registry has committed.
            found = Found(until)
            for _ in range(TRIES):
                token = _TASK.set(Task(lambda reader: planner(reader, protections, arguments), found))
                try:
                    return call()
                except Unhashed as error:
                    unhashed = error.place
                finally:
                    _TASK.reset(token)
                # Nothing of the registry is locked meanwhile.
                self._artifacts.hash(unhashed, found)
        raise denied("The artifact changed again and again while it was hashed, so nothing was moved.")

    @contextmanager
    def sessions(self, read_only: bool = True) -> Iterator[Session]:
        """In place of the store's ManagedSessionMaker."""
        with self._plain_sessions(read_only=read_only) as session:
            watch = Watch(session)
            task = None if read_only else _TASK.get()
            plan = None
            if task is not None and not task.begun:
                task.begun = True
                plan = self._plan(session, task)
            yield session
            if session.new or session.dirty or session.deleted:
                session.flush()
            self._require_guarded(watch, plan)
            if task is not None and plan is not None and plan.moves:
                self._tell(watch, plan, task.found)

    def _plan(self, session: Session, task: Task) -> Plan:
        """What the call would change of the model, which is locked from here on if it is anything."""
        workspace = self._store._get_active_workspace()
        reader = Reader(session, self._settings.registry_of(workspace), workspace)
        try:
            plan = task.plan(reader)
        except Refused as error:
            raise denied(str(error)) from None
        if plan.permits:
            reader.lock(plan.model)
        return plan

    def _require_guarded(self, watch: Watch, plan: Plan | None) -> None:
        """The last look at what was flushed."""
        if not watch.changes:
            return
        found = unguarded(watch.changes, self._gate.protections(), plan)
        if found is not None:
            raise denied(
                f"This call would change {found.what} {found.key} of {found.model} without a decision: refused."
            )

    def _tell(self, watch: Watch, plan: Plan, found: Found) -> None:
        """Asks the service to record what was written; what it does not record must not be committed."""
        number = next((each.version for each in watch.changes if each.what == "registered"), None)
        artifacts = [self._artifact(plan.model, move, found) for move in plan.moves]
        asked: list[Json] = [
            self._asked(plan.model, move, artifact, number, found)
            for move, artifact in zip(plan.moves, artifacts, strict=True)
        ]
        try:
            verdict = self._gate.move(asked)
        except (NotDelivered, ValueError) as error:
            raise gate_away(error) from error
        if not verdict.allowed:
            raise denied(verdict.sentence, verdict.who, verdict.link)
        # Who began to write before the mark was put, ends while the service is asked.
        for artifact in artifacts:
            if artifact is not None:
                self._artifacts.require_same(artifact)

    def _artifact(self, model: str, move: Move, found: Found) -> Artifact | None:
        """What would be released, None when nothing would. Raises MlflowException when that is not known."""
        if move.row is None or move.action == "demote":
            return None
        try:
            return self._artifacts.released(move.row, found)
        except (Unreadable, OSError) as error:
            raise denied(
                f"The artifact of {_name(model, move.row)} can't be read by the MLflow server, so nobody knows what "
                f"would be released as {move.target}: {error}."
            ) from error

    def _asked(
        self, model: str, move: Move, artifact: Artifact | None, number: str | None, found: Found
    ) -> Body:
        """`number` is that of a version which was registered by this call."""
        row, held = move.row, move.incumbent
        incumbent: Json = None
        if held is not None:
            incumbent = {"version": str(held.version), "artifact": self._artifacts.present(held, found)}
        return {
            "action": move.action,
            "registry": self._settings.registry_of(self._store._get_active_workspace()),
            "model": model,
            "version": number if move.action == "register" or row is None else str(row.version),
            "target": move.target,
            "artifact": None if artifact is None else artifact.digest,
            "source": None if row is None else row.source,
            "registry_run_id": None if row is None else row.run_id,
            "incumbent": incumbent,
            "registry_user": registry_user(),
        }


def _name(model: str, row: VersionRow) -> str:
    return f"version {row.version} of {model}" if row.version else f"the new version of {model}"
