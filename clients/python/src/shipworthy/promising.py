"""How a live process keeps its promises: files hashed in the background, then everything that waited for
them."""

from collections.abc import Callable
from pathlib import Path

from shipworthy.journal import Journal
from shipworthy.process import PROCESS
from shipworthy.products import Product
from shipworthy.progress_bar import ProgressBar
from shipworthy.promises import (
    What,
    broken_line,
    digest_files,
    kept_line,
    promise_line,
    promise_of_files,
)
from shipworthy.values import Body


def keep_files(
    journal: Journal,
    what: What,
    product: Product,
    run_id: str,
    path: Path,
    body: Body,
    *,
    wait: bool,
    then: Callable[[], None],
) -> None:
    """Promises the digest of the files at `path` and has it computed; `then` is called when it is recorded.

    Raises OSError when there is nothing at `path`; with `wait` also ValueError when it can't be hashed.
    """
    promise = promise_of_files(what, product.key, run_id, path, body)
    journal.append(promise_line(promise))
    journal.flush()
    journal.hold()

    def settle(progress: Callable[[int], None] | None = None) -> Exception | None:
        problem: Exception | None = None
        digest = None
        try:
            digest, size = digest_files(promise, progress)
            line = kept_line(promise, digest, size)
        except (OSError, ValueError) as error:
            problem = error
            line = broken_line(promise, str(error))
        journal.append(line)
        journal.flush()
        product.settle(digest)
        journal.release()
        then()
        return problem

    if not wait:
        PROCESS.hasher.submit(settle)
        return
    with ProgressBar(f"hashing {path.name}", _bytes(promise)) as bar:
        problem = settle(bar.add)
    if problem is not None:
        raise problem


def keep_subject(journal: Journal, promise: Body, product: Product, then: Callable[[], None]) -> None:
    """Records what waits for the digest of a product as soon as that is known."""
    journal.hold()

    def settle(digest: str | None) -> None:
        if digest is None:
            journal.append(broken_line(promise, "what it is about could not be hashed"))
        else:
            journal.append(kept_line(promise, digest, 0))
        journal.release()
        then()

    product.when_settled(settle)


def _bytes(promise: Body) -> int:
    state = promise["state"]
    return int(str(state["bytes"])) if isinstance(state, dict) else 0
