"""Which registry a command is about, and which MLflow server holds it."""

import os
from typing import Annotated, Final

import typer

from shipworthy.errors import UsageError
from shipworthy.registries.mlflow_address import authorization_of, check_address
from shipworthy.registries.mlflow_models import DEFAULT_WORKSPACE
from shipworthy.registries.mlflow_server import MlflowServer

TrackingUri = Annotated[
    str | None,
    typer.Option("--tracking-uri", help="Address of the MLflow server; MLFLOW_TRACKING_URI otherwise."),
]
Registry = Annotated[
    str | None,
    typer.Option(help="What Shipworthy calls the registry; SHIPWORTHY_REGISTRY or “default” otherwise."),
]
Target = Annotated[str, typer.Option("--to", help="Alias, or stage such as Production.", show_default=False)]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A registered model.", show_default=False)]

_NO_SERVER: Final = (
    "no MLflow server is named; set MLFLOW_TRACKING_URI to its address, or give --tracking-uri"
)


def open_registry(tracking_uri: str | None) -> MlflowServer:
    """The server of --tracking-uri or the environment, asked as the user and in the workspace of MLflow's variables.

    Raises UsageError when neither names a server."""
    address = tracking_uri or os.environ.get("MLFLOW_TRACKING_URI", "").strip()
    if not address:
        raise UsageError(_NO_SERVER)
    # A guarded server hashes the artifact before it answers: at the first time that takes as long as reading it.
    return MlflowServer(
        check_address(address, "MLFLOW_TRACKING_URI"), authorization_of(), workspace=_workspace(), timeout=600
    )


def registry_name(given: str | None) -> str:
    """Of --registry as it is; of the environment with the workspace, which is a registry of its own."""
    if given is not None:
        return given
    name = os.environ.get("SHIPWORTHY_REGISTRY", "").strip() or "default"
    workspace = _workspace()
    return name if workspace is None else f"{name}@{workspace}"


def check_target(target: str) -> str:
    """Raises UsageError for what no alias or stage can be named."""
    if target == "registration":
        raise UsageError(
            "a gate for registration is asked when a version is registered in MLflow; nothing is moved to it"
        )
    return target


def _workspace() -> str | None:
    name = os.environ.get("MLFLOW_WORKSPACE", "").strip()
    return None if name in ("", DEFAULT_WORKSPACE) else name
