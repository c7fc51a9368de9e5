"""What every request passes: its id, the limit of its body, security headers, metrics and one log line.

Pure ASGI: Starlette's BaseHTTPMiddleware starts two tasks a request and hides a client's disconnect.
"""

import os
import re
import time
from collections.abc import Mapping
from typing import Final

import anyio
import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import problem_response, respond
from api.request_body import open_body
from api.request_patience import STALLED
from models.blobs import MAX_BLOB_BYTES
from models.errors import FieldProblem, InvalidInput, RequestTimeout, ShipworthyError, Unavailable

DEFAULT_BODY_LIMIT: Final = 1 << 20
BODY_LIMITS: Final[Mapping[str, int]] = {"/v1/records:batch": 16 << 20, "/v1/blobs/": MAX_BLOB_BYTES}
"""Bytes by path; a path that ends in a slash stands for all below it."""

DRAIN_BYTES: Final = 32 << 20
DRAIN_SECONDS: Final = 5.0
CLIENT_CLOSED: Final = 499
"""The status in log and metrics of a request whose client went away (nginx's number); nobody receives it."""

_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._:-]{7,127}")
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Of every answer: what is recorded came from many hands, so no page runs or loads what isn't the service's own."""

_SECURITY_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
)
_NO_STORE: Final = (b"cache-control", b"no-store")

_log: structlog.typing.FilteringBoundLogger = structlog.get_logger("api.request")


class RequestGuard:
    """The outermost middleware of the app. Nothing leaves it as an exception: what a route did not foresee is
    answered with 500 `internal_error` here, with the same headers, metrics and log line as any answer."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        registry: CollectorRegistry,
        limits: Mapping[str, int] = BODY_LIMITS,
        default_limit: int = DEFAULT_BODY_LIMIT,
    ) -> None:
        self._app = app
        self._limits = limits
        self._prefixes = tuple((path, limit) for path, limit in limits.items() if path.endswith("/"))
        self._default_limit = default_limit
        self._requests = Counter(
            "shipworthy_http_requests", "Requests answered.", ("route", "method", "status"), registry=registry
        )
        self._seconds = Histogram(
            "shipworthy_http_request_duration_seconds",
            "Time from the request's head to the end of its answer.",
            ("route", "method"),
            buckets=_BUCKETS,
            registry=registry,
        )
        # A plain number, read when somebody asks: all requests of a process run in one thread.
        self._in_flight = 0
        Gauge(
            "shipworthy_http_requests_in_flight", "Requests being answered now.", registry=registry
        ).set_function(lambda: self._in_flight)
        # labels() takes a lock and formats its arguments each time; routes, methods and statuses are few.
        self._series: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        exchange = _Exchange(scope, receive, send, self)
        self._in_flight += 1
        try:
            await self._answer(scope, exchange)
        finally:
            self._in_flight -= 1
            self._record(scope, exchange, time.perf_counter() - began)

    async def _answer(self, scope: Scope, exchange: "_Exchange") -> None:
        try:
            _refuse_nul(scope)
            await self._app(scope, exchange.receive, exchange.send)
        except ClientDisconnect:
            exchange.disconnected = True
        except Exception as error:  # noqa: BLE001 - the border of the process towards its clients
            if exchange.refusal is None:
                # Once an answer has begun, the framework wraps what it knows how to answer.
                cause = error.__cause__ if exchange.started else None
                response = respond(cause if isinstance(cause, ShipworthyError) else error, Request(scope))
                # An answer that has begun can't be taken back: the server closes the connection instead.
                if not exchange.started:
                    await response(scope, exchange.receive, exchange.send)
        if exchange.refusal is not None and not exchange.started:
            await exchange.refuse(exchange.refusal)

    def limit_of(self, path: str) -> int:
        """The most bytes that the body of a request to `path` may have."""
        exact = self._limits.get(path)
        if exact is not None:
            return exact
        return next((most for prefix, most in self._prefixes if path.startswith(prefix)), self._default_limit)

    def _record(self, scope: Scope, exchange: "_Exchange", seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route, status = _route_template(scope), exchange.final_status
        key = (route, method, status)
        series = self._series.get(key)
        if series is None:
            series = self._requests.labels(route, method, str(status)), self._seconds.labels(route, method)
            self._series[key] = series
        series[0].inc()
        series[1].observe(seconds)
        write = _log.warning if status >= 500 else _log.info if status >= 400 else _log.debug
        write(
            "request",
            request_id=exchange.request_id,
            method=method,
            route=route,
            path=scope["path"][:256],
            status=status,
            milliseconds=round(seconds * 1000, 2),
        )


class _Exchange:
    """One request and its answer, as the guard sees them pass."""

    __slots__ = (
        "_body",
        "_completed",
        "_guard",
        "_headers",
        "_receive",
        "_received_all",
        "_scope",
        "_send",
        "_stalled",
        "_status",
        "disconnected",
        "refusal",
        "request_id",
        "started",
    )

    def __init__(self, scope: Scope, receive: Receive, send: Send, guard: RequestGuard) -> None:
        self._scope, self._receive, self._send, self._guard = scope, receive, send, guard
        self._body: Receive | None = None
        self._received_all = False
        self._stalled = False
        self._completed = False
        self._status = 0
        self.started = False
        self.disconnected = False
        self.refusal: ShipworthyError | None = None
        self.request_id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = self.request_id
        self._headers = [(b"x-request-id", self.request_id.encode()), *_SECURITY_HEADERS]
        if scope["path"].startswith("/v1"):
            self._headers.append(_NO_STORE)

    @property
    def final_status(self) -> int:
        return CLIENT_CLOSED if self.disconnected or not self._status else self._status

    async def receive(self) -> Message:
        """Raises what the body breaks, and remembers it: FastAPI turns any exception from reading a body into
        a bare 400, so the guard answers for itself."""
        if self.refusal is not None:
            raise self.refusal
        try:
            if self._body is None:
                path = self._scope["path"].removeprefix(self._scope.get("root_path", ""))
                self._body = open_body(self._scope, self._receive_in_time, self._guard.limit_of(path))
            message = await self._body()
        except ShipworthyError as error:
            self.refusal = error
            raise
        if message["type"] == "http.disconnect" and not self._completed:
            self.disconnected = True
        return message

    async def _receive_in_time(self) -> Message:
        """Raises RequestTimeout, or Unavailable at the end of the service, for a body that does not go on."""
        message = await self._receive_raw()
        if not message.get("body") and message.get("more_body") and STALLED in self._scope["state"]:
            self._stalled = True
            if self._scope["state"][STALLED] == "shutdown":
                raise Unavailable("The service is shutting down and the body was not whole; send it again.")
            raise RequestTimeout("The body did not go on for too long; send the whole request again.")
        return message

    async def _receive_raw(self) -> Message:
        message = await self._receive()
        if not message.get("more_body", False):
            self._received_all = True
        return message

    async def send(self, message: Message) -> None:
        if self.refusal is not None and not self.started:
            return
        if message["type"] == "http.response.start":
            self.started = True
            self._status = message["status"]
            message["headers"] = [*message.get("headers", ()), *self._headers]
        elif not message.get("more_body", False):
            self._completed = True
        await self._send(message)

    async def refuse(self, error: ShipworthyError) -> None:
        """Answer a refused body. A client that is still sending reads the answer only if its bytes are taken
        off the wire: closing a socket with unread input resets the connection and destroys what was sent. So
        the whole answer goes out first, then a bounded part of the body is thrown away, then we close."""
        self.refusal = None
        response = problem_response(error, self.request_id)
        headers = list(response.raw_headers)
        if not self._received_all:
            headers.append((b"connection", b"close"))
        await self.send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        await self.send({"type": "http.response.body", "body": bytes(response.body), "more_body": True})
        left = DRAIN_BYTES
        with anyio.move_on_after(DRAIN_SECONDS):
            while not self._received_all and not self._stalled and left > 0:
                left -= len((await self._receive_raw()).get("body", b""))
        await self.send({"type": "http.response.body", "body": b"", "more_body": False})


def _request_id(scope: Scope) -> str:
    """The caller's X-Request-Id when it is 8 to 128 harmless characters, else 32 random hex digits."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return str(value, "ascii")
    return os.urandom(16).hex()


def _refuse_nul(scope: Scope) -> None:
    """No id and no name holds U+0000, and PostgreSQL takes it in no text: without this, asking for one would be
    answered with 500. Raises InvalidInput."""
    if "\0" in scope["path"] or b"%00" in scope["query_string"]:
        field = "/path" if "\0" in scope["path"] else "/query"
        message = "holds the character U+0000 (%00); remove it"
        raise InvalidInput(f"The URL {message}.", problems=[FieldProblem(field, message)])


def _route_template(scope: Scope) -> str:
    """Such as "/v1/runs/{run_id}"; never the path itself, which would make a time series for each run."""
    return str(getattr(scope.get("route"), "path", "unmatched"))
