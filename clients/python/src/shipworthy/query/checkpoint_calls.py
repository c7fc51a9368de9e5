"""Calls about checkpoints: how far one is proven, and that somebody looked at it."""

from collections.abc import Sequence
from datetime import datetime

from shipworthy.formats.times import format_instant
from shipworthy.query import results
from shipworthy.query.exchange import Exchange


class CheckpointCalls(Exchange):
    """A part of ShipworthyClient."""

    def checkpoint(self, digest: str) -> results.Document:
        """Who saved it, who looked at it, its `effective_level`."""
        return self._get(f"/v1/checkpoints/{digest}")

    def record_verification(
        self,
        digest: str,
        *,
        level: str,
        passed: bool,
        checked_at: datetime,
        contains: Sequence[str] = (),
        method: str,
        detail: str,
    ) -> results.Document:
        """Records that a checkpoint reached a level, or failed to, at the level of evidence of the key."""
        return self._post(
            f"/v1/checkpoints/{digest}/verifications",
            {
                "level": level,
                "outcome": "passed" if passed else "failed",
                "checked_at": format_instant(checked_at),
                "contains": list(contains),
                "method": method,
                "detail": detail,
            },
        )
