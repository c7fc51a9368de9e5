"""`/v1/blobs`: what a caller sees of the blob store."""

import hashlib
import resource
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from prometheus_client import CollectorRegistry
from starlette.requests import HTTPConnection
from structlog.testing import capture_logs

from api.errors import install
from api.middleware import RequestGuard
from api.routes.blobs import BUFFER_BYTES, router
from models.actor import Actor, Role, evidence_level
from models.blobs import BlobStore
from models.errors import TokenMissing
from shipworthy.formats.digests import sha256_digest
from tests.api.socket_server import serving

BYTES = bytes(range(256)) * 8
DIGEST = sha256_digest(BYTES)
PATH = f"/v1/blobs/{DIGEST}"


class NamedAuthenticator:
    """Takes `Bearer <namespace> <role>` at its word: keys have tests of their own."""

    async def actor(self, request: HTTPConnection) -> Actor:
        words = request.headers.get("authorization", "").split()
        if not words:
            raise TokenMissing("Send a token.")
        roles = frozenset({Role(words[2])})
        return Actor(key_id="k", namespace=words[1], roles=roles, level=evidence_level(roles))


def key(role: str = "recorder", namespace: str = "team-a") -> dict[str, str]:
    return {"Authorization": f"Bearer {namespace} {role}"}


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    made = FastAPI()
    made.add_middleware(RequestGuard, registry=CollectorRegistry())
    install(made)
    made.include_router(router)
    made.state.services = SimpleNamespace(authenticator=NamedAuthenticator(), blobs=BlobStore(tmp_path))
    return made


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, headers=key()) as made:
        yield made


def stored_files(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in tmp_path.rglob("*") if path.is_file())


def test_put_answers_201_then_200_and_get_gives_the_bytes_back(client: TestClient) -> None:
    first = client.put(PATH, content=BYTES)
    assert (first.status_code, first.json()) == (201, {"digest": DIGEST, "size_bytes": 2048})
    assert client.put(PATH, content=BYTES).status_code == 200
    got = client.get(PATH)
    assert got.content == BYTES
    assert got.headers["etag"] == f'"{DIGEST}"'
    assert got.headers["content-length"] == "2048"
    assert got.headers["content-type"] == "application/octet-stream"
    assert got.headers["content-disposition"] == "attachment"


def test_head_answers_as_get_without_the_bytes(client: TestClient) -> None:
    client.put(PATH, content=BYTES)
    head, got = client.head(PATH), client.get(PATH)
    assert head.content == b""
    same = ("etag", "content-length", "content-type", "content-disposition", "accept-ranges")
    assert [head.headers[name] for name in same] == [got.headers[name] for name in same]
    assert client.head(f"/v1/blobs/{sha256_digest(b'none')}").status_code == 404


def test_a_large_blob_passes_in_chunks(client: TestClient) -> None:
    large = hashlib.shake_128(b"seed").digest(3 * BUFFER_BYTES + 7)
    path = f"/v1/blobs/{sha256_digest(large)}"
    assert client.put(path, content=iter([large[:100], large[100:]])).status_code == 201
    assert client.get(path).content == large


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        ("bytes=2000-", 2000, 2048),
        ("bytes=-5", 2043, 2048),
        ("bytes=2040-9999", 2040, 2048),
        ("bytes=-9999", 0, 2048),
    ],
)
def test_one_range_is_answered_with_206(client: TestClient, asked: str, start: int, stop: int) -> None:
    client.put(PATH, content=BYTES)
    response = client.get(PATH, headers={"Range": asked})
    assert response.status_code == 206
    assert response.content == BYTES[start:stop]
    assert response.headers["content-range"] == f"bytes {start}-{stop - 1}/2048"
    assert response.headers["content-length"] == str(stop - start)


@pytest.mark.parametrize("asked", ["bytes=5-2", "bytes=-", "bytes=0-1,5-6", "lines=1-2", "bytes=a-b"])
def test_a_range_that_is_not_understood_is_ignored(client: TestClient, asked: str) -> None:
    client.put(PATH, content=BYTES)
    response = client.get(PATH, headers={"Range": asked})
    assert (response.status_code, response.content) == (200, BYTES)


def test_a_range_of_another_version_is_ignored(client: TestClient) -> None:
    client.put(PATH, content=BYTES)
    for etag, status in ((f'"{DIGEST}"', 206), ('"other"', 200)):
        assert client.get(PATH, headers={"Range": "bytes=0-1", "If-Range": etag}).status_code == status


@pytest.mark.parametrize("asked", ["bytes=2048-", "bytes=9999-10000", "bytes=-0"])
def test_a_range_behind_the_end_is_416(client: TestClient, asked: str) -> None:
    client.put(PATH, content=BYTES)
    response = client.get(PATH, headers={"Range": asked})
    assert (response.status_code, response.json()["code"]) == (416, "range_not_satisfiable")
    assert response.headers["content-range"] == "bytes */2048"


