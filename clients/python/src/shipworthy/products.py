"""What a run made, whose digest is known once its files are hashed."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from shipworthy.recorded import Recorded

_LOOK_SECONDS: Final = 0.1


class Product:
    """A checkpoint or an artifact. Give it to `evaluation` and `model_version`: they wait for it by
    themselves."""

    def __init__(self, key: str, path: str, folder: Path | None) -> None:
        """`folder` is that of the run's journals: there other processes find what came out."""
        self.key = key
        self.path = path
        self._folder = folder
        self._digest: str | None = None
        self._owner = os.getpid()
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._waiting: list[Callable[[str | None], None]] = []
        self._recorded: Recorded | None = None

    @property
    def digest(self) -> str | None:
        """None while the files are hashed, and for ever when they can't be."""
        self._is_done()
        return self._digest

    def wait(self, seconds: float | None = None) -> str | None:
        """The digest, waiting for it; None after `seconds` or when there is none."""
        if self._owner == os.getpid():
            self._done.wait(seconds)
            return self._digest
        deadline = None if seconds is None else time.monotonic() + seconds
        while not self._is_done() and (deadline is None or time.monotonic() < deadline):
            time.sleep(_LOOK_SECONDS)
        return self._digest

    def settle(self, digest: str | None) -> None:
        """Says what came out; only the recorder of the product calls it."""
        with self._lock:
            self._digest = digest
            self._done.set()
            waiting, self._waiting = self._waiting, []
        for each in waiting:
            each(digest)

    def when_settled(self, call: Callable[[str | None], None]) -> None:
        """Calls with the digest or None, now or from the thread that hashes. In a process that was forked from the
        one that hashes nobody calls later: whoever sends its journal keeps the promise then."""
        if self._owner == os.getpid():
            with self._lock:
                if not self._done.is_set():
                    self._waiting.append(call)
                    return
        elif not self._is_done():
            return
        call(self._digest)

    def _is_done(self) -> bool:
        """Another process than the one that hashes reads what that one recorded. It takes no lock, which a thread may
        have held when it was forked."""
        if self._done.is_set() or self._owner == os.getpid() or self._folder is None:
            return self._done.is_set()
        self._recorded = self._recorded or Recorded(self._folder, self.key)
        if self._recorded.look():
            self._digest = self._recorded.digest
            return True
        return False

    def __reduce__(self) -> tuple[object, ...]:
        return _elsewhere, (self.key, self.path, self._folder, self._digest)

    def __repr__(self) -> str:
        return f"Product({self.path!r}, digest={self._digest!r})"


def _elsewhere(key: str, path: str, folder: Path | None, digest: str | None) -> Product:
    """A product that another process hashes, or has hashed."""
    product = Product(key, path, folder)
    product._owner = 0
    if digest is not None:
        product.settle(digest)
    return product
