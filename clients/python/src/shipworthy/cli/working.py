"""Waiting for a worker, with a bar that says how far it is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from shipworthy.cli.screen import messages
from shipworthy.query.checks import Work

WAIT_SECONDS: Final = 3600


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

        def tell(work: Work) -> None:
            said = work.text or ("no worker has taken it yet" if work.state == "queued" else work.state)
            progress.update(task, completed=work.done or 0, total=work.total, said=said)

        yield tell
