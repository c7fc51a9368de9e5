"""Puts the guards into an MLflow server's process: for runs, workspaces and artifacts besides the registry."""

import functools
import os
import threading
from collections.abc import Callable, Mapping
from typing import Final, Protocol, cast

from mlflow.environment_variables import MLFLOW_REGISTRY_URI
from mlflow.server import handlers
from mlflow.server.constants import REGISTRY_STORE_URI_ENV_VAR
from mlflow.store.artifact.artifact_repo import (
    ArtifactRepository,
    MultipartDownloadMixin,
    MultipartUploadMixin,
    PresignedUploadMixin,
    StreamUploadMixin,
)
from mlflow.store.artifact.artifact_repository_registry import _artifact_repository_registry
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
from mlflow.store.tracking.sqlalchemy_workspace_store import WorkspaceAwareSqlAlchemyStore
from mlflow.store.workspace.abstract_store import AbstractStore as WorkspaceStore
from mlflow.tracking._tracking_service.utils import _tracking_store_registry
from mlflow.tracking._workspace.registry import _get_workspace_store_registry

from shipworthy.mlflow.keeping import ARTIFACT_LOOKS, TRACKING_LOOKS, WORKSPACE_LOOKS, Look, with_looks
from shipworthy.mlflow.kept import Keeper
from shipworthy.mlflow.known import ARTIFACT_METHODS, TRACKING_METHODS, WORKSPACE_METHODS
from shipworthy.mlflow.settings import read_guard_settings
from shipworthy.mlflow.surface import public_names, require_known, require_present

_DELEGATING: Final = frozenset({"runs", "models", "mlflow-artifacts", "http", "https"})
"""Schemes whose repositories ask another repository, or a server, to write."""
_installing = threading.Lock()


class Builders(Protocol):
    """MLflow's registries of what is built for which scheme of a URI."""

    _registry: dict[str, Callable[..., object]]

    def register(self, scheme: str, builder: Callable[..., object]) -> None: ...


def install() -> None:
    """Does it once for a process. Raises UsageError when this MLflow has something that the guard doesn't know."""
    with _installing:
        _install()


@functools.cache
def _install() -> None:
    read_guard_settings()
    check_surfaces()
    # MLflow starts its jobs with the tracking database as their address, and they would take it for the registry's too.
    if registry_uri := os.environ.get(REGISTRY_STORE_URI_ENV_VAR):
        MLFLOW_REGISTRY_URI.set(registry_uri)
    # The second one is that of MLflow's own client, which a server uses too: to delete its demo's runs, in jobs.
    for builders in (handlers._tracking_store_registry, _tracking_store_registry):
        _replace(cast(Builders, builders), TRACKING_LOOKS)
    _replace(cast(Builders, _get_workspace_store_registry()), WORKSPACE_LOOKS)
    _replace(cast(Builders, _artifact_repository_registry), ARTIFACT_LOOKS)


def check_surfaces() -> None:
    """Raises UsageError unless the stores and repositories have the methods that the guard was made for."""
    repositories = (
        ArtifactRepository, StreamUploadMixin, MultipartUploadMixin, MultipartDownloadMixin, PresignedUploadMixin
    )  # fmt: skip
    for what, kinds, known, looks in (
        (
            "tracking methods",
            (SqlAlchemyStore, WorkspaceAwareSqlAlchemyStore),
            TRACKING_METHODS,
            TRACKING_LOOKS,
        ),
        ("workspace methods", (WorkspaceStore,), WORKSPACE_METHODS, WORKSPACE_LOOKS),
        ("artifact methods", repositories, ARTIFACT_METHODS, ARTIFACT_LOOKS),
    ):
        found = frozenset[str]().union(*(public_names(kind) for kind in kinds))
        require_known(what, found, known)
        require_present(what, found, frozenset(name for name in looks if not name.startswith("_")))


def keeper_of_this_server() -> Keeper:
    """Of the registry that this process serves."""
    return cast(Keeper, handlers._get_model_registry_store()._shipworthy_keeper)


def _replace(builders: Builders, looks: Mapping[str, Look]) -> None:
    for scheme, builder in list(builders._registry.items()):
        if scheme not in _DELEGATING:
            builders.register(scheme, _looking_builder(builder, looks))


def _looking_builder(builder: Callable[..., object], looks: Mapping[str, Look]) -> Callable[..., object]:
    @functools.wraps(builder, assigned=("__doc__",), updated=())
    def build(*args: object, **kwargs: object) -> object:
        return with_looks(keeper_of_this_server, builder(*args, **kwargs), looks)

    return build
