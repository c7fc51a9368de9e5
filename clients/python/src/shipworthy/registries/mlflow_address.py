"""Which MLflow server is meant, and who asks it: checked and read without httpx."""

import base64
import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from shipworthy.errors import UsageError


def check_address(url: str, name: str) -> str:
    """The address without a trailing slash. Raises UsageError, which names the setting `name`."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise UsageError(
            f"{name} {url[:200]!r} is no address of an MLflow server; write http://HOST:5000 or https://HOST"
        )
    if parts.username is not None:
        raise UsageError(
            f"{name} holds more than an address; the user belongs into MLFLOW_TRACKING_USERNAME and "
            "MLFLOW_TRACKING_PASSWORD"
        )
    return url.rstrip("/")


def authorization_of(environ: Mapping[str, str] = os.environ) -> str | None:
    """The header that MLflow's own client would send: of MLFLOW_TRACKING_USERNAME and _PASSWORD, else of
    MLFLOW_TRACKING_TOKEN; None when the environment names nobody."""
    user, password = environ.get("MLFLOW_TRACKING_USERNAME"), environ.get("MLFLOW_TRACKING_PASSWORD")
    if user and password:
        return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    token = environ.get("MLFLOW_TRACKING_TOKEN")
    return f"Bearer {token}" if token else None
