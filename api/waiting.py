"""Waiting for something in the database without holding a session, a transaction or a thread meanwhile."""

import time
from collections.abc import Callable
from typing import Annotated, Final, TypeVar

import anyio
from anyio import to_thread
from fastapi import Query, Request

POLL_SECONDS: Final = 0.15
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

    `look` is one short transaction, run in a thread each time.
    """
    deadline = time.monotonic() + seconds
    while True:
        # Asked before each look: work must not be leased to somebody who is gone.
        if seconds and await request.is_disconnected():
            return None
        found = await to_thread.run_sync(look)
        left = deadline - time.monotonic()
        if found is not None or left <= 0:
            return found
        await anyio.sleep(min(POLL_SECONDS, left))
