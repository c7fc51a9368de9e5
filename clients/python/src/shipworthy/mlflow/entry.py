"""What MLflow loads for the URI schemes `shipworthy+sqlite` and `shipworthy+postgresql`.

MLflow loads it in every process with this package; only one that serves a guarded registry gets the guards, and only
there are the heavy modules imported.
"""

import os
import sys
from typing import Final

from shipworthy.errors import UsageError

SCHEME: Final = "shipworthy+"


def build_store(store_uri: str) -> object:
    """The guarded registry store. Raises UsageError when the guard could not do its work: MLflow does not start."""
    from shipworthy.mlflow.store import build_store as build

    _guard_process()
    return build(store_uri.removeprefix(SCHEME))


def serves_guarded_registry() -> bool:
    """Whether this process is an MLflow server whose registry is guarded."""
    if "mlflow.server" not in sys.modules:
        return False
    from mlflow.server.constants import REGISTRY_STORE_URI_ENV_VAR

    return os.environ.get(REGISTRY_STORE_URI_ENV_VAR, "").startswith(SCHEME)


def _guard_process() -> None:
    try:
        from shipworthy.mlflow.install import check_surfaces, install

        if serves_guarded_registry():
            install()
        else:  # The command `mlflow server` before it starts its workers, or a program without a server.
            check_surfaces()
    except (ImportError, AttributeError) as error:
        # MLflow only warns of these two and would go on without the guard.
        raise UsageError(
            f"The Shipworthy guard does not fit this MLflow ({error}). Install the version of MLflow that "
            "docs/mlflow.md names, or a newer `shipworthy`."
        ) from error


if serves_guarded_registry():
    _guard_process()
