"""The state of a run as it is at a moment: what was reported, judged by how long it has been silent."""

from datetime import datetime, timedelta
from typing import Final

from models.kinds.runs import TERMINAL_STATES, RunState

LOST: Final = "lost"
UNKNOWN: Final = "unknown"
PRESENT_STATES: Final = (*(str(state) for state in RunState), LOST, UNKNOWN)
OPEN_STATES: Final = tuple(str(state) for state in RunState if state not in TERMINAL_STATES)
"""Reported states that something must follow."""
WAITING_STATES: Final = (str(RunState.QUEUED), str(RunState.PREEMPTED))
"""No process runs that could give a sign of life: their silence means nothing."""


def present_state(
    reported: str, last_sign_of_life: datetime, heartbeat_seconds: int | None, now: datetime
) -> str:
    """An end that was reported stands. Without one a run is `unknown` when it promised no sign of life, and
    `lost` when it was silent for more than `heartbeat_seconds` while it wasn't waiting; a later fact heals both."""
    if reported not in OPEN_STATES:
        return reported
    if heartbeat_seconds is None:
        return UNKNOWN
    if reported not in WAITING_STATES and now - last_sign_of_life > timedelta(seconds=heartbeat_seconds):
        return LOST
    return reported
