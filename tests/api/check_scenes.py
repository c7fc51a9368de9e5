"""A published contract, somebody who asks for checks of it and somebody who works."""

import json
from dataclasses import dataclass

import httpx

from tests.support.bodies import Body
from tests.support.contracts import publish_suite
from tests.support.histories import History
from tests.support.service import RunningService

TARGET: Body = {"contract": "orders", "root": "lake", "path": "orders/2026-05.parquet"}


@dataclass(frozen=True)
class Scene:
    service: RunningService
    recorder: httpx.Client
    worker: httpx.Client
    published: Body

    def batch(self, client: httpx.Client, body: object, kind: str = "contract.checked") -> Body:
        """The answer to one line."""
        answer = client.post("/v1/records:batch", content=json.dumps({"kind": kind, "body": body}))
        assert answer.status_code == 200, answer.text
        line: Body = answer.json()["items"][0]
        return line


def history_of(service: RunningService) -> History:
    return History(service.services.ledger, service.services.ring)


def make_scene(service: RunningService) -> Scene:
    published = publish_suite(service, history_of(service).actor("author"))
    return Scene(service, service.client("recorder"), service.client("worker"), published)


def request_of(scene: Scene, id: str) -> Body:
    found: Body = scene.recorder.get(f"/v1/contract-checks/{id}").json()["request"]
    return found
