"""How `shipworthy sync` bears a service that is busy, and journals that can't be sent: it waits for the one, and goes
on with what comes after the other."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from shipworthy.errors import JournalError, NotDelivered, Trouble
from shipworthy.transport import Transport
from shipworthy.values import Json

PATIENCE_SECONDS: Final = 120.0
"""How long a busy service is waited for, from the last thing that it took."""
_FIRST_WAIT: Final = 1.0
_IN_A_ROW: Final = 3
_OF_ONE_JOURNAL: Final = frozenset({Trouble.STRANGE, Trouble.FAULT, Trouble.SILENT, Trouble.KEY})
"""Troubles that the next journal may not have."""


class PatientTransport(Transport):
    """Comes back when a busy service asked to; `on_wait` is told the reason and the seconds."""

    def __init__(self, url: str, token: str | None, on_wait: Callable[[str, float], None] | None) -> None:
        super().__init__(url, token)
        self._on_wait = on_wait

    def _exchange(
        self, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[Json, str | None]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        wait = _FIRST_WAIT
        while True:
            try:
                return super()._exchange(method, path, body, dict(headers))
            except NotDelivered as trouble:
                seconds = wait if trouble.retry_after is None else max(trouble.retry_after, 0.1)
                if trouble.trouble is not Trouble.BUSY or time.monotonic() + seconds > deadline:
                    raise
                if self._on_wait is not None:
                    self._on_wait(str(trouble), seconds)
            time.sleep(seconds)
            wait *= 2


class Troubles:
    """What went wrong with single journals: told when all were tried, or when the next ones would fail as well."""

    def __init__(self) -> None:
        self._first: NotDelivered | JournalError | None = None
        self._in_a_row = 0

    @contextmanager
    def of_one_journal(self) -> Iterator[None]:
        """Raises NotDelivered where it makes no sense to go on."""
        try:
            yield
        except JournalError as error:
            self._first = self._first or error
        except NotDelivered as error:
            self._first = self._first or error
            self._in_a_row += 1
            if error.trouble not in _OF_ONE_JOURNAL or self._in_a_row == _IN_A_ROW:
                raise self._first from None
        else:
            self._in_a_row = 0

    def raise_first(self) -> None:
        if self._first is not None:
            raise self._first
