"""Step and phase of runs that go on, for the service to tell the lost ones from."""

import time

from shipworthy.errors import NotDelivered, Trouble
from shipworthy.transport import Transport
from shipworthy.values import encode
from shipworthy.watched import PROGRESS_SECONDS, Watched


def send_progress(transport: Transport, watched: Watched) -> None:
    """Every PROGRESS_SECONDS. Raises NotDelivered."""
    now = time.monotonic()
    if now - watched.progress_sent < PROGRESS_SECONDS:
        return
    progress = watched.progress()
    if progress is not None:
        step, phase = progress
        body = encode({"process": watched.member, "step": step, "phase": phase})
        watched.progress_sent = now
        try:
            transport.post(f"/v1/runs/{watched.run_id}/progress", body)
        except NotDelivered as refusal:
            # Not registered yet, or an older service: nothing depends on it.
            if refusal.trouble is not Trouble.STRANGE:
                raise
