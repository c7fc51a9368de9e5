"""What a check of the whole ledger found: counts of what was looked at, and sentences about what is wrong."""

import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, ParamSpec, TypeVar

from sqlalchemy.exc import DBAPIError

from models.errors import LedgerDamaged

MAX_SENTENCES: Final = 100
_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Report:
    """`checked` counts by what was looked at; `problems` are the first of `problem_count` sentences; `notes` say what
    is no problem and yet was not proved."""

    checked: dict[str, int]
    problems: tuple[str, ...]
    problem_count: int
    notes: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        return self.problem_count == 0


class Findings:
    """Collects while a check runs; keeps at most MAX_SENTENCES sentences."""

    def __init__(self) -> None:
        self.checked: Counter[str] = Counter()
        self._problems: list[str] = []
        self._notes: list[str] = []
        self._count = 0

    def add(self, sentence: str) -> None:
        self._count += 1
        if len(self._problems) < MAX_SENTENCES:
            self._problems.append(sentence)

    def note(self, sentence: str) -> None:
        self._notes.append(sentence)

    def report(self) -> Report:
        return Report(dict(self.checked), tuple(self._problems), self._count, tuple(self._notes))


class Part:
    """One part of a check. It ends where it meets what it can't read: that is a finding, and the other parts go on."""

    def __init__(self, findings: Findings, what: str) -> None:
        self._findings, self._what = findings, what
        self.has_ended = False

    def run(self, work: Callable[_Given, _Made], *args: _Given.args, **kwargs: _Given.kwargs) -> _Made | None:
        """What the work gives; None once the part has ended."""
        if self.has_ended:
            return None
        try:
            return work(*args, **kwargs)
        except (LedgerDamaged, DBAPIError, AttributeError, LookupError, TypeError, ValueError) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            if isinstance(error, DBAPIError) and not isinstance(cause, sqlite3.Error):
                raise
            self.has_ended = True
            first = str(cause).splitlines()[0] if str(cause) else type(cause).__name__
            self._findings.add(f"{self._what} can't be checked to the end: {first}")
            return None
