"""Pages that are told when what they show has changed, by server-sent events.

An event says only that there is something new: the page then asks for itself as anybody does, so that nothing reaches
it past the checks of a request. All streams of a process share one look a namespace, at most one runs at a time.
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from anyio import CapacityLimiter, to_thread
from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.types import Receive, Scope, Send

from api.overview import overview
from api.services import Services
from api.web.templating import instant
from api.web.viewers import Viewer
from models.attention import LogHead, log_head
from models.errors import TokenInvalid, TooManyWaits

LOOK_SECONDS: Final = 2.0
LEAST_SHARE: Final = 20.0
"""A look that took long is repeated the later: looking takes at most a twentieth of one processor."""
RENEW_SECONDS: Final = 10.0
"""What time alone changes, such as a run that is lost by its silence, shows as late."""
ALIVE_SECONDS: Final = 15.0
"""Silence after which a comment keeps proxies from closing the stream, and the session is asked for again."""
STREAM_SECONDS: Final = 600.0
"""Then the browser connects anew, perhaps to another process."""
RETRY_MILLISECONDS: Final = 2000
MAX_STREAMS: Final = 256
MAX_STREAMS_OF_KEY: Final = 16


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look found: the version of the overview and the log's head; `renewed_at` and `due_at` on the monotonic
    clock."""

    version: str
    head: LogHead
    renewed_at: float
    due_at: float


class Watch:
    """Of one application; everything but looking happens on its event loop."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._seen: dict[str, Seen] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._streams: Counter[str] = Counter()
        self._limiter: CapacityLimiter | None = None
        self._closing = asyncio.Event()

    def close(self) -> None:
        """Ends every stream, so that a service which stops does not wait for them."""
        self._closing.set()

    @contextmanager
    def place_of(self, key_id: str) -> Iterator[None]:
        """Raises TooManyWaits when the process or the key has as many streams as it may."""
        if self._streams[key_id] >= MAX_STREAMS_OF_KEY or self._streams.total() >= MAX_STREAMS:
            raise TooManyWaits("too many pages are open that wait for news; this one shows what was so far")
        self._streams[key_id] += 1
        try:
            yield
        finally:
            self._streams[key_id] -= 1
            if not self._streams[key_id]:
                del self._streams[key_id]

    async def events(self, viewer: Viewer) -> AsyncIterator[bytes]:
        """`version` whenever the overview says something else, `last` with the time of the log's last record."""
        namespace, began, said_at = viewer.actor.namespace, time.monotonic(), time.monotonic()
        version, last = "", ""
        yield format_sse_event(retry=RETRY_MILLISECONDS, comment="shipworthy")
        while not self._closing.is_set() and time.monotonic() - began < STREAM_SECONDS:
            seen = await self._look(namespace)
            committed = instant(seen.head.committed_at) if seen.head.committed_at else ""
            if version != seen.version:
                version, said_at = seen.version, time.monotonic()
                yield format_sse_event(event="version", data_str=version)
            if last != committed:
                last, said_at = committed, time.monotonic()
                yield format_sse_event(event="last", data_str=last)
            if time.monotonic() - said_at >= ALIVE_SECONDS:
                if not await self._is_signed_in(viewer):
                    return
                said_at = time.monotonic()
                yield format_sse_event(comment="alive")
            with suppress(TimeoutError):
                async with asyncio.timeout(max(seen.due_at - time.monotonic(), 0.1)):
                    await self._closing.wait()

    async def _is_signed_in(self, viewer: Viewer) -> bool:
        if viewer.session is None:
            return True
        try:
            await self._services.authenticator.holder(viewer.session)
        except TokenInvalid:
            return False
        return True

    async def _look(self, namespace: str) -> Seen:
        """The last look, or a new one when that is due; who comes meanwhile waits for it and shares it."""
        async with self._locks[namespace]:
            seen = self._seen.get(namespace)
            if seen is None or time.monotonic() >= seen.due_at:
                if self._limiter is None:
                    self._limiter = CapacityLimiter(1)
                seen = await to_thread.run_sync(self._looked, namespace, seen, limiter=self._limiter)
                self._seen[namespace] = seen
            return seen

    def _looked(self, namespace: str, before: Seen | None) -> Seen:
        """Without a new record nothing but time changes what the overview says."""
        began = time.monotonic()
        with self._services.database.read() as session:
            head = log_head(session.connection())
            if (
                before is not None
                and before.head.size == head.size
                and began - before.renewed_at < RENEW_SECONDS
            ):
                version, renewed_at = before.version, before.renewed_at
            else:
                now = datetime.now(UTC)
                version, renewed_at = overview(session, self._services, namespace, now).version, began
        ended = time.monotonic()
        return Seen(version, head, renewed_at, ended + max(LOOK_SECONDS, LEAST_SHARE * (ended - began)))


class EventStream(EventSourceResponse):
    """The events of one page, as long as it is open. Raises TooManyWaits before anything is sent."""

    def __init__(self, watch: Watch, viewer: Viewer) -> None:
        # Proxies that collect an answer before they pass it on would keep every event.
        super().__init__(
            watch.events(viewer), headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        )
        self._watch, self._key_id = watch, viewer.actor.key_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._watch.place_of(self._key_id):
            await super().__call__(scope, receive, send)
