"""A namespace with a recorder who saves checkpoints and a worker who verifies them."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx

from shipworthy.formats.times import format_instant
from tests.support.bodies import Body, digest_of, make_checkpoint, make_start
from tests.support.calls import post
from tests.support.contracts import claim
from tests.support.service import RunningService

KINDS = ["checkpoint_verification"]


@dataclass(frozen=True)
class Scene:
    service: RunningService
    recorder: httpx.Client
    worker: httpx.Client

    def run(self) -> str:
        """A run that goes on."""
        body = make_start(started_at="2026-05-01T10:00:00Z")
        assert post(self.recorder, "/v1/runs", body).status_code == 201
        return str(body["run_id"])

    def save(self, run_id: str, name: str, root: str | None = "lake", **changes: object) -> str:
        """The digest of a checkpoint that lies under a root at ckpt/NAME."""
        body = make_checkpoint(digest=digest_of(name), **changes)
        if root is not None:
            body["location"] = {"root": root, "path": f"ckpt/{name}"}
        answer = post(self.recorder, f"/v1/runs/{run_id}/checkpoints", body)
        assert answer.status_code == 201, answer.text
        return digest_of(name)

    def ask(self, digest: str, key: str | None = None, **body: object) -> httpx.Response:
        return post(self.recorder, f"/v1/checkpoints/{digest}/verifications:request", body, key)

    def claim(self, *roots: str) -> Body | None:
        return claim(self.worker, kinds=KINDS, roots=list(roots))

    def shown(self, digest: str) -> Body:
        answer = self.recorder.get(f"/v1/checkpoints/{digest}")
        assert answer.status_code == 200, answer.text
        found: Body = answer.json()
        return found


def result_of(work: Body, *, loaded: str | None = "passed", **changes: Any) -> Body:
    """What a worker hands in that found the bytes as they were recorded."""
    request = work["request"]
    outcomes = [{"level": "checksummed", "outcome": "passed", "detail": "3 files, as recorded"}]
    if loaded is not None:
        outcomes.append({"level": "loaded", "outcome": loaded, "detail": "3 files read to the last byte"})
    return {
        "checkpoint": request["checkpoint"],
        "root": request["root"],
        "path": request["path"],
        "manifest": request["checkpoint"],
        "files": 3,
        "bytes": 4096,
        "checked_at": format_instant(datetime.now(UTC)),
        "outcomes": outcomes,
    } | changes


def failed(work: Body, manifest: str | None) -> Body:
    outcome = {"level": "checksummed", "outcome": "failed", "detail": "other bytes lie there"}
    return result_of(work, manifest=manifest, outcomes=[outcome])


def make_scene(service: RunningService, namespace: str) -> Scene:
    recorder, worker = (service.client(role, namespace=namespace) for role in ("recorder", "worker"))
    return Scene(service, recorder, worker)


def claimed(scene: Scene) -> Body:
    work = scene.claim("lake")
    assert work is not None
    return work
