"""How the location of a model version is spelled. Pure, and free of MLflow.

What is released are the files that a reader gets, and readers do not all read alike: the artifact proxy decodes paths
until nothing is left to decode, object stores keep `a//b` apart from `a/b`, a host in an address is asked instead of
this server. Only what all of them take for the same files may be released.
"""

import posixpath
import re
from typing import Final
from urllib.parse import urlsplit

_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_DECODED: Final = re.compile(r"[%;?#\\]")
"""What the artifact proxy decodes or cuts off."""
_HOSTS: Final = ("http", "https")


def why_not_plain(location: str) -> str | None:
    """What is wrong with the spelling, without a full stop; None for a plain one."""
    parts = urlsplit(location)
    if _CONTROLS.search(location):
        return "its location has control characters"
    if not parts.scheme:
        return None
    if not location.startswith(f"{parts.scheme}:"):
        return f"its location begins with another spelling of {parts.scheme}:"
    if parts.scheme in ("file", "models"):
        return None
    if parts.scheme in _HOSTS or (parts.scheme in ("runs", "mlflow-artifacts") and parts.netloc):
        return "its location names a host, and readers would ask that one and not this server"
    return _why_not_plain_path(location, parts.scheme in ("runs", "mlflow-artifacts"))


def claim_of(location: str) -> tuple[str, str] | None:
    """Of `runs:/id/name/…` in any spelling: run and name of the logged model that readers lay over these files."""
    parts = urlsplit(location)
    if parts.scheme != "runs":
        return None
    run_id, _, path = parts.path.removeprefix("/").partition("/")
    return run_id, path.partition("/")[0]


def _why_not_plain_path(location: str, is_proxied: bool) -> str | None:
    parts = urlsplit(location)
    path = parts.path.removesuffix("/")
    if (path and posixpath.normpath(path) != path) or path.startswith("//"):
        return "its location has an empty, '.' or '..' part"
    if parts.query or parts.fragment or location[-1:] in ("?", "#") or (is_proxied and _DECODED.search(path)):
        return "its location has characters that some readers decode or cut off, one of % ; ? # \\"
    return None
