"""Worker processes as an operator starts them, what they are asked, and their checks' processes caught in the act."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from models.actor import Role
from models.keys.administration import CreatedKey, create_key
from tests.support.service import RunningService

READY_SECONDS: Final = 240.0
"""Great Expectations imports for half a minute when other tests run beside it."""
ENDED: Final = frozenset({"done", "failed", "cancelled", "dead"})


@dataclass(frozen=True, slots=True)
class RunningWorker:
    process: "subprocess.Popen[bytes]"
    key: CreatedKey
    output: Path

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while "worker_ready" not in self.output.read_text():
            assert self.process.poll() is None, self.output.read_text()
            assert time.monotonic() < deadline, self.output.read_text()
            time.sleep(0.05)

    def kill(self) -> None:
        """SIGKILL: it can neither finish nor give anything back."""
        self.process.kill()
        self.process.wait()

    def children(self) -> set[int]:
        """The processes of its checks: children of its fork server."""
        parents = _parents()
        servers = {pid for pid, parent in parents.items() if parent == self.process.pid}
        return {pid for pid, parent in parents.items() if parent in servers}

    def catch_child(self) -> int:
        """The id of the process of the next check, stopped before it has done much."""
        return catch_child(self)[1]


def catch_child(*workers: RunningWorker, seconds: float = 30.0) -> tuple[RunningWorker, int]:
    """The worker that starts the next check, and the id of the check's process, stopped before it has done much."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for each in workers:
            for child in each.children():
                os.kill(child, signal.SIGSTOP)
                return each, child
        time.sleep(0.002)
    raise AssertionError(f"no check was started: {[each.output.read_text()[-2000:] for each in workers]}")


@contextmanager
def worker(
    service: RunningService,
    folder: Path,
    *options: str,
    namespace: str = "team-a",
    environment: Mapping[str, str] | None = None,
) -> Iterator[RunningWorker]:
    """`shipworthy-server worker` with a key of its own; its temporary files lie in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    key = create_key(service.services.ledger, service.services.ring, namespace=namespace, roles=[Role.WORKER])
    output = folder / "worker.log"
    given = {name: value for name, value in os.environ.items() if not name.startswith("SHIPWORTHY_")}
    given |= {"SHIPWORTHY_TOKEN": key.token, "TMPDIR": str(folder), **(environment or {})}
    command = [
        str(Path(sys.executable).with_name("shipworthy-server")),
        "worker",
        "--url",
        service.url,
        *options,
    ]
    with output.open("wb") as log:
        process = subprocess.Popen(
            command, env=given, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
        )
    try:
        yield RunningWorker(process, key, output)
    finally:
        was_killed = process.poll() is not None
        process.terminate()
        try:
            code = process.wait(30)
        finally:
            process.kill()
            process.wait()
        assert was_killed or code == 0, output.read_text()[-2000:]


def request_check(client: httpx.Client, contract: str, root: str, path: str, **members: Any) -> str:
    """The id of a check that was asked for."""
    body = {"contract": contract, "root": root, "path": path, **members}
    answer = client.post("/v1/contract-checks", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def wait_for_end(client: httpx.Client, id: str, seconds: float = 60.0) -> dict[str, Any]:
    """The check once it has ended."""
    deadline = time.monotonic() + seconds
    while True:
        found: dict[str, Any] = client.get(f"/v1/contract-checks/{id}?wait=20").json()
        if found["state"] in ENDED:
            return found
        assert time.monotonic() < deadline, found


def put_contract(client: httpx.Client, name: str, document: str) -> None:
    headers = {"Content-Type": "application/yaml"}
    answer = client.put(f"/v1/contracts/{name}", content=document, headers=headers)
    assert answer.status_code in (200, 201), answer.text


def has_ended(pid: int, seconds: float = 30.0) -> bool:
    """Whether a process ends within the time; one that nobody has asked about yet, a zombie, has."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def processes_below(pid: int) -> list[int]:
    """Its children, their children and so on."""
    parents = _parents()
    found = [pid]
    for each in found:
        found.extend(child for child, parent in parents.items() if parent == each)
    return found[1:]


def _parents() -> dict[int, int]:
    """The parent of every process, by their ids."""
    found: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    return found
