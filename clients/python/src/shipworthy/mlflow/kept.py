"""What the released versions of a registry rest on: their runs, logged models and files, which nothing may delete or
overwrite."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from mlflow.exceptions import MlflowException
from mlflow.store.artifact.utils.models import _parse_model_uri
from mlflow.store.model_registry.dbmodels.models import SqlModelVersion, SqlRegisteredModelAlias
from sqlalchemy import ColumnElement, and_, or_, select, tuple_
from sqlalchemy.orm import Session

from shipworthy.mlflow.gate import Gate
from shipworthy.mlflow.locating import (
    Place,
    RegistryStore,
    Unreadable,
    follow,
    in_workspace,
    tracking_store,
    where_run_is,
)
from shipworthy.mlflow.marks import Mark, Marks
from shipworthy.mlflow.protections import ACTIVE_STAGES, Protections, Released
from shipworthy.mlflow.rows import DELETED_STAGE, Sessions
from shipworthy.mlflow.settings import DEFAULT_WORKSPACE, GuardSettings
from shipworthy.mlflow.sources import claim_of

CHUNK: Final = 200
"""Versions asked for in one statement."""


@dataclass(frozen=True, slots=True)
class VersionKey:
    """A model version, and where the registry says that it came from."""

    workspace: str
    model: str
    version: int
    source: str | None
    location: str | None
    run_id: str | None


@dataclass(frozen=True, slots=True)
class Kept:
    """A version that needed a pass for what it is or was, and what it rests on."""

    key: VersionKey
    places: tuple[Place, ...]
    runs: frozenset[str]
    logged_models: frozenset[str]
    experiments: frozenset[str]
    claims: frozenset[tuple[str, str]]
    """Run and name of logged models that would lie over its files, see locating.py."""

    def __str__(self) -> str:
        return f"version {self.key.version} of {self.key.model}"


class Keeper:
    """Knows the released versions at any moment: those that the service names, and those that hold a protected name in
    the registry right now, whoever gave it to them."""

    def __init__(
        self, store: RegistryStore, sessions: Sessions, settings: GuardSettings, gate: Gate, marks: Marks
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._settings = settings
        self._gate = gate
        self._marks = marks
        self._known: dict[VersionKey, Kept] = {}
        self._released: tuple[tuple[Released, ...], frozenset[VersionKey]] = ((), frozenset())
        self._lock = threading.Lock()

    def is_known(self) -> bool:
        """Whether the service has said what was released, all of it."""
        return self._gate.protections().complete

    def under_way(self) -> list[Mark]:
        """What is being released at this moment."""
        return self._marks.standing()

    def kept(self) -> tuple[Kept, ...]:
        protections = self._gate.protections()
        with self._sessions(read_only=False) as session:
            keys = {*_holding(session, protections), *self._released_keys(session, protections)}
        return tuple(
            self._resolve(key)
            for key in sorted(keys, key=lambda key: (key.workspace, key.model, key.version))
        )

    def _released_keys(self, session: Session, protections: Protections) -> frozenset[VersionKey]:
        """Looked up anew only when the service names other versions: what a released one is, is never rewritten."""
        released, keys = self._released
        if released != protections.released:
            keys = frozenset(self._look_up(session, protections))
            self._released = (protections.released, keys)
        return keys

    def _look_up(self, session: Session, protections: Protections) -> Iterator[VersionKey]:
        wanted = [
            (workspace, each.model, int(each.version))
            for each in protections.released
            if each.version.isdecimal() and (workspace := self._workspace(each.registry)) is not None
        ]
        columns = tuple_(SqlModelVersion.workspace, SqlModelVersion.name, SqlModelVersion.version)
        for first in range(0, len(wanted), CHUNK):
            yield from _keys(session, columns.in_(wanted[first : first + CHUNK]))

    def _workspace(self, registry: str) -> str | None:
        """The workspace that a registry of the service is; None for another MLflow."""
        if registry == self._settings.registry:
            return DEFAULT_WORKSPACE
        name, at, workspace = registry.rpartition("@")
        return workspace if at and name == self._settings.registry else None

    def _resolve(self, key: VersionKey) -> Kept:
        with self._lock:
            found = self._known.get(key)
        if found is None:
            with in_workspace(key.workspace):
                found = _rests_on(self._store, key)
            if found.places:  # Else what it rests on may only be out of reach for the moment.
                with self._lock:
                    self._known[key] = found
        return found


def _holding(session: Session, protections: Protections) -> Sequence[VersionKey]:
    """Versions behind protected aliases and in protected stages, and all of models that take none without a pass."""
    alias, version = SqlRegisteredModelAlias, SqlModelVersion
    joined = and_(
        alias.workspace == version.workspace, alias.name == version.name, alias.version == version.version
    )
    names = () if protections.everything else (alias.alias.in_(protections.targets),)
    stages = {*protections.targets, *(ACTIVE_STAGES if protections.everything else ())}
    held = select(alias.alias).where(joined, *names).exists()
    passed = version.name.in_(protections.registration_models)
    return _keys(session, or_(held, version.current_stage.in_(stages), passed))


def _keys(session: Session, wanted: ColumnElement[bool]) -> Sequence[VersionKey]:
    version = SqlModelVersion
    query = select(
        version.workspace,
        version.name,
        version.version,
        version.source,
        version.storage_location,
        version.run_id,
    ).where(version.current_stage != DELETED_STAGE, wanted)
    return [
        VersionKey(workspace, name, number, source, location or source, run_id or None)
        for workspace, name, number, source, location, run_id in session.execute(query)
    ]


def _rests_on(store: RegistryStore, key: VersionKey) -> Kept:
    """What can't be found any more can't be kept either, and is left out."""
    places: set[Place] = set()
    runs = {key.run_id} if key.run_id else set()
    logged_models: set[str] = set()
    experiments: set[str] = set()
    for location in {key.source, key.location} - {None, ""}:
        try:
            # However it is spelled: what is there already is kept, too much of it rather than too little.
            places.add(follow(store, str(location), plainly=False))
        except Unreadable:
            continue
    for model_id in _logged_models_of(key, places):
        logged_models.add(model_id)
        try:
            model = tracking_store().get_logged_model(model_id)
            experiments.add(model.experiment_id)
            if model.source_run_id:
                runs.add(model.source_run_id)
        except MlflowException:
            continue
    for run_id in runs:
        try:
            experiment_id, artifact_uri = where_run_is(run_id)
            experiments.add(experiment_id)
            places.add(follow(store, artifact_uri, plainly=False))
        except (MlflowException, Unreadable):
            continue
    locations = [each for each in (key.source, key.location) if each]
    claims = frozenset(claim for each in locations if (claim := claim_of(each)) is not None)
    return Kept(key, tuple(places), frozenset(runs), frozenset(logged_models), frozenset(experiments), claims)


def _logged_models_of(key: VersionKey, places: Iterable[Place]) -> set[str]:
    """The logged models that the version was made from: by its source, or by the folders that MLflow gave them."""
    found: set[str] = set()
    if key.source and urlsplit(key.source).scheme == "models":
        try:
            found.update({_parse_model_uri(key.source).model_id} - {None})
        except MlflowException:
            return found
    for place in places:
        found.update(part for part in place.text.split("/") if part.startswith("m-") and len(part) == 34)
    return found
