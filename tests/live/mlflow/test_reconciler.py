"""A worker beside a guarded MLflow: what the guard moved it finds in order, what went round the guard it finds."""

import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.client.cli.conftest import Done, spawn
from tests.live.mlflow.exhibits import ALIAS, FILES, STAGE, Exhibit, digest_of_files, prepare
from tests.live.mlflow.releasing import ReleaseScene
from tests.live.mlflow.servers import Flavour, MlflowServer, start_mlflow
from tests.support.databases import DatabaseUrls
from tests.support.gates import MODEL
from tests.support.service import running_service
from tests.support.workers import put_contract, request_check, wait_for_end, worker

CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: numbers
version: 1.0.0
status: active
schema:
  - name: numbers
    properties:
      - name: n
        logicalType: integer
        required: true
"""


@dataclass(frozen=True)
class Watched:
    """A guarded registry in which version 1 is to be the champion and version 3 in production, and its service."""

    scene: ReleaseScene
    server: MlflowServer
    exhibit: Exhibit
    folder: Path

    def shipworthy(self, *arguments: str, token: str | None = None) -> Done:
        given = token or self.scene.reader.headers["Authorization"].removeprefix("Bearer ")
        return spawn(
            *arguments,
            SHIPWORTHY_URL=self.scene.service.url,
            SHIPWORTHY_TOKEN=given,
            MLFLOW_TRACKING_URI=self.server.url,
        )

    def latest(self, wanted: Callable[[Any], bool]) -> Any:
        """The last reconciliation, once there is one of which the predicate is true."""
        deadline = time.monotonic() + 240
        while True:
            answer = self.scene.reader.get("/v1/reconciliations:latest")
            if answer.status_code == 200 and wanted(answer.json()):
                return answer.json()
            assert time.monotonic() < deadline, answer.text
            time.sleep(0.2)

    def kinds(self, expected: list[str]) -> Any:
        found = self.latest(lambda found: [each["kind"] for each in found["findings"]] == expected)
        return found["findings"]

    def execute(self, statement: str) -> None:
        """On the registry's own database, past its server."""
        file = self.server.database_url.removeprefix("sqlite:///")
        with closing(sqlite3.connect(file, timeout=60)) as connection, connection:
            connection.execute(statement)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("watched")
    url = f"sqlite:///{folder / 'shipworthy.sqlite3'}"
    with running_service(DatabaseUrls("sqlite", url, url), folder / "data") as service:
        scene = ReleaseScene(service)
        guard = {"SHIPWORTHY_URL": service.url, "SHIPWORTHY_TOKEN": scene.registry_token}
        flavour = Flavour("sqlite", "uvicorn", authenticated=False, guarded=True)
        place = folder / "mlflow"
        server = start_mlflow(flavour, place, f"sqlite:///{place / 'mlflow.sqlite3'}", guard)
        try:
            scene.publish_gates()
            for kind, target in (("released", ALIAS), ("staged", STAGE)):
                digest = digest_of_files(kind, folder / "files")
                scene.another(digest)
                scene.decide(digest, target)
            server.wait()
            yield Watched(scene, server, prepare(server), folder)
        finally:
            server.stop()


def test_what_goes_round_the_guard_is_found_and_nothing_else_stops(watched: Watched) -> None:
    for version, target in (("1", ALIAS), ("3", STAGE)):
        moved = watched.shipworthy("promote", f"{MODEL}:{version}", "--to", target)
        assert moved.code == 0, moved.err
    refused = watched.shipworthy("promote", f"{MODEL}:2", "--to", ALIAS)
    assert refused.code == 4, refused.err
    data = watched.folder / "lake"
    data.mkdir()
    (data / "numbers.csv").write_text("n\n1\n")
    environment = {"SHIPWORTHY_MLFLOW_URI": watched.server.url, "SHIPWORTHY_RECONCILE_SECONDS": "1"}
    with worker(
        watched.scene.service, watched.folder / "worker", "--root", f"lake={data}", environment=environment
    ) as beside:
        beside.wait_until_ready()
        found = watched.latest(lambda found: True)
        assert (found["findings"], found["observed"], found["complete"]) == ([], 2, True)
        assert watched.shipworthy("reconcile").code == 0

        watched.execute(f"UPDATE registered_model_aliases SET version = 2 WHERE alias = '{ALIAS}'")
        (finding,) = watched.kinds(["moved_without_grant"])
        assert (finding["model"], finding["target"], finding["version"]) == (MODEL, ALIAS, "2")
        differs = watched.shipworthy("reconcile")
        assert (differs.code, "moved without a grant" in differs.out) == (1, True)
        watched.execute(f"UPDATE registered_model_aliases SET version = 1 WHERE alias = '{ALIAS}'")
        watched.kinds([])

        file = watched.server.artifacts / watched.exhibit.path() / "weights" / "weights.bin"
        original = FILES["released"]["weights/weights.bin"]
        file.write_bytes(b"\x09" * len(original))
        (finding,) = watched.kinds(["artifact_changed"])
        assert (finding["version"], "recorder" in finding["who"]) == ("1", True)
        file.write_bytes(original)
        watched.kinds([])

        _stop_and_check(watched)


def _stop_and_check(watched: Watched) -> None:
    """A registry that hangs keeps no check waiting, and is looked at again when it goes on."""
    author = watched.scene.service.client("author", "recorder")
    put_contract(author, "numbers", CONTRACT)
    os.killpg(watched.server.process.pid, signal.SIGSTOP)
    try:
        check = request_check(author, "numbers", "lake", "numbers.csv")
        assert wait_for_end(author, check, 240)["state"] == "done"
    finally:
        os.killpg(watched.server.process.pid, signal.SIGCONT)
    watched.execute(f"DELETE FROM registered_model_aliases WHERE alias = '{ALIAS}'")
    (finding,) = watched.kinds(["record_without_move"])
    assert (finding["target"], finding["version"]) == (ALIAS, "1")
