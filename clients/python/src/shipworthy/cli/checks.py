"""What `shipworthy doctor` looks at: each check gives a finding, with the command that mends what is wrong."""

import importlib.util
import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from httpx import ConnectError

from shipworthy.cli.exits import Exit
from shipworthy.cli.translating import translated
from shipworthy.cli.versions import client_version
from shipworthy.cli.words import count, shown, span
from shipworthy.cli.working import nobody_takes, worker_command
from shipworthy.errors import ShipworthyError, UsageError
from shipworthy.query.client import ShipworthyClient
from shipworthy.query.errors import KeyRefused, RoleMissing
from shipworthy.query.results import Health
from shipworthy.settings import Settings, check_url
from shipworthy.sync import count_kept, find_journals

MAX_SKEW_SECONDS: Final = 5.0
"""Clocks that differ more put facts in a wrong order; the Date header itself is exact to a second."""


_MAX_WAITING: Final = 100


class Level(StrEnum):
    GOOD = "good"
    WEAK = "weak"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `mend` is a command, or what to do; `exit_code` is what doctor ends with for it."""

    level: Level
    about: str
    said: str
    mend: str | None = None
    exit_code: Exit = Exit.OK

    def document(self) -> dict[str, str | int | None]:
        return asdict(self)


def look(settings: Settings) -> Iterator[Finding]:
    """Findings in the order in which to mend them; what rests on something that failed is left out."""
    yield _client()
    yield from _service(settings)
    yield _journal(settings)
    yield from _surroundings()


def _client() -> Finding:
    said = f"shipworthy {client_version()} on Python {platform.python_version()}"
    return Finding(Level.GOOD, "client", said)


def _service(settings: Settings) -> Iterator[Finding]:
    if settings.url is None:
        yield Finding(
            Level.WEAK,
            "service",
            "SHIPWORTHY_URL is not set: runs are kept in the journal and not sent",
            "export SHIPWORTHY_URL=http://127.0.0.1:8470 (`shipworthy-server serve --open` starts one there)",
            Exit.NEGATIVE,
        )
        return
    try:
        check_url(settings.url)
    except UsageError as error:
        yield Finding(Level.BAD, "service", str(error), "export SHIPWORTHY_URL=https://…", Exit.USAGE)
        return
    with ShipworthyClient(settings.url, settings.token, timeout=15.0) as client:
        try:
            health = client.health()
        except ShipworthyError as error:
            refused = isinstance(error.__cause__, ConnectError)
            mend = _start(settings.url) if refused else f"curl -sS {settings.url}/readyz"
            yield Finding(Level.BAD, "service", str(error), mend, Exit.UNREACHABLE)
            return
        yield Finding(Level.GOOD, "service", f"{settings.url} is ready, on {health.database}")
        yield _versions(health)
        yield clock(health, datetime.now(UTC))
        yield from _key(settings, client)


def _start(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1"):
        return f"shipworthy-server serve --port {parts.port or 80}"
    return f"curl -sS {url}/readyz"


def _versions(health: Health) -> Finding:
    mine, theirs = client_version(), health.version
    if theirs is None or theirs.split(".")[:2] == mine.split(".")[:2]:
        return Finding(Level.GOOD, "versions", f"client {mine}, service {theirs or 'unknown'}")
    said = f"client {mine}, service {theirs}: newer fields of one are unknown to the other"
    return Finding(Level.WEAK, "versions", said, f"pip install 'shipworthy=={theirs}'")


def clock(health: Health, now: datetime) -> Finding:
    if health.clock is None:
        return Finding(Level.WEAK, "clock", "the service doesn't tell its time")
    skew = (now - health.clock).total_seconds()
    # The service's time has no fraction: half a second is the middle of what it may have been.
    if abs(skew - 0.5) <= MAX_SKEW_SECONDS:
        return Finding(Level.GOOD, "clock", "agrees with the service")
    said = f"this machine is {span(abs(skew))} {'ahead of' if skew > 0 else 'behind'} the service"
    return Finding(Level.BAD, "clock", said, "timedatectl set-ntp true", Exit.NEGATIVE)


def _key(settings: Settings, client: ShipworthyClient) -> Iterator[Finding]:
    make = "shipworthy-server keys create --role recorder"
    try:
        next(client.runs(page=1), None)
        reads = True
    except KeyRefused as error:
        mend = f"{make} && export SHIPWORTHY_TOKEN=sw_…"
        said = "SHIPWORTHY_TOKEN is not set, and the service asks for a key"
        yield Finding(Level.BAD, "key", translated(error, ()) if settings.token else said, mend, Exit.AUTH)
        return
    except RoleMissing:
        reads = False
    try:
        # Nothing to record: the roles are looked at first.
        client.append([])
        records = True
    except RoleMissing as error:
        records = False
        yield Finding(Level.WEAK, "key", f"may read, not record: {error}", make)
    if records:
        said = "no key is asked for: the service is open" if settings.token is None else "is accepted"
        may = "may read and record" if reads else "may record, not read"
        yield Finding(Level.GOOD, "key", f"{said}; {may}")
    if reads:
        yield _gates(client)
        yield from _work(client, datetime.now(UTC))


def _gates(client: ShipworthyClient) -> Finding:
    found = client.protections()
    if found["all"]:
        return Finding(Level.GOOD, "gates", "every name of a model registry takes a decision")
    # MLflow's stage Production does so without any gate.
    names = [each for each in found["targets"] if each != "Production"]
    if names:
        return Finding(Level.GOOD, "gates", f"names that take a decision: {shown(names, 5)}")
    said = "no gate stands before any name of a model registry: all but the stage Production are free to move"
    return Finding(Level.WEAK, "gates", said, "shipworthy gate publish NAME policy.yaml")


def _work(client: ShipworthyClient, now: datetime) -> Iterator[Finding]:
    """Checks that nobody takes, as the one tells that waits longest of those that were asked for last."""
    waiting = list(islice(client.checks(state="queued"), _MAX_WAITING))
    if not waiting:
        return
    oldest = client.check(waiting[-1]["id"]).work
    alone = nobody_takes(oldest, now)
    if alone is not None:
        more = " or more" if len(waiting) == _MAX_WAITING else ""
        said = f"{count(len(waiting), 'contract check')}{more} queued, and {alone}"
        yield Finding(Level.WEAK, "work", said, worker_command(oldest, client.url))


def _journal(settings: Settings) -> Finding:
    folder = settings.folder
    if not folder.exists():
        parent = _nearest(folder)
        if not _is_writable(parent):
            said = f"{parent} is not writable: journals go to the temporary folder"
            return Finding(Level.WEAK, "journal", said, "export SHIPWORTHY_DIR=/a/writable/folder")
        return Finding(Level.GOOD, "journal", f"{folder}: nothing kept")
    if not _is_writable(folder):
        said = f"{folder} is not writable: journals go to the temporary folder"
        return Finding(Level.WEAK, "journal", said, f"chmod u+rwx {folder}")
    kept = count_kept(folder)
    if kept:
        runs = len({path.parent for path in find_journals(folder)})
        said = f"{count(kept, 'record')} in {folder} not sent yet ({count(runs, 'run')} there)"
        return Finding(Level.WEAK, "journal", said, f"shipworthy sync {folder}", Exit.NEGATIVE)
    refused = list(folder.glob("*/*.refused"))
    if refused:
        said = f"the service refused records; see {refused[0]}"
        return Finding(Level.WEAK, "journal", said, f"shipworthy sync --again {folder}", Exit.NEGATIVE)
    return Finding(Level.GOOD, "journal", f"{folder}: nothing kept")


def _surroundings() -> Iterator[Finding]:
    if shutil.which("git") is None:
        yield Finding(Level.WEAK, "git", "not found: code can't be captured", "apt-get install git")
    else:
        yield Finding(Level.GOOD, "git", "is there")
    if shutil.which("nvidia-smi") is not None and importlib.util.find_spec("pynvml") is None:
        said = "there is a GPU, and its type and driver can't be captured"
        yield Finding(Level.WEAK, "gpu", said, "pip install 'shipworthy[gpu]'")


def _nearest(folder: Path) -> Path:
    """The nearest folder above that exists."""
    return next(parent for parent in folder.parents if parent.exists())


def _is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)
