"""Where the files behind a model version lie, seen from the MLflow server."""

import os
import posixpath
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Protocol, cast
from urllib.parse import urlsplit

from mlflow.exceptions import MlflowException
from mlflow.prompt.constants import _PROMPT_SOURCE_PLACEHOLDERS
from mlflow.server.constants import ARTIFACTS_DESTINATION_ENV_VAR, BACKEND_STORE_URI_ENV_VAR
from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository
from mlflow.store.artifact.runs_artifact_repo import RunsArtifactRepository
from mlflow.store.artifact.utils.models import _parse_model_uri
from mlflow.utils.file_utils import local_file_uri_to_path
from mlflow.utils.uri import validate_path_is_safe
from mlflow.utils.workspace_context import ServerWorkspaceContext

from shipworthy.mlflow.hashing import Digests
from shipworthy.mlflow.sources import why_not_plain

MAX_COPIES: Final = 8
"""A version may be a copy of a copy; so many are followed."""
_PROXIED: Final = ("mlflow-artifacts", "http", "https")


class Unreadable(Exception):
    """The files of a model version can't be read from here; the text says why, without a full stop."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where files lie: a real path of this machine, or an address without `..`, as text that can be compared."""

    text: str
    is_local: bool

    def overlaps(self, other: "Place") -> bool:
        """Whether one of two places lies in the other, or they are the same."""
        first, second = self.text.rstrip("/") + "/", other.text.rstrip("/") + "/"
        return first.startswith(second) or second.startswith(first)

    def under(self, *parts: str | None) -> "Place":
        """A place below this one; parts that are None or empty are left out."""
        text = posixpath.join(self.text, *(part for part in parts if part))
        return Place(os.path.realpath(text), True) if self.is_local else _address(text)


class RunInfo(Protocol):
    """What the guard reads of an MLflow run."""

    run_id: str
    experiment_id: str
    artifact_uri: str


class Run(Protocol):
    info: RunInfo


class LoggedModel(Protocol):
    """What the guard reads of an MLflow logged model."""

    model_id: str
    experiment_id: str
    artifact_location: str
    source_run_id: str | None


class LoggedModels(Protocol):
    """One page of a search; `token` leads to the next one."""

    token: str | None

    def __iter__(self) -> Iterator[LoggedModel]: ...


class TrackingStore(Protocol):
    """What is asked of MLflow's tracking store. Raises MlflowException for what is not there."""

    def get_run(self, run_id: str) -> Run: ...
    def get_logged_model(self, model_id: str) -> LoggedModel: ...
    def search_logged_models(
        self, experiment_ids: list[str], filter_string: str, page_token: str | None = None
    ) -> LoggedModels: ...


class RegistryStore(Protocol):
    """What is asked of a registry store to follow `models:/name/version`."""

    def get_model_version_download_uri(self, name: str, version: str) -> str: ...


def tracking_store() -> TrackingStore:
    """The one of the server, or outside of a server that of the environment."""
    if os.environ.get(BACKEND_STORE_URI_ENV_VAR):
        from mlflow.server import handlers

        return cast(TrackingStore, handlers._get_tracking_store())
    from mlflow.tracking._tracking_service.utils import _get_store

    return cast(TrackingStore, _get_store())


@lru_cache(maxsize=10_000)
def where_run_is(run_id: str) -> tuple[str, str]:
    """Experiment and artifact URI of a run, which MLflow gives once: reading a run brings all its metrics along.

    Raises MlflowException when there is no such run.
    """
    info = tracking_store().get_run(run_id).info
    return info.experiment_id, info.artifact_uri


def in_workspace(workspace: str) -> AbstractContextManager[object]:
    """For looking at another workspace than that of the request."""
    return cast(AbstractContextManager[object], ServerWorkspaceContext(workspace))


def follow(registry: RegistryStore, location: str, *, plainly: bool = True) -> Place:
    """Where the files are that a version's location leads to: through runs, logged models, other versions and the
    artifact proxy. Raises Unreadable; with `plainly` also when a reader might be led to other files (sources.py)."""
    try:
        return _follow(registry, location, 0, plainly)
    except (MlflowException, ValueError) as error:
        raise Unreadable(f"{location} leads nowhere: {error}") from error


def place_of(uri: str, *below: str) -> Place:
    """The place of a URI that names files directly, a path, `file:` or an object store, or of what lies below it."""
    if urlsplit(uri).scheme in ("", "file"):
        return Place(os.path.realpath(posixpath.join(local_file_uri_to_path(uri), *below)), True)
    return _address(uri).under(*below)


