"""Waiting for a worker, with a bar that says how far it is."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from shipworthy.cli.screen import messages
from shipworthy.query.checks import Work

WAIT_SECONDS: Final = 3600
IDLE_SECONDS: Final = 20.0
"""After which it is told that nobody works: a root without a worker would keep it waiting in silence."""


@contextmanager
def progress_of(what: str) -> Iterator[Callable[[Work], None]]:
    """What is to be called with each answer. The bar is on standard error, and on a terminal only."""
    console = messages()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[said]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=None, said="")
        began: float | None = time.monotonic()

        def tell(work: Work) -> None:
            nonlocal began
            if work.state != "queued":
                began = None
            elif began is not None and time.monotonic() - began >= IDLE_SECONDS:
                began = None
                console.print(
                    f"No worker has taken it in {IDLE_SECONDS:.0f} s. A first one takes a while to start; if none "
                    "comes, no service or worker was started with this root (--root NAME=PATH).",
                    style="weak",
                )
            said = work.text or ("no worker has taken it yet" if work.state == "queued" else work.state)
            progress.update(task, completed=work.done or 0, total=work.total, said=said)

        yield tell
