"""Body limits that hold on the stream: exact, chunked, compressed, and compressed with intent."""

import gzip
import struct
import tracemalloc
import zlib
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from api.middleware import DEFAULT_BODY_LIMIT
from tests.api.guarded_app import Probe, make_probe, post_head, status_and_code
from tests.api.socket_server import exchange, serving

MIB = 1 << 20


@pytest.fixture
def probe() -> Probe:
    return make_probe()


@pytest.fixture
def client(probe: Probe) -> Iterator[TestClient]:
    with TestClient(probe.app) as made:
        yield made


@pytest.fixture
def port(probe: Probe) -> Iterator[int]:
    with serving(probe.app) as made:
        yield made


def test_exactly_one_mib_passes_and_one_byte_more_does_not(client: TestClient, probe: Probe) -> None:
    whole = b"x" * DEFAULT_BODY_LIMIT
    assert client.post("/v1/things/a", content=whole).json()["size"] == DEFAULT_BODY_LIMIT
    refused = client.post("/v1/things/a", content=whole + b"x")
    assert (refused.status_code, refused.json()["code"]) == (413, "body_too_large")
    assert "1,048,576 bytes" in refused.json()["detail"]
    assert probe.bodies == [whole]
    assert probe.count("/v1/things/{name}", "POST", 413) == 1


def test_the_limit_holds_when_fastapi_reads_the_body(client: TestClient) -> None:
    response = client.post("/v1/parsed", json=[1] * DEFAULT_BODY_LIMIT)
    assert (response.status_code, response.json()["code"]) == (413, "body_too_large")


def test_batches_and_blobs_have_limits_of_their_own(client: TestClient) -> None:
    assert client.post("/v1/records:batch", content=bytes(16 * MIB)).json() == 16 * MIB
    assert client.post("/v1/records:batch", content=bytes(16 * MIB + 1)).status_code == 413
    assert client.put("/v1/blobs/sha256:a", content=bytes(17 * MIB)).json() == 17 * MIB


def test_the_limit_holds_after_decompression(client: TestClient, probe: Probe) -> None:
    headers = {"Content-Encoding": "gzip"}
    whole = bytes(DEFAULT_BODY_LIMIT)
    assert client.post("/v1/things/a", content=gzip.compress(whole), headers=headers).status_code == 200
    refused = client.post("/v1/things/a", content=gzip.compress(whole + b"x"), headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (413, "body_too_large")
    assert probe.bodies == [whole]


def test_incompressible_bytes_pass_up_to_the_same_limit(client: TestClient, probe: Probe) -> None:
    whole = b"".join(struct.pack("<Q", number**7 % 2**64) for number in range(DEFAULT_BODY_LIMIT // 8))
    stored = gzip.compress(whole, compresslevel=0)
    assert len(stored) > DEFAULT_BODY_LIMIT
    assert (
        client.post("/v1/things/a", content=stored, headers={"Content-Encoding": "gzip"}).status_code == 200
    )
    assert probe.bodies == [whole]


def test_joined_gzip_members_are_one_body(client: TestClient, probe: Probe) -> None:
    content = gzip.compress(b"one\n") + gzip.compress(b"") + gzip.compress(b"two\n")
    assert client.post("/v1/things/a", content=content, headers={"Content-Encoding": "x-gzip"}).is_success
    assert probe.bodies == [b"one\ntwo\n"]


@pytest.mark.parametrize(
    ("encoding", "content"),
    [
        ("gzip", gzip.compress(b"body" * 1000)[:-1]),
        ("gzip", gzip.compress(b"body" * 1000)[:20]),
        ("gzip", gzip.compress(b"body") + b"trailing"),
        ("gzip", gzip.compress(b"body")[:-8] + bytes(8)),
        ("gzip", b"{}"),
        ("gzip", b""),
        ("gzip", gzip.compress(b"") * 1001),
        ("br", b"{}"),
        ("deflate", zlib.compress(b"{}")),
        ("gzip, gzip", gzip.compress(gzip.compress(b"{}"))),
    ],
    ids=[
        "cut",
        "cut-early",
        "trailing",
        "checksum",
        "plain",
        "empty",
        "members",
        "brotli",
        "deflate",
        "twice",
    ],
)
def test_a_body_that_is_not_what_it_claims_is_refused(
    client: TestClient, probe: Probe, encoding: str, content: bytes
) -> None:
    response = client.post("/v1/things/a", content=content, headers={"Content-Encoding": encoding})
    assert (response.status_code, response.json()["code"]) == (415, "unsupported_encoding")
    assert probe.bodies == []


def test_a_gzip_bomb_of_a_gibibyte_is_refused_in_bounded_memory(port: int, probe: Probe) -> None:
    # Blocks of a MiB of zeros, flushed so that the same bytes may be repeated: a valid stream, made at once.
    compressor = zlib.compressobj(9, wbits=31)
    first, block = (compressor.compress(bytes(MIB)) + compressor.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    bomb = first + block * 1023
    head = ["Content-Encoding: gzip", "Transfer-Encoding: chunked", "Connection: close"]
    for path, most in (("/v1/things/a", 8 * MIB), ("/v1/records:batch", 24 * MIB)):
        tracemalloc.start()
        answer = exchange(port, post_head(path, *head), chunked(bomb), b"0\r\n\r\n")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert status_and_code(answer) == (413, "body_too_large")
        assert peak < most
    assert probe.bodies == []


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def test_chunked_bodies_are_counted(port: int, probe: Probe) -> None:
    head = post_head("/v1/things/a", "Transfer-Encoding: chunked", "Connection: close")
    piece = chunked(bytes(MIB // 4))
    assert exchange(port, head, piece * 4, b"0\r\n\r\n").startswith(b"HTTP/1.1 200")
    assert status_and_code(exchange(port, head, piece * 4, chunked(b"x"), b"0\r\n\r\n")) == (
        413,
        "body_too_large",
    )
    assert probe.bodies == [bytes(MIB)]
