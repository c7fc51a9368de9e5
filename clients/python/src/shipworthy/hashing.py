"""The thread that hashes checkpoints and artifacts, so that training goes on meanwhile."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from shipworthy.notices import warn_once

IDLE_SECONDS: Final = 5.0
"""A thread without work ends after so long."""


class Hasher:
    """Does tasks in their order, one at a time: two would fight for the same disk."""

    def __init__(self) -> None:
        self._tasks: deque[Callable[[], object]] = deque()
        self._changed = threading.Condition()
        self._working = False

    def submit(self, task: Callable[[], object]) -> None:
        """Has the task done; it must not raise."""
        with self._changed:
            self._tasks.append(task)
            if self._working:
                self._changed.notify_all()
                return
            try:
                threading.Thread(target=self._run, name="shipworthy-hasher", daemon=True).start()
                self._working = True
                return
            except RuntimeError as error:
                warn_once("thread", f"no thread can be started ({error}); `shipworthy sync` hashes later")

    def wait(self, seconds: float) -> bool:
        """Whether all tasks were done within so many seconds."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while self._tasks:
                remaining = deadline - time.monotonic()
                if remaining <= 0 or not self._working:
                    return False
                self._changed.wait(remaining)
        return True

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._tasks:
                    self._changed.wait(IDLE_SECONDS)
                if not self._tasks:
                    self._working = False
                    return
                task = self._tasks[0]
            task()
            with self._changed:
                self._tasks.popleft()
                self._changed.notify_all()
