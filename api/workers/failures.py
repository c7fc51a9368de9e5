"""Why a worker could not bring a piece of work to a result; each becomes an answer to the service."""

from typing import Final

DATA_CHANGED: Final = "data_changed"
DATA_REFUSED: Final = "data_refused"
DATA_UNREADABLE: Final = "data_unreadable"
MEMORY_LIMIT: Final = "memory_limit"
TIME_LIMIT: Final = "time_limit"
PROCESSOR_LIMIT: Final = "processor_limit"
KILLED: Final = "killed"
CRASHED: Final = "crashed"
WORK_REFUSED: Final = "work_refused"
RESULT_REFUSED: Final = "result_refused"
WORKER_STOPPED: Final = "worker_stopped"

ENDED_BY_ITS_DATA: Final = frozenset({MEMORY_LIMIT, TIME_LIMIT, PROCESSOR_LIMIT, CRASHED, KILLED})
"""What ends a process on known bytes: that is an answer about them, recorded with the outcome "error"."""


class WorkFailed(Exception):
    """`message` is a sentence for the person who asked; `retry` says whether another attempt may end otherwise."""

    def __init__(self, code: str, message: str, *, retry: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry = retry


class DataMissing(WorkFailed):
    """What was asked for is not where it should be."""

    def __init__(self, message: str) -> None:
        super().__init__(DATA_REFUSED, message)


class WorkDropped(Exception):
    """The work is no longer this worker's: it was cancelled, or its lease went to another. Nothing is to be
    answered."""
