"""What keeps a long-running process small: a garbage collector that looks at what is young, and a heap that gives
back what a burst of requests needed."""

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# mallopt(3) and malloc.h of the GNU C library
_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_ARENA_MAX: Final = -8

UNUSED: Final = ("greenlet", "pydantic.v1", "rich")
"""What is imported where it is there, and done without otherwise. SQLAlchemy takes the first for asyncio alone: 1 MiB.
FastAPI asks of each parameter of a route whether it is a model of the second, which none is: 2 MiB. structlog draws
tracebacks in colour with the third, which Typer brings: 3 MiB that JSON lines have no use for."""


@contextmanager
def collector_off() -> Iterator[None]:
    """For a block that imports: it makes half a million objects that stay, and to look through them again and again
    is up to a fifth of the time in which a command starts. Afterwards they are out of the collector's sight."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()
            gc.enable()


@contextmanager
def without(*packages: str) -> Iterator[None]:
    """For a block that imports what would import these packages if they were there, and does without otherwise."""
    hidden = [package for package in packages if package not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for package in hidden:
            del sys.modules[package]


def spare_collector() -> None:
    """Takes what lives until the end out of the garbage collector's sight: it went through 160,000 objects of imported
    modules again and again, 7 % of the time under load. What is left is young, and looking through all of it takes
    milliseconds: done often, cycles that outlived their request don't pile up."""
    gc.unfreeze()  # What importing left behind was frozen with what stays.
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 5, 2)


def bound_heap() -> None:
    """One heap for all threads, which gives back its free end, and large buffers beside it, which go back when they
    are freed. By default each thread has a heap of its own, and what 128 requests at once needed stayed for good:
    13 MiB. Before the first thread starts; only the GNU C library has these settings."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(_ARENA_MAX, 1)
    mallopt(_MMAP_THRESHOLD, 64 << 10)
    mallopt(_TRIM_THRESHOLD, 128 << 10)
