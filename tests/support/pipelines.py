"""Programs that use the client, run as users run them, and what the service then has of their runs."""

import gzip
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx


@dataclass(frozen=True, slots=True)
class Told:
    """What the service was told of one run: bodies by kind in log order, and lines of `log()`."""

    bodies: dict[str, list[dict[str, Any]]]
    logs: list[dict[str, Any]]

    def states(self) -> list[str]:
        return [each["state"] for each in self.bodies["run.event"] if each["type"] == "state"]

    def notes(self) -> list[str]:
        events = self.bodies["run.event"]
        return [each["text"] for each in events if each["type"] == "note" and "blob" not in each]

    def steps(self) -> list[int]:
        return [each["step"] for each in self.logs]


def told(client: httpx.Client, run_id: str) -> Told:
    bodies: dict[str, list[dict[str, Any]]] = {"run.event": []}
    logs: list[dict[str, Any]] = []
    for kind, digest in reversed(_listed(client, run_id)):
        body = _got(client, f"/v1/records/{digest}").json()["body"]
        bodies.setdefault(kind, []).append(body)
        if kind == "run.event" and "blob" in body:
            lines = gzip.decompress(_got(client, f"/v1/blobs/{body['blob']}").content).splitlines()
            logs += [json.loads(line)["log"] for line in lines]
    return Told(bodies, logs)


def environment(**variables: str) -> dict[str, str]:
    """The environment of a program: no settings and no launcher of whoever runs the tests."""
    prefixes = ("SHIPWORTHY_", "SLURM_", "OMPI_", "PMI", "LSB_", "TORCHELASTIC_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
    return {name: value for name, value in kept.items() if name not in ("RANK", "WORLD_SIZE")} | variables


def program(source: str) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(source)]


def run_program(
    source: str, folder: Path, variables: Mapping[str, str], timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        program(source),
        cwd=folder,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def warnings_of(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Lines of the client on standard error; anything else there is returned too, since it doesn't belong."""
    return [line.removeprefix("shipworthy: ") for line in done.stderr.splitlines()]


def token_of(client: httpx.Client) -> str:
    return client.headers["Authorization"].removeprefix("Bearer ")


def _listed(client: httpx.Client, run_id: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    after: str | None = None
    while True:
        query = {"limit": "500"} | ({"after": after} if after else {})
        page = _got(client, f"/v1/runs/{run_id}/records", query).json()
        found += [(item["kind"], item["record"]) for item in page["items"]]
        after = page["next"]
        if after is None:
            return found


def _got(client: httpx.Client, path: str, query: Mapping[str, str] | None = None) -> httpx.Response:
    answer = client.get(path, params=query)
    answer.raise_for_status()
    return answer
