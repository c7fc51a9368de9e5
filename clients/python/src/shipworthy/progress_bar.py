"""A progress bar on standard error for who waits for hashing; nothing where nobody looks."""

import sys
import time
from types import TracebackType
from typing import Final, Self

WIDTH: Final = 30
REDRAW_SECONDS: Final = 0.1


class ProgressBar:
    """`with ProgressBar("hashing model.pt", total) as bar: hash_tree(path, bar.add)`; total in bytes."""

    def __init__(self, title: str, total: int) -> None:
        self._title = title
        self._total = max(total, 1)
        self._done = 0
        self._began = time.monotonic()
        self._drawn_at = 0.0
        self._shown = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown and self._drawn_at:
            self._draw()
            sys.stderr.write("\n")

    def add(self, count: int) -> None:
        self._done += count
        if self._shown and time.monotonic() - self._drawn_at >= REDRAW_SECONDS:
            self._draw()

    def _draw(self) -> None:
        self._drawn_at = time.monotonic()
        part = min(self._done / self._total, 1.0)
        speed = self._done / 2**20 / max(self._drawn_at - self._began, 1e-3)
        bar = "█" * round(part * WIDTH)
        sys.stderr.write(f"\r{self._title} {bar:·<{WIDTH}} {part:4.0%} {speed:,.0f} MiB/s")
        sys.stderr.flush()