def test_bytes_that_differ_from_the_digest_are_refused_and_not_kept(
    client: TestClient, tmp_path: Path
) -> None:
    response = client.put(PATH, content=BYTES[:-1])
    assert (response.status_code, response.json()["code"]) == (422, "blob_digest_mismatch")
    assert stored_files(tmp_path) == []
    client.put(PATH, content=BYTES)
    assert client.put(PATH, content=b"other").status_code == 422
    assert client.get(PATH).content == BYTES


@pytest.mark.parametrize("digest", ["sha256:abc", "md5:" + "0" * 32, DIGEST.upper(), DIGEST + "%0A"])
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_malformed_digest_is_422_with_a_sentence(client: TestClient, method: str, digest: str) -> None:
    response = client.request(method, f"/v1/blobs/{digest}")
    assert (response.status_code, response.json()["code"]) == (422, "invalid_input")
    assert "64 lower-case" in response.json()["detail"]


@pytest.mark.parametrize("role", list(Role))
def test_who_may_put_and_get(client: TestClient, role: Role) -> None:
    client.put(PATH, content=BYTES)
    may_put = role in {Role.RECORDER, Role.EVALUATOR, Role.WORKER}
    assert client.put(PATH, content=BYTES, headers=key(role)).status_code == (200 if may_put else 403)
    assert client.get(PATH, headers=key(role)).status_code == 200


def test_without_a_token_nothing_is_told(app: FastAPI) -> None:
    with TestClient(app) as anonymous:
        for method in ("PUT", "GET", "HEAD"):
            for digest in (DIGEST, "malformed"):
                assert anonymous.request(method, f"/v1/blobs/{digest}").status_code == 401


def test_another_namespace_sees_no_blob(client: TestClient) -> None:
    client.put(PATH, content=BYTES)
    other = client.get(PATH, headers=key(namespace="team-b"))
    assert (other.status_code, other.json()["code"]) == (404, "not_found")
    assert client.put(PATH, content=BYTES, headers=key(namespace="team-b")).status_code == 201


def test_an_upload_that_breaks_off_leaves_no_file(app: FastAPI, tmp_path: Path) -> None:
    half = bytes(2 * BUFFER_BYTES)
    head = (
        f"PUT {PATH} HTTP/1.1\r\nHost: test\r\nAuthorization: {key()['Authorization']}\r\n"
        f"Content-Length: {3 * BUFFER_BYTES}\r\n\r\n"
    ).encode()
    with serving(app) as port, socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(head + half)
    assert stored_files(tmp_path) == []


def test_a_declared_size_over_256_mib_is_refused_before_it_is_sent(app: FastAPI, tmp_path: Path) -> None:
    head = (
        f"PUT {PATH} HTTP/1.1\r\nHost: test\r\nAuthorization: {key()['Authorization']}\r\n"
        f"Content-Length: {(256 << 20) + 1}\r\nExpect: 100-continue\r\n\r\n"
    ).encode()
    with serving(app) as port, socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(head)
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 413")
    assert stored_files(tmp_path) == []


def test_no_file_left_to_open_is_503_and_leaves_nothing(client: TestClient, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with capture_logs() as logged:
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
        try:
            refused = client.put(PATH, content=BYTES)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert refused.headers["retry-after"] == "1"
    assert [line["event"] for line in logged if line["log_level"] == "error"] == ["too many open files"]
    assert stored_files(tmp_path) == []
    assert client.put(PATH, content=BYTES).status_code == 201


def test_a_full_disk_is_503_and_leaves_nothing(client: TestClient, tmp_path: Path) -> None:
    limit, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(BYTES) // 2, hard))
    try:
        refused = client.put(PATH, content=BYTES)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert "Retry-After" in refused.headers
    assert stored_files(tmp_path) == []
    assert client.put(PATH, content=BYTES).status_code == 201


def test_bytes_that_were_changed_are_refused(client: TestClient, tmp_path: Path) -> None:
    client.put(PATH, content=BYTES)
    (file,) = tmp_path.rglob(DIGEST.removeprefix("sha256:"))
    file.write_bytes(b"X" + BYTES[1:])
    refused = client.get(PATH)
    assert (refused.status_code, refused.json()["code"]) == (500, "ledger_damaged")
    assert client.put(PATH, content=BYTES).status_code == 200
    assert client.get(PATH).content == BYTES


def test_large_blob_whose_bytes_were_changed_breaks_off_before_its_end(app: FastAPI, tmp_path: Path) -> None:
    data = bytes(range(256)) * (12 << 10)
    digest = sha256_digest(data)
    with serving(app) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=key()) as client:
        assert client.put(f"/v1/blobs/{digest}", content=data).status_code == 201
        assert client.get(f"/v1/blobs/{digest}").content == data
        (file,) = tmp_path.rglob(digest.removeprefix("sha256:"))
        file.write_bytes(data[:-1] + b"X")
        received: list[bytes] = []
        with (
            capture_logs() as logged,
            client.stream("GET", f"/v1/blobs/{digest}") as answer,
            pytest.raises(httpx.RemoteProtocolError),
        ):
            received.extend(answer.iter_bytes())
    assert sum(map(len, received)) <= 2 << 20
    assert [line["event"] for line in logged if line["log_level"] == "error"] == ["ledger damaged"]
