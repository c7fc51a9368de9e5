"""How the guard reaches the service: `SHIPWORTHY_URL`, `SHIPWORTHY_TOKEN`, `SHIPWORTHY_REGISTRY`."""

import os
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from shipworthy.errors import UsageError
from shipworthy.settings import check_url

DEFAULT_WORKSPACE: Final = "default"
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,255}")


class GuardSettings(NamedTuple):
    """`registry` is the name that the service knows this MLflow registry by."""

    url: str
    token: str
    registry: str

    def __repr__(self) -> str:
        # Tracebacks of some tools print it: never with the key.
        return f"GuardSettings(url={self.url!r}, registry={self.registry!r})"

    def registry_of(self, workspace: str) -> str:
        """Each MLflow workspace is a registry of its own; models of one name in two of them are two models."""
        return self.registry if workspace == DEFAULT_WORKSPACE else f"{self.registry}@{workspace}"


def read_guard_settings(environ: Mapping[str, str] = os.environ) -> GuardSettings:
    """Raises UsageError when the guard could not ask anybody: a guarded server must not start like that."""
    url = environ.get("SHIPWORTHY_URL", "").strip()
    token = environ.get("SHIPWORTHY_TOKEN", "").strip()
    registry = environ.get("SHIPWORTHY_REGISTRY", "").strip() or "default"
    if not url:
        raise UsageError(
            "SHIPWORTHY_URL is not set: the MLflow guard asks the Shipworthy service before anything is promoted; "
            "set it to its address, such as http://localhost:8470"
        )
    check_url(url)
    if not token:
        raise UsageError(
            "SHIPWORTHY_TOKEN is not set: the MLflow guard needs a key with the role registry; make one with "
            "`shipworthy-server keys create --role registry`"
        )
    if not _IDENTIFIER.fullmatch(registry):
        raise UsageError(
            f"SHIPWORTHY_REGISTRY {registry[:80]!r} is no name; write letters, digits and ._/:@-, a letter first"
        )
    return GuardSettings(url.rstrip("/"), token, registry)
