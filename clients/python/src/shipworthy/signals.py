"""What schedulers send before they take the machine away: recorded only for those who ask for it."""

import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Literal, TypeAlias

from shipworthy.errors import UsageError

if TYPE_CHECKING:
    from shipworthy.runs import Run

Preemption: TypeAlias = Literal["preempted", "aborted"]


def watch_for_preemption(run: "Run", state: Preemption) -> Callable[[], None]:
    """Records `state` when SIGTERM comes, then does what would have been done without us.

    Returns what puts the former handler back. Raises UsageError for another state and outside the main
    thread.
    """
    if state not in ("preempted", "aborted"):
        raise UsageError(f'on_sigterm is {state!r}; give "preempted" or "aborted"')
    former = signal.getsignal(signal.SIGTERM)

    def handle(number: int, frame: FrameType | None) -> None:
        run.interrupted(state, "the process was told to end (SIGTERM)")
        if callable(former):
            former(number, frame)
        elif former != signal.SIG_IGN:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)

    def restore() -> None:
        if signal.getsignal(signal.SIGTERM) is handle:
            signal.signal(signal.SIGTERM, former)

    try:
        signal.signal(signal.SIGTERM, handle)
    except ValueError as error:
        raise UsageError("on_sigterm works in the main thread only; start the run there") from error
    return restore
