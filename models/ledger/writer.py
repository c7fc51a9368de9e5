"""The one way to write: a thread that gathers what requests hand it and commits it together.

Answers are given after COMMIT only. While one commit runs the next batch gathers, so that the number of commits
follows the disk and not the number of clients.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from time import monotonic
from typing import Final

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from models.database import Database
from models.errors import LedgerDamaged, Unavailable, WriteFailed
from models.file_limit import at_file_limit
from models.ledger.commit import Outcome, commit_items
from models.ledger.drafts import Item, Stored
from models.ledger.head import Head, HeadFile
from models.ledger.lock import take_log_lock

MAX_BATCH_ITEMS: Final = 256
MAX_QUEUED_ITEMS: Final = 4096
HEAD_FILE_SECONDS: Final = 1.0
CALM_TURNS: Final = 4
GATHERED_ITEMS: Final = 16
LATE_SECONDS: Final = 0.003

log = structlog.get_logger("shipworthy.ledger")
Settle = Callable[[Outcome], None]


@dataclass(frozen=True, slots=True)
class Concern:
    """What a start did not refuse, and who runs the service has to know: the name of a log line, and a sentence."""

    event: str
    detail: str


class Ledger:
    """Appends items to the log of one database. Any number of processes may hold one each."""

    def __init__(
        self,
        database: Database,
        key: Ed25519PrivateKey,
        head_file: HeadFile | None = None,
        concerns: Sequence[Concern] = (),
    ) -> None:
        self.database = database
        self.concerns = tuple(concerns)
        self._writing = database.apart()
        self.key = key
        self._head_file = head_file
        self._queue: deque[tuple[Item, Settle]] = deque()
        self._wake = threading.Condition()
        self._closing = False
        self._gathering: asyncio.AbstractEventLoop | None = None
        self._committed_last = 0
        self._unsaved: Head | None = None
        self._saved_at = 0.0
        self._thread = threading.Thread(target=self._run, name="ledger-writer", daemon=True)
        self._thread.start()

    def append(self, item: Item) -> "Future[tuple[Stored, ...]]":
        """Queues an item. The future ends after the commit, or with the ShipworthyError that refused it.

        Raises Unavailable at once when too much is queued or the ledger closes: nothing was stored then.
        """
        future: Future[tuple[Stored, ...]] = Future()
        # What is queued will be written: it can't be cancelled, and a cancelled future would refuse its result.
        future.set_running_or_notify_cancel()

        def settle(outcome: Outcome) -> None:
            if isinstance(outcome, tuple):
                future.set_result(outcome)
            else:
                future.set_exception(outcome)

        self._enqueue([(item, settle)])
        self._rouse()
        return future

    async def append_all(self, items: Sequence[Item]) -> list[Outcome]:
        """Queues items from an event loop and gives what became of each, in order."""
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        outcomes: list[Outcome | None] = [None] * len(items)
        left = len(items)

        def settler(place: int) -> Settle:
            def settle(outcome: Outcome) -> None:
                nonlocal left
                outcomes[place] = outcome
                left -= 1
                if left == 0:
                    self._answer(loop, done)

            return settle

        if not items:
            return []
        self._enqueue([(item, settler(place)) for place, item in enumerate(items)])
        if self._gathering is not loop:
            self._gathering = loop
            self._rouse_when_calm(loop, 0, CALM_TURNS, False)
        await done
        return [outcome for outcome in outcomes if outcome is not None]

    @property
    def is_open(self) -> bool:
        return not self._closing and self._thread.is_alive()

    def close(self) -> None:
        """Commits what is queued, then stops. Later appends are refused."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join()
        self._save_head()
        self._writing.dispose()

    def _enqueue(self, entries: list[tuple[Item, Settle]]) -> None:
        with self._wake:
            if self._closing:
                raise Unavailable("the service is shutting down; send it again in a moment")
            if len(self._queue) + len(entries) > max(MAX_QUEUED_ITEMS, len(entries)):
                raise Unavailable("too many records are waiting to be written; send it again in a second")
            self._queue.extend(entries)

    def _rouse_when_calm(self, loop: asyncio.AbstractEventLoop, seen: int, turns: int, late: bool) -> None:
        """Wakes the writer when the loop went round so many times and nothing was added to the `seen` items, and when
        it is `late` or as many have come as were committed last.

        Requests that arrive together are committed together, where the first would otherwise be committed alone and
        the others wait for it: a commit of eight costs two of one. An idle loop goes round in microseconds. Clients
        that were answered together come again together, but not in microseconds.
        """
        queued = len(self._queue)
        turns = CALM_TURNS if queued > seen else turns - 1
        if turns and queued < GATHERED_ITEMS:
            loop.call_soon(self._rouse_when_calm, loop, queued, turns, late)
        elif queued < min(self._committed_last, GATHERED_ITEMS) and not late:
            loop.call_later(LATE_SECONDS, self._rouse_when_calm, loop, queued, CALM_TURNS, True)
        else:
            self._gathering = None
            self._rouse()

    def _rouse(self) -> None:
        with self._wake:
            self._wake.notify()

    def _answer(self, loop: asyncio.AbstractEventLoop, done: "asyncio.Future[None]") -> None:
        def wake() -> None:
            if not done.done():
                done.set_result(None)

        try:
            loop.call_soon_threadsafe(wake)
        except RuntimeError:
            # The loop was closed while its request waited: the record is stored, nobody is left to be told.
            log.warning("ledger.answer_lost")

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._queue and not self._closing:
                    self._wake.wait()
                if not self._queue:
                    return
                batch = [self._queue.popleft() for _ in range(min(len(self._queue), MAX_BATCH_ITEMS))]
            self._commit(batch)

    def _commit(self, batch: list[tuple[Item, Settle]]) -> None:
        self._committed_last = len(batch)
        outcomes = self._outcomes([item for item, _ in batch])
        for (_, settle), outcome in zip(batch, outcomes, strict=True):
            settle(outcome)

    def _outcomes(self, items: list[Item]) -> list[Outcome]:
        try:
            return self._write(items)
        except (Unavailable, LedgerDamaged) as error:
            return [error] * len(items)
        except Exception as error:
            unavailable = at_file_limit(error)
            if unavailable is not None:
                return [unavailable] * len(items)
            # One poisonous item must not fail its neighbours: each is tried alone, and the poison told apart.
            if len(items) > 1:
                return [outcome for item in items for outcome in self._outcomes([item])]
            log.error(
                "ledger.item_failed", kinds=[draft.kind.name for draft in items[0].drafts], exc_info=error
            )
            return [
                WriteFailed(
                    "the record could not be written and nothing was stored; the log of the service says why"
                )
            ]

    def _write(self, items: list[Item]) -> list[Outcome]:
        with self._writing.connection() as connection:
            take_log_lock(connection)
            committed = commit_items(connection, self.key, items)
        if committed.changed:
            self._keep_outside(committed.head)
        return committed.outcomes

    def _keep_outside(self, head: Head) -> None:
        """At most once a second: an older head outside is still one that the log must extend."""
        self._unsaved = head
        if self._head_file is not None and monotonic() - self._saved_at >= HEAD_FILE_SECONDS:
            self._save_head()

    def _save_head(self) -> None:
        if self._head_file is not None and self._unsaved is not None:
            try:
                self._head_file.write(self._unsaved.note)
            except OSError as error:
                log.error("ledger.head_file_failed", path=str(self._head_file.path), error=str(error))
            self._unsaved, self._saved_at = None, monotonic()
