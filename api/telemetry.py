"""What OpenTelemetry gets to know, where it is switched on: docs/operations.md names the variables.

FastAPI makes the spans and exports them. Of a request it would send the query string, and of a failure the message
with its stack: both may hold a person's address or what somebody recorded.
"""

from collections.abc import MutableMapping
from typing import Final

from fastapi.telemetry import TelemetryConfig
from opentelemetry import trace
from starlette.types import ASGIApp, Receive, Scope, Send

CONFIGURATION: Final = TelemetryConfig(logs=False)
"""Failures are in the service's own log, by exception and request id."""

HIDDEN: Final = "REDACTED"
"""What semantic conventions for HTTP put in the place of a value."""

_BOUNDS: Final = {"OTEL_EXPORTER_OTLP_TIMEOUT": "2", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "2048"}
"""Seconds for one export with all its attempts, and spans in one: the whole queue. With the SDK's own 10 s and 512
a service whose collector is away would take a minute to stop, and be killed before it has closed its ledger."""


def bound_export(environment: MutableMapping[str, str]) -> None:
    """Sets what keeps the end of the process short, unless it is set; before the application starts."""
    for name, value in _BOUNDS.items():
        environment.setdefault(name, value)


class QuerySilence:
    """Middleware inside of FastAPI's span: the span keeps no query string."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("query_string"):
            trace.get_current_span().set_attribute("url.query", HIDDEN)
        await self._app(scope, receive, send)
