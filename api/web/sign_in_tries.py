"""A bound on failed sign-ins from one address: keys can't be guessed, but nobody need try all day either."""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

TRIES: Final = 10
WINDOW_SECONDS: Final = 60.0
_ADDRESSES: Final = 4096


class SignInTries:
    """Counts failures of the last minute by address, of this process; the least recent address is forgotten.

    `monotonic` gives seconds.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def seconds_to_wait(self, address: str) -> int:
        """0 when a try is free."""
        now = self._monotonic()
        with self._lock:
            failures = self._failures.get(address)
            if failures is None or len(failures) < TRIES:
                return 0
            return (
                max(0, int(failures[0] + WINDOW_SECONDS - now) + 1) if self._is_recent(failures, now) else 0
            )

    def failed(self, address: str) -> None:
        with self._lock:
            failures = self._failures.setdefault(address, deque(maxlen=TRIES))
            failures.append(self._monotonic())
            self._failures.move_to_end(address)
            if len(self._failures) > _ADDRESSES:
                self._failures.popitem(last=False)

    @staticmethod
    def _is_recent(failures: deque[float], now: float) -> bool:
        return failures[0] + WINDOW_SECONDS > now
