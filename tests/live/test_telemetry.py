"""OpenTelemetry as docs/operations.md has it switched on: what a collector gets, and a collector that is away."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import httpx
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.live.servers import ServeProcess, serve_process
from tests.support.bodies import make_start
from tests.support.databases import DatabaseUrls
from tests.support.service import NO_CERTIFICATES

PERSON: Final = "ada@example.org"
SEARCHED: Final = "what-somebody-looked-for"
SENT: Final = {
    "code.function.name",
    "error.type",
    "http.request.method",
    "http.response.status_code",
    "http.route",
    "network.protocol.version",
    "server.address",
    "server.port",
    "url.path",
    "url.query",
    "url.scheme",
}
"""As docs/operations.md lists them."""


@dataclass(frozen=True, slots=True)
class Collector:
    """What came: paths, and the bodies as they were sent."""

    url: str
    received: list[tuple[str, bytes]]

    def bodies(self, path: str) -> list[bytes]:
        return [body for where, body in self.received if where == path]

    def spans(self) -> list[Span]:
        """Asserts beside that they come from a service of the configured name."""
        spans = []
        for body in self.bodies("/v1/traces"):
            for each in ExportTraceServiceRequest.FromString(body).resource_spans:
                resource = {pair.key: pair.value.string_value for pair in each.resource.attributes}
                assert resource["service.name"] == "shipworthy"
                spans += [span for scope in each.scope_spans for span in scope.spans]
        return spans

    def metrics(self) -> set[str]:
        return {
            metric.name
            for body in self.bodies("/v1/metrics")
            for each in ExportMetricsServiceRequest.FromString(body).resource_metrics
            for scope in each.scope_metrics
            for metric in scope.metrics
        }


@contextmanager
def collector() -> Iterator[Collector]:
    received: list[tuple[str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield Collector(f"http://127.0.0.1:{server.server_address[1]}", received)
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def nobody() -> Iterator[str]:
    """An address at which nobody listens, and which nobody else is given meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


@contextmanager
def somebody_mute() -> Iterator[str]:
    """An address that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def exporting_to(endpoint: str) -> dict[str, str]:
    return {
        "FASTAPI_OTEL_AUTO_CONFIGURE": "true",
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_SERVICE_NAME": "shipworthy",
    }


def client_of(running: ServeProcess) -> httpx.Client:
    headers = {"Authorization": f"Bearer {running.recorder_token}"}
    return httpx.Client(base_url=running.url, headers=headers, timeout=60, verify=NO_CERTIFICATES)


def values(spans: list[Span], key: str) -> list[object]:
    pairs = [pair for span in spans for pair in span.attributes if pair.key == key]
    return [pair.value.int_value or pair.value.string_value for pair in pairs]


def test_requests_are_exported_and_nothing_of_a_person_or_a_key_with_them(
    sqlite_urls: DatabaseUrls, tmp_path: Path
) -> None:
    with collector() as collected:
        with (
            serve_process(sqlite_urls, tmp_path, variables=exporting_to(collected.url)) as running,
            client_of(running) as client,
        ):
            assert client.post("/v1/runs", json=make_start(tags={"contact": PERSON})).status_code == 201
            assert client.post("/v1/runs", json={"tags": PERSON, "unknown": SEARCHED}).status_code == 422
            assert client.get("/v1/runs", params={"owner": PERSON}).status_code == 200
            client.get("/search", params={"q": SEARCHED, "token": running.recorder_token})
        assert running.process.returncode == 0, running.output.read_text()
    spans = collected.spans()
    registering = [span for span in spans if span.name == "POST /v1/runs"]
    assert values(registering, "http.response.status_code") == [201, 422]
    assert all(span.end_time_unix_nano > span.start_time_unix_nano for span in registering)
    assert {pair.key for span in spans for pair in span.attributes} == SENT
    assert [event for span in spans for event in span.events] == []
    assert values(spans, "url.query") == ["REDACTED", "REDACTED"]
    assert "http.server.request.duration" in collected.metrics()
    assert {where for where, _ in collected.received} == {"/v1/traces", "/v1/metrics"}
    everything = b"".join(body for _, body in collected.received)
    for secret in (running.recorder_token, PERSON, PERSON.replace("@", "%40"), SEARCHED):
        assert secret.encode() not in everything


@pytest.mark.parametrize("away", [nobody, somebody_mute])
def test_service_works_and_ends_when_the_collector_is_away(
    away: Callable[[], AbstractContextManager[str]], sqlite_urls: DatabaseUrls, tmp_path: Path
) -> None:
    """With the SDK's own bounds the end took longer than it may here."""
    with away() as endpoint:
        with (
            serve_process(sqlite_urls, tmp_path, variables=exporting_to(endpoint)) as running,
            client_of(running) as client,
        ):
            assert client.post("/v1/runs", json=make_start()).status_code == 201
            assert client.get("/readyz").status_code == 200
        printed = running.output.read_text()
        assert running.process.returncode == 0, printed
        assert "Failed to export spans" in printed
