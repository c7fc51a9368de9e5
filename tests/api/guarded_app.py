"""A small app behind the request guard, and requests written by hand."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from fastapi import APIRouter, FastAPI, Request
from prometheus_client import CollectorRegistry
from starlette.responses import StreamingResponse

from api.errors import install
from api.middleware import RequestGuard


@dataclass
class Probe:
    """An app behind the guard that remembers each body which arrived whole."""

    app: FastAPI
    registry: CollectorRegistry
    bodies: list[bytes] = field(default_factory=list)

    def count(self, route: str, method: str, status: int) -> float | None:
        labels = {"route": route, "method": method, "status": str(status)}
        return self.registry.get_sample_value("shipworthy_http_requests_total", labels)


def make_probe() -> Probe:
    made = Probe(FastAPI(), CollectorRegistry())
    made.app.add_middleware(RequestGuard, registry=made.registry)
    install(made.app)
    router = APIRouter(prefix="/v1")

    @router.post("/things/{name}")
    async def post(name: str, request: Request) -> dict[str, int | str]:
        body = await request.body()
        made.bodies.append(body)
        return {"size": len(body), "id": request.state.request_id}

    @router.post("/records:batch")
    async def batch(request: Request) -> int:
        return len(await request.body())

    @router.put("/blobs/{digest}")
    async def blob(digest: str, request: Request) -> int:
        return sum([len(chunk) async for chunk in request.stream()])

    @router.post("/parsed")
    async def parsed(document: list[int]) -> int:
        return len(document)

    @router.get("/fails")
    async def fails() -> None:
        raise RuntimeError("password=hunter2")

    @router.get("/breaks")
    async def breaks() -> StreamingResponse:
        def chunks() -> Iterator[bytes]:
            yield b"begun"
            raise RuntimeError("the disk is gone")

        return StreamingResponse(chunks())

    # As create_app does it.
    made.app.router.routes.extend(router.routes)
    return made


def post_head(path: str, *headers: str) -> bytes:
    return "\r\n".join((f"POST {path} HTTP/1.1", "Host: test", *headers, "", "")).encode()


def status_and_code(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["code"]
