"""Killing the server under load and looking for what it had acknowledged. Used by bench_durability and tests/live."""

import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sqlalchemy import text

from benchmarks.support.http import Client, ConnectionLost
from benchmarks.support.load import run
from benchmarks.support.processes import Server, start_shipworthy
from benchmarks.support.workload import new_mark, run_body
from models.database import Database
from tests.support.databases import DatabaseUrls

CLIENTS: Final = 16
_CHUNK: Final = 500


@dataclass(slots=True)
class Crashes:
    """What so many kills came to; `lost` must stay empty, and the log must have no gap."""

    kills: int = 0
    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    gaps: int = 0
    unexpected: list[str] = field(default_factory=list)


def crash_repeatedly(folder: Path, urls: DatabaseUrls, kills: int) -> Crashes:
    """Starts the service, kills it under load after 0.3 to 1.5 s, so many times; then starts it and looks.

    After every restart each record acknowledged so far in that round is looked for.
    """
    outcome = Crashes()
    token: str | None = None
    for _ in range(kills):
        server = start_shipworthy(folder, urls, token=token)
        token = server.token
        acknowledged, unexpected = run(_load_until_killed(server, random.uniform(0.3, 1.5)))
        outcome.kills += 1
        outcome.acknowledged += len(acknowledged)
        outcome.unexpected += unexpected
        outcome.lost += _missing(urls, acknowledged)
        outcome.gaps += _gaps(urls)
    start_shipworthy(folder, urls, token=token).stop()
    return outcome


def check_ledger(folder: Path, urls: DatabaseUrls) -> subprocess.CompletedProcess[str]:
    """`shipworthy-server fsck` over what is left; status 0 when all of it holds."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SHIPWORTHY_")}
    environment["SHIPWORTHY_DATABASE_URL"] = urls.service_url
    command = [
        str(Path(sys.executable).with_name("shipworthy-server")),
        "fsck",
        "--data",
        str(folder / "data"),
    ]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment)


async def _load_until_killed(server: Server, seconds: float) -> tuple[list[str], list[str]]:
    """Digests of all records that were acknowledged, and answers that were neither 201 nor 503."""
    acknowledged: list[str] = []
    unexpected: list[str] = []

    async def work(client: Client) -> None:
        while True:
            try:
                answer = await client.post("/v1/runs", run_body(new_mark()))
            except ConnectionLost:
                return
            if answer.status == 201:
                acknowledged.extend(each["record"] for each in json.loads(answer.body)["records"])
            elif answer.status != 503:
                unexpected.append(f"{answer.status}: {answer.body[:200]!r}")
                return

    clients = [Client(server.port, server.token) for _ in range(CLIENTS)]
    try:
        async with asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(work(client))
            await asyncio.sleep(seconds)
            server.kill()
    finally:
        for client in clients:
            client.close()
    return acknowledged, unexpected


def _missing(urls: DatabaseUrls, digests: list[str]) -> list[str]:
    database = Database(urls.service_url)
    try:
        with database.read() as session:
            found: set[str] = set()
            for chunk in _chunks(digests):
                names = {f"d{place}": digest for place, digest in enumerate(chunk)}
                listed = ", ".join(f":{name}" for name in names)
                found.update(
                    session.connection()
                    .execute(text(f"SELECT digest FROM record WHERE digest IN ({listed})"), names)
                    .scalars()
                )
    finally:
        database.dispose()
    return [digest for digest in digests if digest not in found]


def _gaps(urls: DatabaseUrls) -> int:
    """Positions that the log leaves out, and whether its head counts another number of records."""
    database = Database(urls.service_url)
    try:
        with database.read() as session:
            connection = session.connection()
            count, last = connection.execute(text("SELECT count(*), max(position) FROM record")).one()
            size = (
                connection.execute(text("SELECT size FROM tree_head ORDER BY id DESC LIMIT 1")).scalar() or 0
            )
    finally:
        database.dispose()
    expected = 0 if last is None else last + 1
    return (expected - count) + (0 if size == count else 1)


def _chunks(digests: list[str]) -> Iterator[list[str]]:
    for first in range(0, len(digests), _CHUNK):
        yield digests[first : first + _CHUNK]
