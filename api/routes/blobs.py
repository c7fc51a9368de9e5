"""`/v1/blobs/{digest}`: bytes addressed by their SHA-256, streamed both ways."""

import re
from itertools import chain
from typing import Annotated, Any, Final, Protocol, cast

import anyio
from anyio import to_thread
from fastapi import APIRouter, Path, Request
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response, StreamingResponse

from api.auth import require_role
from models.actor import Actor, Role
from models.blobs import BlobStore, BlobWriter
from shipworthy.formats.digests import DIGEST_PATTERN

router = APIRouter(tags=["blobs"])

BUFFER_BYTES: Final = 1 << 20
"""Bytes gathered before they are handed to a thread: uvicorn delivers 64 KiB at a time, a hop costs 50 µs."""

_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)
_BINARY: Final[dict[str, Any]] = {
    "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
}
_STORED: Final[dict[str, Any]] = {
    "application/json": {
        "schema": {
            "type": "object",
            "required": ["digest", "size_bytes"],
            "properties": {
                "digest": {"type": "string", "pattern": DIGEST_PATTERN},
                "size_bytes": {"type": "integer"},
            },
        }
    }
}

# The pattern is documented here but checked in the store, after the key: who has no key learns nothing else.
BlobDigest = Annotated[
    str,
    Path(description="sha256:<64 lower-case hex digits>", json_schema_extra={"pattern": DIGEST_PATTERN}),
]


class _Authenticator(Protocol):
    async def actor(self, request: HTTPConnection) -> Actor: ...


class _Services(Protocol):
    """The part of the app's services that these routes need."""

    @property
    def authenticator(self) -> _Authenticator: ...
    @property
    def blobs(self) -> BlobStore: ...


@router.put(
    "/v1/blobs/{digest}",
    status_code=201,
    response_class=JSONResponse,
    summary="Store bytes under their digest",
    openapi_extra={"requestBody": {"required": True, "content": _BINARY}},
    responses={
        200: {"description": "The namespace had the blob already.", "content": _STORED},
        201: {"description": "The blob was stored.", "content": _STORED},
    },
)
async def put_blob(digest: BlobDigest, request: Request) -> Response:
    """Store at most 256 MiB under their SHA-256. Role recorder, evaluator or worker."""
    services = cast(_Services, request.app.state.services)
    actor = await services.authenticator.actor(request)
    require_role(actor, Role.RECORDER, Role.EVALUATOR, Role.WORKER)
    writer = services.blobs.writer(actor.namespace, digest)
    try:
        is_new = await _receive(writer, request)
    except BaseException:
        # Whatever stops the upload, a disconnect or a shutdown too, must leave no file behind.
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(writer.abort)
        raise
    return JSONResponse({"digest": digest, "size_bytes": writer.size}, status_code=201 if is_new else 200)


@router.get(
    "/v1/blobs/{digest}",
    response_class=StreamingResponse,
    summary="The bytes behind a digest",
    responses={
        200: {"description": "The bytes.", "content": _BINARY},
        206: {"description": "The part that the Range header asked for.", "content": _BINARY},
    },
)
async def get_blob(digest: BlobDigest, request: Request) -> Response:
    """The bytes, or one range of them (`Range: bytes=0-1023`). Any key of the namespace. The answer breaks off before
    its end when the bytes turn out not to be those of the digest; a range is not compared with it."""
    services = cast(_Services, request.app.state.services)
    actor = await services.authenticator.actor(request)
    size = await to_thread.run_sync(services.blobs.size, actor.namespace, digest)
    headers = _headers(digest, size)
    part = _requested_range(request, headers["etag"], size)
    if part is None:
        _, chunks = services.blobs.read(actor.namespace, digest)
        # Read before the answer begins: what is no larger than this is known to be right or refused by then.
        first = await to_thread.run_sync(next, chunks)
        return StreamingResponse(
            chain((first,), chunks), headers=headers, media_type="application/octet-stream"
        )
    start, stop = part
    headers["content-length"] = str(stop - start)
    headers["content-range"] = f"bytes {start}-{stop - 1}/{size}"
    _, chunks = services.blobs.read(actor.namespace, digest, start, stop)
    return StreamingResponse(chunks, 206, headers=headers, media_type="application/octet-stream")


@router.head(
    "/v1/blobs/{digest}",
    response_class=Response,
    summary="Whether there are bytes behind a digest, and how many",
    responses={200: {"description": "The blob exists."}},
)
async def head_blob(digest: BlobDigest, request: Request) -> Response:
    """Whether the blob exists and its size, as GET would answer. Any key of the namespace."""
    services = cast(_Services, request.app.state.services)
    actor = await services.authenticator.actor(request)
    size = await to_thread.run_sync(services.blobs.size, actor.namespace, digest)
    return Response(headers=_headers(digest, size), media_type="application/octet-stream")


async def _receive(writer: BlobWriter, request: Request) -> bool:
    buffer = bytearray()
    async for chunk in request.stream():
        buffer += chunk
        if len(buffer) >= BUFFER_BYTES:
            await to_thread.run_sync(writer.update, buffer)
            buffer = bytearray()

    def finish() -> bool:
        writer.update(buffer)
        return writer.commit()

    return await to_thread.run_sync(finish)


def _headers(digest: str, size: int) -> dict[str, str]:
    return {
        "etag": f'"{digest}"',
        "content-length": str(size),
        "accept-ranges": "bytes",
        # A blob is somebody's upload: a browser must never show it as a page of this service.
        "content-disposition": "attachment",
    }


def _requested_range(request: Request, etag: str, size: int) -> tuple[int, int] | None:
    """The half-open range of a single-range request, or None for the whole: what is malformed or has several
    ranges is ignored, as RFC 9110 section 14.2 allows. 416 when it lies behind the end."""
    match = _RANGE.fullmatch(request.headers.get("range", ""))
    if match is None or request.headers.get("if-range", etag) != etag:
        return None
    first, last = match.groups()
    if first:
        start, stop = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < start:
            return None
    elif last:
        start, stop = max(size - int(last), 0), size
    else:
        return None
    if start >= stop:
        raise HTTPException(
            416,
            f"The range lies behind the end of the blob, which has {size:,} bytes; ask for less.",
            {"Content-Range": f"bytes */{size}"},
        )
    return start, stop
