"""States of work, and the one it is in at a moment: a lease that ended is noticed by whoever looks."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

MAX_ATTEMPTS: Final = 3
LEASE_SECONDS: Final = 60
RETRY_SECONDS: Final = 5
"""Times the number of attempts so far: how long work rests before it is tried again."""
LEASE_ENDED: Final = (
    f"no worker finished it in {MAX_ATTEMPTS} attempts: the last one stopped renewing its lease, so it was killed "
    "or lost its connection; look at the worker's log, then ask for the check again"
)


class WorkKind(StrEnum):
    CONTRACT_CHECK = "contract_check"
    BASELINE = "baseline"
    STATISTICS = "statistics"
    CHECKPOINT_VERIFICATION = "checkpoint_verification"


class WorkState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DEAD = "dead"


ENDED: Final = frozenset({WorkState.DONE, WorkState.FAILED, WorkState.CANCELLED, WorkState.DEAD})


@dataclass(frozen=True, slots=True)
class WorkItem:
    """One row of work; `request` and digests as models/work/tables.py says."""

    namespace: str
    id: str
    kind: str
    state: str
    request: str
    content_digest: str
    requested_by: str | None
    created_at: datetime
    attempt: int
    lease: str | None
    lease_expires_at: datetime | None
    progress_done: int | None
    progress_total: int | None
    progress_text: str | None
    reason: str | None
    result_digest: str | None
    record: str | None
    finished_at: datetime | None

    def state_at(self, now: datetime) -> tuple[WorkState, str | None]:
        """The state and its reason: work whose lease ended waits again, or is dead after its last attempt."""
        state = WorkState(self.state)
        if state is WorkState.RUNNING and self.lease_expires_at is not None and self.lease_expires_at <= now:
            return (WorkState.DEAD, LEASE_ENDED) if self.attempt >= MAX_ATTEMPTS else (WorkState.QUEUED, None)
        return state, self.reason
