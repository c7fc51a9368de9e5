"""uvicorn's HTTP protocol with an end to how long a half-sent request is waited for.

uvicorn waits for ever: a thousand connections whose headers or bodies never end, from callers without a key, took all
file descriptors of the service, and one of them held up its end by the time it may take to drain.
"""

import asyncio
from typing import Any, Final, Literal

from api.request_head import BoundedHead, refusal_bytes

STALLED: Final = "body_stalled"
"""What the `state` of a request's scope says once its body has made no progress for too long: "timeout", or "shutdown"
when the service ends meanwhile."""


class PatientProtocol(BoundedHead):
    """Looks at a connection now and then, and not at each request: what is late is noticed at the latest after twice
    its time. A body may take as long as it likes while bytes come."""

    head_seconds: float = 15.0
    """From the connection, or from a request's first byte, to the end of its headers."""
    body_seconds: float = 30.0
    """Without a byte of a body that is not whole."""
    shutdown_seconds: float = 1.0
    """The same once the service is told to stop: a body that is on its way is not cut."""

    _timer: asyncio.TimerHandle | None = None
    _head_since: float | None = None
    _heard = 0.0
    _stopping = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head_since = self._heard = self.loop.time()
        self._look_after(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._heard = self.loop.time()
        super().data_received(data)

    def on_message_begin(self) -> None:
        self._head_since = self._heard
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_since = None
        super().on_headers_complete()

    def shutdown(self) -> None:
        super().shutdown()
        self._stopping = True
        if self._timer is not None:
            self._timer.cancel()
        self._look_after(self.shutdown_seconds)

    def _look_after(self, seconds: float) -> None:
        self._timer = self.loop.call_later(seconds, self._look)

    def _look(self) -> None:
        if self.transport.is_closing():
            return
        now = self.loop.time()
        answering = self.cycle is not None and not self.cycle.response_complete
        if self._head_since is not None and not answering and now >= self._head_since + self.head_seconds:
            self._give_up_on_head()
            return
        patience = self.shutdown_seconds if self._stopping else self.body_seconds
        if self._waits_for_body() and now >= self._heard + patience:
            self._give_up_on_body(answering)
        self._look_after(min(self.head_seconds, patience))

    def _waits_for_body(self) -> bool:
        # While it is the service that doesn't read, or did not yet ask for the body, nobody is late.
        return (
            self.cycle is not None
            and self.cycle.more_body
            and not self.cycle.waiting_for_100_continue
            and not self.flow.read_paused
        )

    def _give_up_on_head(self) -> None:
        if self.headers is not None:
            seconds = f"{self.head_seconds:g}"
            self.transport.write(
                refusal_bytes(
                    408,
                    "request_timeout",
                    f"The request line and headers did not come within {seconds} seconds; send them at once.",
                )
            )
        self.transport.close()

    def _give_up_on_body(self, answering: bool) -> None:
        if not answering:
            self.transport.close()
            return
        state: dict[str, Any] = self.cycle.scope["state"]
        why: Literal["timeout", "shutdown"] = "shutdown" if self._stopping else "timeout"
        state[STALLED] = why
        # Whoever reads the body is woken, and is told by an empty piece of it.
        self.cycle.message_event.set()
