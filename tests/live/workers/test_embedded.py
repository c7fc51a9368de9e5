"""The embedded default: `serve --root` starts one worker when there is work, and ends it with itself."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from shipworthy.formats.manifest import hash_tree, manifest_digest
from tests.live.workers.conftest import NUMBERS, write_numbers
from tests.support.bodies import make_checkpoint, make_start
from tests.support.calls import post
from tests.support.workers import processes_below, put_contract, request_check, wait_for_end

SERVER = str(Path(sys.executable).with_name("shipworthy-server"))
ADDRESS = re.compile(r"listens on (http://\S+)")
HEAVY = ("pyarrow", "pandas", "scipy", "duckdb", "numpy")


@contextmanager
def serve(folder: Path) -> Iterator[tuple["subprocess.Popen[bytes]", str]]:
    """The process and its address; told to stop at the end, which must go well."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SHIPWORTHY_")}
    command = [
        SERVER,
        "serve",
        "--open",
        "--port",
        "0",
        "--data",
        str(folder / "data"),
        "--root",
        f"lake={folder}",
    ]
    output = folder / "server.log"
    with output.open("wb") as log:
        process = subprocess.Popen(command, env=environment, stderr=log, start_new_session=True)
    try:
        while (found := ADDRESS.search(output.read_text())) is None:
            assert process.poll() is None, output.read_text()
            time.sleep(0.05)
        yield process, found[1]
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0, output.read_text()[-3000:]
    finally:
        process.kill()
        process.wait()


def worker_of(server: int) -> int | None:
    """The id of the worker process that a server has started."""
    for pid in processes_below(server):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"api.workers" in command.split(b"\0"):
            return pid
    return None


def listed_keys(folder: Path) -> list[dict[str, Any]]:
    done = subprocess.run(
        [SERVER, "keys", "list", "--json", "--data", str(folder / "data")],
        check=True,
        capture_output=True,
        text=True,
    )
    keys: list[dict[str, Any]] = json.loads(done.stdout)
    return keys


def save_checkpoint(client: httpx.Client, folder: Path) -> str:
    """Of a run that goes on, below the root."""
    path = folder / "state.json"
    path.write_text('{"step": 600}')
    digest = manifest_digest(hash_tree(path))
    run = make_start(started_at="2026-05-01T10:00:00Z")
    assert post(client, "/v1/runs", run).status_code == 201
    saved = make_checkpoint(digest=digest, location={"root": "lake", "path": path.name})
    assert post(client, f"/v1/runs/{run['run_id']}/checkpoints", saved).status_code == 201
    return digest


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One life of a server with a worker that is killed in between, and what was seen in it."""
    folder = tmp_path_factory.mktemp("embedded")
    write_numbers(folder / "n.parquet", 1000)
    seen: dict[str, Any] = {"folder": folder}
    with serve(folder) as (server, address), httpx.Client(base_url=address, timeout=60) as client:
        put_contract(client, "numbers", NUMBERS)
        seen["before"] = worker_of(server.pid)
        digest = save_checkpoint(client, folder)
        seen["first"] = wait_for_end(client, request_check(client, "numbers", "lake", "n.parquet"), 240)
        worker = worker_of(server.pid)
        assert worker is not None
        seen["environment"] = Path(f"/proc/{worker}/environ").read_bytes()
        seen["command"] = Path(f"/proc/{worker}/cmdline").read_bytes()
        seen["keys"] = listed_keys(folder)
        seen["checkpoint"] = client.get(f"/v1/checkpoints/{digest}").json()
        os.kill(worker, signal.SIGKILL)
        seen["second"] = wait_for_end(client, request_check(client, "numbers", "lake", "n.parquet"), 240)
        seen["restarted"] = worker_of(server.pid)
        seen["maps"] = Path(f"/proc/{server.pid}/maps").read_text()
        seen["killed"] = worker
    seen["log"] = (folder / "server.log").read_text()
    seen["keys_afterwards"] = listed_keys(folder)
    return seen


def test_worker_is_started_by_the_first_work_and_its_evidence_is_the_services_own(
    lived: dict[str, Any],
) -> None:
    assert lived["before"] is None
    assert lived["first"]["result"]["outcome"] == "passed"
    assert lived["first"]["evidence_level"] == "server_run"


def test_checkpoint_of_a_live_run_is_verified_without_being_asked_for(lived: dict[str, Any]) -> None:
    levels = lived["checkpoint"]["levels"]
    assert [(each["level"], each["evidence_level"]) for each in levels[1:]] == [
        ("checksummed", "server_run"),
        ("loaded", "server_run"),
    ]


def test_worker_that_died_is_started_again(lived: dict[str, Any]) -> None:
    assert lived["second"]["result"]["outcome"] == "passed"
    assert lived["restarted"] not in (None, lived["killed"])


def test_key_of_the_worker_is_nowhere_to_be_read_ends_in_a_day_and_is_revoked(lived: dict[str, Any]) -> None:
    (key,) = lived["keys"]
    assert (key["roles"], key["level"], key["state"]) == (["worker"], "server_run", "active")
    assert key["expires_at"] is not None
    assert b"sw_" not in lived["environment"] + lived["command"]
    assert {each["state"] for each in lived["keys_afterwards"]} == {"revoked"}
    assert len(lived["keys_afterwards"]) == 2


def test_worker_ends_with_the_service_and_logs_json_alone(lived: dict[str, Any]) -> None:
    assert not Path(f"/proc/{lived['restarted']}").exists()
    *lines, end = lived["log"].splitlines()[3:]
    assert "worker_ready" in {json.loads(line)["event"] for line in lines}
    assert end.startswith("Shipworthy has stopped")


def test_api_process_has_loaded_nothing_of_the_engine(lived: dict[str, Any]) -> None:
    assert [name for name in HEAVY if f"/{name}/" in lived["maps"]] == []
