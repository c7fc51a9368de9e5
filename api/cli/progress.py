"""What a long command says on standard error while it works."""

from collections.abc import Callable
from typing import Final

import typer

RECORDS: Final = 100_000
BYTES: Final = 10 << 30


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


def bytes_told(done: str) -> Callable[[int, int], None]:
    """A progress function that speaks each time another ten GiB of blobs are done."""
    told = 0

    def progress(blobs: int, read: int) -> None:
        nonlocal told
        if read - told >= BYTES:
            told = read
            tell(f"{done} {blobs:,} blobs, {read >> 30:,} GiB")

    return progress
