"""What the service does every so often by itself: a thread that ends with the block that started it."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

import structlog

EVERY_SECONDS: Final = 30.0
Tick = Callable[[datetime], object]

log = structlog.get_logger("shipworthy.ticks")


@contextmanager
def ticking(*ticks: Tick, seconds: float = EVERY_SECONDS) -> Iterator[None]:
    """Calls each of `ticks` with the time, at once and then every `seconds`, until the block ends; what is under way
    then comes to its end. A tick that fails is logged and called again the next time, the others all the same."""
    stopped = threading.Event()
    thread = threading.Thread(target=_tick, args=(ticks, seconds, stopped), name="ticks", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _tick(ticks: Sequence[Tick], seconds: float, stopped: threading.Event) -> None:
    while not stopped.is_set():
        for tick in ticks:
            try:
                tick(datetime.now(UTC))
            except Exception as error:
                # The border of the thread: a database that is away for a moment must not end all ticks for good.
                log.warning("tick.failed", exc_info=error)
        stopped.wait(seconds)
