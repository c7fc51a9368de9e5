"""A worker that does one piece of work while a command waits, over HTTP as workers do it."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx

from tests.support.bodies import Body
from tests.support.contracts import claim

Do = Callable[[httpx.Client, Body], object]


@contextmanager
def working(worker: httpx.Client, do: Do) -> Iterator[None]:
    """Claims the next piece of work and does it; what goes wrong there is raised at the end of the block."""

    def run() -> None:
        work = claim(worker, wait_seconds=20)
        assert work is not None
        do(worker, work)

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run)
        yield
        future.result()
