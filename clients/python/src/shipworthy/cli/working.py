"""Waiting for a worker, with a bar that says how far it is, and a word where none will come."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from shipworthy.cli.screen import messages
from shipworthy.cli.words import span
from shipworthy.query.checks import Work

WAIT_SECONDS: Final = 3600
IDLE_SECONDS: Final = 20.0
"""After which it is told that nobody works, where a worker was seen: it may be busy, or start."""
SEEN_LATELY_SECONDS: Final = 1800.0
"""Idle workers are noted every ten minutes, and one that works asks for nothing meanwhile."""


@contextmanager
def progress_of(what: str, url: str) -> Iterator[Callable[[Work], None]]:
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
            elif began is not None:
                alone = remedy(work, url)
                if alone is None and time.monotonic() - began >= IDLE_SECONDS:
                    alone = (
                        f"no worker has taken it in {IDLE_SECONDS:.0f} s; those for its root are busy or gone"
                    )
                if alone is not None:
                    began = None
                    console.print(alone, style="weak", soft_wrap=True)
            said = work.text or ("no worker has taken it yet" if work.state == "queued" else work.state)
            progress.update(task, completed=work.done or 0, total=work.total, said=said)

        yield tell


def remedy(work: Work, url: str) -> str | None:
    """That nobody takes queued work, and how to start the worker that it lacks; None when one was seen lately."""
    alone = nobody_takes(work, datetime.now(UTC))
    return alone and f"{alone}; start one where the data lies: {worker_command(work, url)}"


def nobody_takes(work: Work, now: datetime) -> str | None:
    """Why queued work stays where it is; None when a worker that reads its data was seen lately."""
    if work.state != "queued" or work.waits_for is None:
        return None
    said = f"no worker for root {work.waits_for!r} has been seen"
    if work.worker_seen_at is None:
        return said
    silent = (now - work.worker_seen_at).total_seconds()
    return f"{said} for {span(silent)}" if silent > SEEN_LATELY_SECONDS else None


def worker_command(work: Work, url: str) -> str:
    return f"shipworthy-server worker --url {url} --root {work.waits_for}=PATH"
