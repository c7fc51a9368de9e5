"""Waiting for something in the database without holding a session, a transaction or a thread meanwhile."""

import time
from collections.abc import Callable
from typing import Annotated, Final, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from fastapi import Query, Request

FIRST_POLL_SECONDS: Final = 0.15
LAST_POLL_SECONDS: Final = 1.0
WAITER_THREADS: Final = 4
"""Those who wait look by turns of their own: any number of them leaves threads and connections to everybody else."""
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


async def wait_for(request: Request, look: Callable[[], T | None], seconds: float) -> T | None:
    """What `look` gives as soon as it is not None; None when that takes longer or the client went away.

    `look` is one short transaction, run in a thread each time, the more rarely the longer it takes.
    """
    deadline = time.monotonic() + seconds
    pause = FIRST_POLL_SECONDS
    while True:
        # Asked before each look: work must not be leased to somebody who is gone.
        if seconds and await request.is_disconnected():
            return None
        found = await to_thread.run_sync(look, limiter=_limiter() if seconds else None)
        left = deadline - time.monotonic()
        if found is not None or left <= 0:
            return found
        await anyio.sleep(min(pause, left))
        pause = min(pause * 1.2, LAST_POLL_SECONDS)


_limiters: RunVar[CapacityLimiter] = RunVar("shipworthy_waiters")


def _limiter() -> CapacityLimiter:
    """That of the running event loop; a limiter belongs to one."""
    try:
        return _limiters.get()
    except LookupError:
        limiter = CapacityLimiter(WAITER_THREADS)
        _limiters.set(limiter)
        return limiter
