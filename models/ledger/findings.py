"""What a check of the whole ledger found: counts of what was looked at, and sentences about what is wrong."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

MAX_SENTENCES: Final = 100


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
