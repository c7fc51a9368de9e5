"""The guard of one registry store: plan a call, ask the gates, let MLflow write, look again, confirm, commit.

The order closes the race between a promotion and a revocation: the service is told, and agrees, after MLflow's rows are
written and before they are committed. What it does not take is rolled back.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias, TypeVar

from mlflow.exceptions import MlflowException
from sqlalchemy.orm import Session

from shipworthy.errors import NotDelivered
from shipworthy.mlflow.enforcing import unguarded
from shipworthy.mlflow.gate import Gate, Grant
from shipworthy.mlflow.hashing import Digests
from shipworthy.mlflow.locating import Place, Unreadable, digest_of, follow
from shipworthy.mlflow.marks import Mark, Marks
from shipworthy.mlflow.plans import Move, Plan, Refused, VersionRow
from shipworthy.mlflow.protections import Protections
from shipworthy.mlflow.refusals import denied, gate_away
from shipworthy.mlflow.rows import Reader, Sessions, lock_model
from shipworthy.mlflow.settings import GuardSettings
from shipworthy.mlflow.users import registry_user
from shipworthy.mlflow.watching import Watch
from shipworthy.values import Body, Json

T = TypeVar("T")
Arguments: TypeAlias = Mapping[str, object]
Planner: TypeAlias = Callable[[Reader, Protections, Arguments], Plan]


class GuardedStore(Protocol):
    """What the guard needs of MLflow's registry store."""

    def _get_active_workspace(self) -> str: ...
    def get_model_version_download_uri(self, name: str, version: str) -> str: ...


@dataclass(slots=True)
class Granted:
    """One move that was granted, and the digest it was granted for."""

    move: Move
    grant: Grant
    place: Place | None
    digest: str | None
    confirmed: bool = False


