"""Waiting for something in the database without holding a session, a transaction or a thread meanwhile."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Final, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from fastapi import Query, Request

from models.actor import Actor
from models.errors import TooManyWaits

FIRST_POLL_SECONDS: Final = 0.15
LAST_POLL_SECONDS: Final = 1.0
WAITER_THREADS: Final = 4
"""Those who wait look by turns of their own: any number of them leaves threads and connections to everybody else."""
MAX_WAITS: Final = 64
"""Of one key at the same time: each looks once a second, and all keys share those four threads."""
MAX_WAIT_SECONDS: Final = 30
Wait = Annotated[
    int,
    Query(
        ge=0,
        le=MAX_WAIT_SECONDS,
        description="seconds to wait for the end; the answer comes at once by default",
    ),
]
T = TypeVar("T")


async def wait_for(request: Request, actor: Actor, look: Callable[[], T | None], seconds: float) -> T | None:
    """What `look` gives as soon as it is not None; None when that takes longer or the client went away.

    `look` is one short transaction, run in a thread each time, the more rarely the longer it takes. With 0 seconds it
    looks once. Raises TooManyWaits when the key waits for too much already.
    """
    if not seconds:
        return await to_thread.run_sync(look)
    with _place_of(actor):
        return await _looked(request, look, seconds)


async def _looked(request: Request, look: Callable[[], T | None], seconds: float) -> T | None:
    deadline = time.monotonic() + seconds
    pause = FIRST_POLL_SECONDS
    while True:
        # Asked before each look: work must not be leased to somebody who is gone.
        if await request.is_disconnected():
            return None
        found = await to_thread.run_sync(look, limiter=_limiter())
        left = deadline - time.monotonic()
        if found is not None or left <= 0:
            return found
        await anyio.sleep(min(pause, left))
        pause = min(pause * 1.2, LAST_POLL_SECONDS)


@contextmanager
def _place_of(actor: Actor) -> Iterator[None]:
    """One of the places that the key has; on the event loop only."""
    waits = _counted()
    if waits[actor.key_id] >= MAX_WAITS:
        raise TooManyWaits(
            f"{MAX_WAITS} calls of this key wait already; ask again when one of them was answered, or without `wait`"
        )
    waits[actor.key_id] += 1
    try:
        yield
    finally:
        waits[actor.key_id] -= 1
        if not waits[actor.key_id]:
            del waits[actor.key_id]


_waits: RunVar[Counter[str]] = RunVar("shipworthy_waits")


def _counted() -> Counter[str]:
    """Calls that wait, by key, of the running event loop."""
    try:
        return _waits.get()
    except LookupError:
        counted: Counter[str] = Counter()
        _waits.set(counted)
        return counted


_limiters: RunVar[CapacityLimiter] = RunVar("shipworthy_waiters")


def _limiter() -> CapacityLimiter:
    """That of the running event loop; a limiter belongs to one."""
    try:
        return _limiters.get()
    except LookupError:
        limiter = CapacityLimiter(WAITER_THREADS)
        _limiters.set(limiter)
        return limiter
