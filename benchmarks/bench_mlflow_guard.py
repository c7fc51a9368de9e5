"""What the guard adds to moving an alias in MLflow: the same call to a plain and to a guarded server, in turns.

Both servers run under uvicorn with one worker on databases of one PostgreSQL that writes to the disk; Shipworthy is a
process of its own on the same machine. The alias goes to and fro between two versions whose decisions are in force.
Their files were hashed before: hashing is not measured. Each call goes over a keep-alive connection on loopback; the
time is the client's, the ratio that of the medians. SHIPWORTHY_BENCH_MOVES sets another number for a quick look.
"""

import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from statistics import median, quantiles
from typing import Final

from sqlalchemy import make_url

from api.services import opened_services
from api.settings import Settings
from benchmarks.support.figures import Figure, finish
from benchmarks.support.load import Failed, explain
from benchmarks.support.processes import (
    Server,
    load_average,
    new_database,
    postgresql,
    processor_seconds,
    require_durable,
    start_shipworthy,
)
from tests.live.mlflow.calls import API
from tests.live.mlflow.exhibits import ALIAS, digest_of_files, prepare
from tests.live.mlflow.releasing import ReleaseScene
from tests.live.mlflow.servers import Flavour, MlflowServer, start_mlflow
from tests.support.databases import DatabaseUrls
from tests.support.gates import MODEL
from tests.support.postgres import PostgresServer
from tests.support.service import RunningService

MOVES: Final = int(os.environ.get("SHIPWORTHY_BENCH_MOVES", "300"))
WARM_UP: Final = 20
RATIO: Final = 1.6
VERSIONS: Final = ("1", "3")
"""Of MODEL, which tests/live/mlflow/exhibits.py registers: from a run's artifacts and from a logged model."""
PLAIN: Final = Flavour("postgresql", "uvicorn", authenticated=False, guarded=False)
GUARDED: Final = Flavour("postgresql", "uvicorn", authenticated=False, guarded=True)


def main() -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres = stack.enter_context(postgresql())
        urls = new_database(postgres, "shipworthy")
        require_durable(urls)
        service = start_shipworthy(folder / "shipworthy", urls)
        stack.callback(service.stop)
        scene = _scene(stack, folder / "shipworthy" / "data", urls, service.port)
        guard = {
            "SHIPWORTHY_URL": scene.service.url,
            "SHIPWORTHY_TOKEN": scene.registry_token,
            "SHIPWORTHY_REGISTRY": "default",
        }
        servers = [
            _started(stack, flavour, folder, postgres, guard if flavour.guarded else {})
            for flavour in (PLAIN, GUARDED)
        ]
        for kind in ("released", "staged"):
            digest = digest_of_files(kind, folder / "files")
            scene.another(digest)
            scene.decide(digest)
        for server in servers:
            server.wait()
            prepare(server)
        plain, guarded = _measure(servers, service)
    explain(f"the guard adds {guarded - plain:.1f} ms at the median")
    finish([Figure("guarded_alias_move_p50", guarded, "ms", guarded / plain, RATIO, "at most")])


def _scene(stack: ExitStack, data: Path, urls: DatabaseUrls, port: int) -> ReleaseScene:
    """With its gates. What makes keys works beside the service, over the same database."""
    settings = Settings(data=data, database_url=urls.service_url, migration_url=urls.migration_url)
    services = stack.enter_context(opened_services(settings))
    closing = stack.enter_context(ExitStack())
    scene = ReleaseScene(RunningService(services, f"http://127.0.0.1:{port}", closing))
    scene.publish_gates()
    return scene


def _started(
    stack: ExitStack, flavour: Flavour, folder: Path, postgres: PostgresServer, guard: Mapping[str, str]
) -> MlflowServer:
    address = make_url(postgres.create_database(f"mlflow_{'guarded' if flavour.guarded else 'plain'}"))
    url = address.set(drivername="postgresql+psycopg2").render_as_string(hide_password=False)
    server = start_mlflow(flavour, folder / str(flavour), url, guard)
    stack.callback(server.stop)
    return server


def _measure(servers: Sequence[MlflowServer], service: Server) -> list[float]:
    """The median of each server, in milliseconds."""
    connections = [HTTPConnection("127.0.0.1", server.port, timeout=60) for server in servers]
    _move_in_turns(connections, WARM_UP)
    busy = [*(server.process.pid for server in servers), service.pid]
    before = [processor_seconds(pid) for pid in busy]
    taken = _move_in_turns(connections, MOVES)
    spent = [1000 * (processor_seconds(pid) - begun) / MOVES for pid, begun in zip(busy, before, strict=True)]
    for connection in connections:
        connection.close()
    for server, times, processor in zip(servers, taken, spent, strict=False):
        explain(
            f"{server.flavour}: median {median(times):.1f} ms, p99 {quantiles(times, n=100)[98]:.1f} ms of {MOVES} "
            f"moves, {processor:.1f} ms of processor time each; {load_average()}"
        )
    explain(f"the service: {spent[-1]:.1f} ms of processor time for each move")
    return [median(each) for each in taken]


def _move_in_turns(connections: Sequence[HTTPConnection], moves: int) -> list[list[float]]:
    """The milliseconds of each server's moves; each server goes first every other time."""
    taken: list[list[float]] = [[] for _ in connections]
    for number in range(moves):
        order = range(len(connections)) if number % 2 else reversed(range(len(connections)))
        for place in order:
            taken[place].append(_move(connections[place], VERSIONS[number % 2]))
    return taken


def _move(connection: HTTPConnection, version: str) -> float:
    body = json.dumps({"name": MODEL, "alias": ALIAS, "version": version})
    began = time.perf_counter()
    connection.request("POST", f"{API}registered-models/alias", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    taken = 1000 * (time.perf_counter() - began)
    if answer.status != 200:
        raise Failed(f"the alias was not moved: {answer.status} {text[:300]!r}")
    return taken


if __name__ == "__main__":
    main()
