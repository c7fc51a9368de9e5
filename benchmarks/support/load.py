"""Closed-loop load: so many clients, each with a connection of its own, for so many seconds."""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import uvloop

from benchmarks.support.http import Client, ConnectionLost
from benchmarks.support.processes import Server, processor_seconds

T = TypeVar("T")
Attempt = Callable[[Client], Awaitable[int]]
"""Does one piece of work and gives how many runs were recorded by it; raises Failed when it was refused."""

SETTLE_SECONDS: Final = 0.3


class Failed(Exception):
    """The server answered with an error; the text says which."""


@dataclass(slots=True)
class Round:
    """What one round did: `done` runs in `seconds`, for `processor` seconds of the server's processor time."""

    done: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)
    durations: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return self.done / self.seconds if self.seconds else 0.0

    @property
    def milliseconds_each(self) -> float:
        """Server processor time for each run that was recorded, failed ones included in the price."""
        return 1000 * self.processor / self.done if self.done else float("inf")


def run(work: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def load(server: Server, attempt: Attempt, *, clients: int, seconds: float) -> Round:
    """All clients start work until the time is over and finish what they began; the time counts to the last end."""
    return run(_load(server, attempt, clients, seconds))


async def _load(server: Server, attempt: Attempt, clients: int, seconds: float) -> Round:
    outcome = Round()
    connections = [Client(server.port, server.token) for _ in range(clients)]
    before = processor_seconds(server.pid)
    began = time.perf_counter()

    async def work(client: Client) -> None:
        while True:
            started = time.perf_counter()
            if started - began >= seconds:
                return
            try:
                # Not `+= await`: that reads the sum before the wait and loses what others add meanwhile.
                recorded = await attempt(client)
                outcome.done += recorded
                outcome.durations.append(time.perf_counter() - started)
            except (Failed, ConnectionLost) as error:
                outcome.failures[str(error)] += 1

    try:
        async with asyncio.TaskGroup() as group:
            for client in connections:
                group.create_task(work(client))
        outcome.seconds = time.perf_counter() - began
        outcome.processor = processor_seconds(server.pid) - before
    finally:
        for client in connections:
            client.close()
    await asyncio.sleep(SETTLE_SECONDS)
    return outcome


def explain(text: str) -> None:
    """Progress and explanations; standard output is for the figures alone."""
    print(text, file=sys.stderr, flush=True)
