"""The request guard: refusals that reach the client, disconnects, ids, headers, metrics and log lines."""

import gzip
import socket
import time
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from structlog.testing import capture_logs
from structlog.typing import EventDict

from api.middleware import DEFAULT_BODY_LIMIT, DRAIN_BYTES
from tests.api.guarded_app import Probe, make_probe, post_head, status_and_code
from tests.api.socket_server import exchange, read_all, serving


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


@pytest.mark.parametrize("encoding", ["identity", "br"])
def test_a_client_that_is_still_sending_reads_the_refusal(port: int, encoding: str) -> None:
    size = DRAIN_BYTES // 2
    head = post_head("/v1/things/a", f"Content-Encoding: {encoding}", f"Content-Length: {size}")
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(head)
        connection.sendall(bytes(size))
        answer = read_all(connection)
    assert status_and_code(answer)[0] in {413, 415}
    assert b"\r\nconnection: close\r\n" in answer


def test_a_refused_client_need_not_send_the_rest(port: int) -> None:
    head = post_head("/v1/things/a", f"Content-Length: {DEFAULT_BODY_LIMIT + 1}")
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(head)
        answer = b""
        while not answer.endswith(b"}"):
            answer += connection.recv(65536)
    assert status_and_code(answer) == (413, "body_too_large")


def test_after_a_refused_whole_body_the_connection_serves_on(port: int) -> None:
    bad = post_head("/v1/things/a", "Content-Encoding: br", "Content-Length: 2") + b"{}"
    good = post_head("/v1/things/a", "Content-Length: 2", "Connection: close") + b"{}"
    answer = exchange(port, post_head("/v1/things/a", "Content-Length: 2") + b"{}", good)
    assert answer.count(b"HTTP/1.1 200") == 2
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(bad)
        assert connection.recv(65536).startswith(b"HTTP/1.1 415")


def test_a_disconnect_in_the_middle_stores_nothing_and_logs_no_error(probe: Probe) -> None:
    with capture_logs() as logs, serving(probe.app) as port:
        for headers in (("Content-Length: 1000",), ("Content-Length: 1000", "Content-Encoding: gzip")):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(post_head("/v1/things/a", *headers) + gzip.compress(b"half")[:15])
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(post_head("/v1/parsed", "Content-Length: 1000") + b"[1,")
        deadline = time.monotonic() + 30
        while len(logs) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
    assert probe.bodies == []
    assert [(entry["log_level"], entry["status"]) for entry in logs] == [("info", 499)] * 3


def test_every_answer_has_an_id_and_security_headers(client: TestClient) -> None:
    with capture_logs():
        responses = [client.get("/v1/nothing"), client.post("/v1/things/a"), client.get("/v1/fails")]
    for response in responses:
        assert len(response.headers["x-request-id"]) == 32
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert response.headers["cache-control"] == "no-store"
    assert "cache-control" not in client.get("/openapi.json").headers


def test_a_sane_request_id_is_kept_and_another_replaced(client: TestClient) -> None:
    for given, kept in (
        ("trace-0001", True),
        ("short", False),
        ("a" * 129, False),
        ("bad id <script>", False),
    ):
        response = client.post("/v1/things/a", headers={"X-Request-Id": given})
        assert (response.headers["x-request-id"] == given) is kept
        assert response.json()["id"] == response.headers["x-request-id"]


def request_lines(logs: list[EventDict]) -> list[tuple[str, str, int]]:
    return [
        (entry["log_level"], entry["route"], entry["status"]) for entry in logs if entry["event"] == "request"
    ]


def test_metrics_and_log_lines_name_the_route_not_the_path(client: TestClient, probe: Probe) -> None:
    with capture_logs() as logs:
        client.post("/v1/things/a")
        client.post("/v1/things/b")
        client.get("/v1/nothing/secret")
        client.get("/v1/fails")
        client.request("BREW", "/v1/fails")
    assert request_lines(logs) == [
        ("debug", "/v1/things/{name}", 200),
        ("debug", "/v1/things/{name}", 200),
        ("info", "unmatched", 404),
        ("warning", "/v1/fails", 500),
        ("info", "/v1/fails", 405),
    ]
    assert probe.count("/v1/things/{name}", "POST", 200) == 2
    assert probe.count("unmatched", "GET", 404) == 1
    assert probe.count("/v1/fails", "other", 405) == 1
    sample = probe.registry.get_sample_value
    assert (
        sample(
            "shipworthy_http_request_duration_seconds_count", {"route": "/v1/things/{name}", "method": "POST"}
        )
        == 2
    )
    assert sample("shipworthy_http_requests_in_flight") == 0


def test_an_unexpected_error_is_a_problem_with_the_request_id(client: TestClient) -> None:
    with capture_logs() as logs:
        response = client.get("/v1/fails", headers={"X-Request-Id": "trace-0001"})
    assert (response.status_code, response.json()["code"]) == (500, "internal_error")
    assert "trace-0001" in response.json()["detail"]
    assert "hunter2" not in response.text
    (entry,) = [entry for entry in logs if entry["log_level"] == "error"]
    assert entry["request_id"] == "trace-0001"
    assert isinstance(entry["exc_info"], RuntimeError)


def test_an_answer_that_breaks_off_is_not_ended_as_if_whole(port: int) -> None:
    with capture_logs():
        answer = exchange(port, b"GET /v1/breaks HTTP/1.1\r\nHost: test\r\n\r\n")
    assert b"begun" in answer
    assert not answer.endswith(b"0\r\n\r\n")
