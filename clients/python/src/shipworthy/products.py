"""What a run made, whose digest is known once its files are hashed."""

import threading
from collections.abc import Callable


class Product:
    """A checkpoint or an artifact. Give it to `evaluation` and `model_version`: they wait for it by
    themselves."""

    def __init__(self, key: str, path: str) -> None:
        self.key = key
        self.path = path
        self._digest: str | None = None
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._waiting: list[Callable[[str | None], None]] = []

    @property
    def digest(self) -> str | None:
        """None while the files are hashed, and for ever when they can't be."""
        return self._digest

    def wait(self, seconds: float | None = None) -> str | None:
        """The digest, waiting for it; None after `seconds` or when there is none."""
        self._done.wait(seconds)
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
        """Calls with the digest or None, now or from the thread that hashes."""
        with self._lock:
            if not self._done.is_set():
                self._waiting.append(call)
                return
        call(self._digest)

    def __repr__(self) -> str:
        return f"Product({self.path!r}, digest={self._digest!r})"