def digest_of(digests: Digests, place: Place) -> str:
    """The digest of the files at a place. Raises Unreadable."""
    try:
        if place.is_local:
            return digests.of(Path(place.text))
        with tempfile.TemporaryDirectory(prefix="shipworthy-") as folder:
            copy = get_artifact_repository(place.text).download_artifacts("", folder)
            return Digests().of(Path(copy))
    except (MlflowException, OSError, ValueError, ImportError) as error:
        raise Unreadable(f"{place.text}: {error}") from error


def _follow(registry: RegistryStore, location: str, depth: int, plainly: bool) -> Place:
    if depth > MAX_COPIES:
        raise Unreadable(f"{location} is the end of too long a chain of copies")
    if plainly and (reason := why_not_plain(location)):
        raise Unreadable(f"{reason}: {location}. Register the files under their plain address")
    if location in _PROMPT_SOURCE_PLACEHOLDERS:
        raise Unreadable("it is a prompt, whose text lies in tags that can be rewritten, and has no files")
    scheme = urlsplit(location).scheme
    if scheme == "runs":
        return _of_run(registry, location, depth, plainly)
    if scheme == "models":
        model = _parse_model_uri(location)
        if model.model_id is not None:
            further = tracking_store().get_logged_model(model.model_id).artifact_location
        else:
            further = registry.get_model_version_download_uri(model.name, model.version)
        return _follow(registry, further, depth + 1, plainly)
    return _behind_the_proxy(location, plainly) if scheme in _PROXIED else place_of(location)


def _of_run(registry: RegistryStore, location: str, depth: int, plainly: bool) -> Place:
    """MLflow's client loads `runs:/id/name/…` from the run's artifacts and over them from the run's logged model of
    that name, so that only one of the two may be there."""
    run_id, path = RunsArtifactRepository.parse_runs_uri(location)
    experiment_id, artifact_uri = where_run_is(run_id)
    root = _follow(registry, artifact_uri, depth + 1, plainly)
    if not path:
        return root
    name, _, rest = path.partition("/")
    models = [model for model in _models_called(name, experiment_id) if model.source_run_id == run_id]
    if not models:
        return root.under(path)
    if len(models) > 1 or _exists(root, path):
        raise Unreadable(
            f"{location} lies in several places, among the run's artifacts and as its logged model "
            f"{models[0].model_id}; register models:/{models[0].model_id} instead"
        )
    return _follow(registry, models[0].artifact_location, depth + 1, plainly).under(rest)


def _models_called(name: str, experiment_id: str) -> Iterator[LoggedModel]:
    token: str | None = None
    while True:
        page = tracking_store().search_logged_models([experiment_id], f"name = '{name}'", page_token=token)
        yield from page
        token = page.token
        if not token:
            return


def _exists(root: Place, path: str) -> bool:
    if root.is_local:
        return os.path.lexists(root.under(path).text)
    listed = get_artifact_repository(root.text).list_artifacts(posixpath.dirname(path) or None)
    return any(posixpath.normpath(info.path) == posixpath.normpath(path) for info in listed)


def _behind_the_proxy(location: str, plainly: bool) -> Place:
    from mlflow.server import handlers

    root = os.environ.get(ARTIFACTS_DESTINATION_ENV_VAR)
    if root is None or not handlers._is_serving_proxied_artifacts():
        raise Unreadable(f"{location} is served by another MLflow server than this one")
    if (
        urlsplit(location).scheme != "mlflow-artifacts"
        and "/api/2.0/mlflow-artifacts/artifacts/" not in location
    ):
        raise Unreadable(f"{location} is a web address, not an artifact of this server")
    asked, path = _path_behind_the_proxy(location)
    if plainly and path != asked:
        raise Unreadable(f"{location} is read by the artifact proxy as {path}")
    return place_of(root, handlers._get_workspace_scoped_repo_path_if_enabled(path))


@lru_cache(maxsize=10_000)
def _path_behind_the_proxy(location: str) -> tuple[str, str]:
    """As the location says it, and as the artifact proxy reads it. Raises MlflowException for one that it refuses."""
    from mlflow.server import handlers

    asked = handlers._get_proxied_run_artifact_destination_path(location)
    return asked, validate_path_is_safe(asked)


def _address(uri: str) -> Place:
    parts = urlsplit(uri)
    path = posixpath.normpath("/" + parts.path.lstrip("/"))
    return Place(f"{parts.scheme.lower()}://{parts.netloc}{path}", False)
