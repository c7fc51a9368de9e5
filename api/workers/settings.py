"""What a worker is told: where its service is, what it may read, and how much one check may take."""

import importlib.util
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from models.errors import StartRefused
from models.patterns import IDENTIFIER_PATTERN
from shipworthy.errors import UsageError
from shipworthy.registries.mlflow_address import check_address

GIBIBYTE: Final = 2**30
PACKAGES: Final = (
    "great_expectations",
    "duckdb",
    "duckdb_sqlalchemy",
    "httpx",
    "pyarrow",
    "scipy",
    "sklearn",
)
"""What the extra `worker` installs."""

_SIZE: Final = re.compile(r"([1-9][0-9]{0,5})\s*(MiB|GiB|MB|GB|M|G)", re.IGNORECASE | re.ASCII)
_FACTORS: Final = {"mib": 2**20, "m": 2**20, "gib": GIBIBYTE, "g": GIBIBYTE, "mb": 10**6, "gb": 10**9}
_SPAN: Final = re.compile(r"([1-9][0-9]{0,5})([smh])", re.ASCII)
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600}
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}", re.ASCII)
_DAY_SECONDS: Final = 86_400
_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*(::|://)", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """`roots` maps a name to an absolute folder or an fsspec URL. `memory_bytes`, `time_seconds` and `threads`
    are for one check; `slots` checks run at a time. `claim_seconds` is how long one call waits for work, so
    also the longest that an idle worker takes to stop; `grace_seconds` is what running checks get to finish then.
    `mlflow_uri` "" means that no registry is reconciled; else it is called `registry` and looked at with a pause of
    `reconcile_seconds`.
    """

    url: str
    roots: Mapping[str, str]
    memory_bytes: int = 2 * GIBIBYTE
    time_seconds: int = 3600
    allow_sql: bool = False
    slots: int = 1
    threads: int = 1
    claim_seconds: int = 5
    grace_seconds: int = 20
    embedded: bool = False
    log_level: str = "info"
    mlflow_uri: str = ""
    registry: str = "default"
    reconcile_seconds: int = 60

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "WorkerSettings":
        """What `to_json` gave."""
        return cls(**json.loads(text))


def is_url(target: str) -> bool:
    """Whether a root's target is an fsspec URL such as s3://bucket/data, not a folder of this machine."""
    return _URL.match(target) is not None


def parse_roots(given: Iterable[str]) -> dict[str, str]:
    """The roots of options `NAME=PATH` or `NAME=URL`. StartRefused names the option that can't be taken."""
    roots: dict[str, str] = {}
    for text in given:
        name, equals, target = text.partition("=")
        if not equals or not target or _NAME.fullmatch(name) is None:
            raise StartRefused(
                f"--root {text[:200]!r} names no root; write NAME=PATH or NAME=URL, the name of lower-case letters, "
                "digits, dots, dashes and underscores, for instance taxi=/data/taxi or taxi=s3://bucket/taxi"
            )
        if name in roots:
            raise StartRefused(f"--root {name} is given twice; give each name once")
        if "::" in target:
            raise StartRefused(
                f"--root {name}={target[:200]} is a chain of addresses; give one, such as s3://bucket/data"
            )
        # fsspec would follow links out of a local folder.
        target = target.removeprefix("file://").removeprefix("local://")
        if is_url(target):
            roots[name] = target.rstrip("/")
            continue
        folder = Path(target).expanduser().absolute()
        if not folder.is_dir():
            raise StartRefused(
                f"--root {name}={target[:200]}: there is no such folder; give the one that holds the data"
            )
        roots[name] = str(folder)
    return roots


def parse_size(text: str, option: str = "--memory") -> int:
    """Bytes of a size such as 2GiB or 512MiB; StartRefused when it is none or below 256 MiB."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise StartRefused(
            f"{option} {text[:80]!r} is no size; write a number and MiB or GiB, for instance 2GiB"
        )
    size = int(match[1]) * _FACTORS[match[2].lower()]
    if size < 256 * 2**20:
        raise StartRefused(f"{option} {text} is less than a check needs; give 256MiB or more")
    return size


def parse_seconds(text: str, option: str = "--time-limit") -> int:
    """Seconds of a span such as 90s, 30m or 2h; StartRefused when it is none."""
    match = _SPAN.fullmatch(text.strip())
    if match is None:
        raise StartRefused(
            f"{option} {text[:80]!r} is no time; write a number and s, m or h, for instance 30m"
        )
    return int(match[1]) * _SECONDS[match[2]]


def check_url(url: str) -> str:
    """The service's address without a trailing slash; StartRefused when it is none."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise StartRefused(f"--url {url[:200]!r} is no address; write http://HOST:8470 or https://HOST")
    return url.rstrip("/")


def with_registry(settings: WorkerSettings, environ: Mapping[str, str] = os.environ) -> WorkerSettings:
    """The settings, and the registry that the environment names, if any. StartRefused names the variable that can't
    be taken."""
    uri = environ.get("SHIPWORTHY_MLFLOW_URI", "").strip()
    if not uri:
        return settings
    try:
        uri = check_address(uri, "SHIPWORTHY_MLFLOW_URI")
    except UsageError as error:
        raise StartRefused(str(error)) from None
    name = environ.get("SHIPWORTHY_REGISTRY", "").strip() or settings.registry
    if re.fullmatch(IDENTIFIER_PATTERN, name) is None:
        raise StartRefused(
            f"SHIPWORTHY_REGISTRY {name[:80]!r} is no name; write letters, digits and ._/:@- after the first"
        )
    pause = environ.get("SHIPWORTHY_RECONCILE_SECONDS", "").strip() or str(settings.reconcile_seconds)
    if not (pause.isascii() and pause.isdecimal() and 1 <= int(pause) <= _DAY_SECONDS):
        raise StartRefused(
            f"SHIPWORTHY_RECONCILE_SECONDS {pause[:80]!r} is no pause; write seconds, from 1 to {_DAY_SECONDS}"
        )
    return replace(settings, mlflow_uri=uri, registry=name, reconcile_seconds=int(pause))


def missing_packages() -> list[str]:
    """What of the extra `worker` is not installed."""
    return [name for name in PACKAGES if importlib.util.find_spec(name) is None]


def require_packages() -> None:
    """StartRefused, with the command that mends it, when what checks run on is not installed."""
    missing = missing_packages()
    if missing:
        raise StartRefused(
            f"a worker needs {', '.join(missing)}, not installed here; run: pip install 'shipworthy-server[worker]'"
        )
