"""What a long command says on standard error while it works."""

from collections.abc import Callable
from typing import Final

import typer

RECORDS: Final = 100_000


def tell(sentence: str) -> None:
    typer.echo(f"  {sentence}", err=True)


def records_told(done: str) -> Callable[[int], None]:
    """A progress function that speaks each time another hundred thousand records are done."""
    told = 0

    def progress(records: int) -> None:
        nonlocal told
        if records - told >= RECORDS:
            told = records
            tell(f"{done} {records:,} records")

    return progress