@dataclass(slots=True)
class Task:
    """A guarded call under way: the first session that it writes with belongs to it."""

    plan: Plan
    replan: Callable[[Session], Plan]
    granted: list[Granted] = field(default_factory=list)
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
        self._marks = marks
        self._digests = Digests()

    def run(self, planner: Planner, arguments: Arguments, call: Callable[[], T]) -> T:
        """Does the call when the gates allow what it would change. Raises MlflowException 403 otherwise."""
        protections = self._gate.protections()

        def replan(session: Session) -> Plan:
            # Within the session's block: MLflow makes an error 500, which clients retry, of all but its own exceptions.
            try:
                return planner(self._reader_of(session), protections, arguments)
            except Refused as error:
                raise denied(str(error)) from None

        # Never a read replica: it may lag behind the promotion before this one.
        with self._plain_sessions(read_only=False) as session:
            plan = replan(session)
        if not plan.permits:
            return call()
        task = Task(plan, replan)
        token = _TASK.set(task)
        reason = "the registry did not make the move"
        with ExitStack() as marked:  # Until the registry has committed.
            try:
                for move in plan.moves:
                    task.granted.append(self._ask(plan.model, move, marked))
                return call()
            except MlflowException as error:
                reason = str(error.message)
                raise
            finally:
                _TASK.reset(token)
                self._give_back(task, reason)

    @contextmanager
    def sessions(self, read_only: bool = True) -> Iterator[Session]:
        """In place of the store's ManagedSessionMaker."""
        with self._plain_sessions(read_only=read_only) as session:
            watch = Watch(session)
            task = None if read_only else self._begin(session)
            yield session
            if session.new or session.dirty or session.deleted:
                session.flush()
            if task is not None or watch.changes:
                self._settle(watch, task)

    def _reader_of(self, session: Session) -> Reader:
        workspace = self._store._get_active_workspace()
        return Reader(session, self._settings.registry_of(workspace), workspace)

    def _begin(self, session: Session) -> Task | None:
        """The call's task, with the model locked and found as it was when the gates were asked."""
        task = _TASK.get()
        if task is None or task.begun:
            return None
        task.begun = True
        lock_model(session, self._store._get_active_workspace(), task.plan.model)
        if task.replan(session) != task.plan:
            raise denied(
                f"{task.plan.model} was changed by somebody else meanwhile, so nothing was moved. Try again."
            )
        return task

    def _settle(self, watch: Watch, task: Task | None) -> None:
        """The last look at what was flushed; then the service is told, and what it refuses is not committed."""
        found = unguarded(watch.changes, self._gate.protections(), None if task is None else task.plan)
        if found is not None:
            raise denied(
                f"This call would change {found.what} {found.key} of {found.model} without a decision: refused."
            )
        if task is None:
            return
        number = next((each.version for each in watch.changes if each.what == "registered"), None)
        for granted in task.granted:
            self._require_same_artifact(granted)
            row = granted.move.row
            version = number if granted.move.action == "register" or row is None else str(row.version)
            try:
                self._gate.confirm(granted.grant, version)
            except NotDelivered as error:
                raise denied(
                    f"The release gate did not confirm it, so {task.plan.model} was left as it was: {error.detail}."
                ) from error
            granted.confirmed = True
        # Who began to write before the mark was put, ends while the service is told.
        for granted in task.granted:
            self._require_same_artifact(granted)

    def _ask(self, model: str, move: Move, marked: ExitStack) -> Granted:
        """Raises MlflowException unless the service grants exactly this move."""
        row = move.row
        demotion = move.action == "demote"
        place = None
        digest = None
        if row is not None and not demotion:
            try:
                place = self._place(row)
                marked.enter_context(self._marks.put(Mark(place.text, str(row.location))))
                digest = digest_of(self._digests, place)
            except (Unreadable, OSError) as error:
                raise denied(
                    f"The artifact of {_name(model, row)} can't be read by the MLflow server, so nobody knows what "
                    f"would be released as {move.target}: {error}."
                ) from error
        asked: Body = {
            "action": move.action,
            "registry": self._settings.registry_of(self._store._get_active_workspace()),
            "model": model,
            "version": _number(row),
            "target": move.target,
            "artifact": digest,
            "source": None if row is None else row.source,
            "registry_run_id": None if row is None else row.run_id,
            "incumbent": self._incumbent(move),
            "registry_user": registry_user(),
        }
        try:
            verdict = self._gate.check(asked)
        except (NotDelivered, ValueError) as error:
            raise gate_away(error) from error
        if verdict.grant is None:
            raise denied(verdict.sentence, verdict.who, verdict.link)
        return Granted(move, verdict.grant, place, digest)

    def _incumbent(self, move: Move) -> Json:
        row = move.incumbent
        if row is None:
            return None
        try:
            digest = digest_of(self._digests, self._place(row))
        except Unreadable:
            digest = None
        return {"version": str(row.version), "artifact": digest}

    def _require_same_artifact(self, granted: Granted) -> None:
        row = granted.move.row
        if granted.place is None or row is None:
            return
        try:
            # What a run's artifacts are can change by a logged model of the same name, see locating.py.
            may_move = (row.location or "").startswith("runs:")
            place = self._place(row) if may_move else granted.place
            digest = digest_of(self._digests, place) if place.is_local else granted.digest
        except Unreadable as error:
            raise denied(
                f"The artifact changed while the gates were asked, so nothing was moved: {error}."
            ) from error
        if (place, digest) != (granted.place, granted.digest):
            raise denied("The artifact changed while the gates were asked, so nothing was moved.")

    def _place(self, row: VersionRow) -> Place:
        if not row.location:
            raise Unreadable("it has no location")
        return follow(self._store, row.location)

    def _give_back(self, task: Task, reason: str) -> None:
        for granted in task.granted:
            if not granted.confirmed:
                self._gate.give_back(granted.grant, _number(granted.move.row), reason)


def _number(row: VersionRow | None) -> str | None:
    """None for a version that has no number yet."""
    return None if row is None or row.version == 0 else str(row.version)


def _name(model: str, row: VersionRow) -> str:
    return f"version {row.version} of {model}" if row.version else f"the new version of {model}"
