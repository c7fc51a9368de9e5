"""Where records go: `SHIPWORTHY_URL`, `SHIPWORTHY_TOKEN`, `SHIPWORTHY_DIR`, each overruled by an argument."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from shipworthy.errors import UsageError

DEFAULT_FOLDER: Final = ".shipworthy"


class Settings(NamedTuple):
    """`url` None means that everything stays in the journal until `shipworthy sync` sends it."""

    url: str | None
    token: str | None
    folder: Path
    strict: bool = False

    def __repr__(self) -> str:
        # Tracebacks of some tools print it: never with the key.
        return f"Settings(url={self.url!r}, folder={self.folder!r}, strict={self.strict!r})"


def read_settings(
    url: str | None = None,
    token: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    strict: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> Settings:
    """Raises UsageError for a URL that can't be one of a service."""
    url = url or environ.get("SHIPWORTHY_URL", "").strip() or None
    if url is not None:
        check_url(url)
        url = url.rstrip("/")
    return Settings(
        url=url,
        token=token or environ.get("SHIPWORTHY_TOKEN", "").strip() or None,
        folder=_absolute(Path(folder or environ.get("SHIPWORTHY_DIR", "") or DEFAULT_FOLDER)),
        strict=strict,
    )


def _absolute(folder: Path) -> Path:
    """Made absolute now: programs change their working directory. One that is gone leaves the path as it is, which
    nothing can be written to then."""
    try:
        return folder.absolute()
    except OSError:
        return folder


def check_url(url: str) -> None:
    """Raises UsageError unless it is an http or https address without credentials."""
    parts = urlsplit("")
    with suppress(ValueError):
        parts = urlsplit(url)
    if not _is_address(parts) or not url.isprintable() or " " in url:
        raise UsageError(
            f"SHIPWORTHY_URL {url[:80]!r} is no address; write it with http:// or https:// before the host, "
            "such as http://localhost:8470"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageError("SHIPWORTHY_URL holds more than an address; the key belongs into SHIPWORTHY_TOKEN")


def _is_address(parts: SplitResult) -> bool:
    try:
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # The port is no number.
        return False
