"""The garbage collector stays away from imports."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
