"""Run ids: UUIDs of version 7 (RFC 9562 section 5.7), made where the run is."""

import os
import re
import time
from typing import Final

_RUN_ID: Final = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


def new_run_id() -> str:
    """Lower-case text form: 48 bits of milliseconds since 1970, then 74 random bits."""
    random = int.from_bytes(os.urandom(10), "big")
    milliseconds = time.time_ns() // 1_000_000 & (1 << 48) - 1
    # The module uuid is left out: its import alone costs more than all of the client's start.
    digits = (
        f"{milliseconds:012x}7{random >> 68:03x}{0x8 | random >> 66 & 0x3:x}{random & (1 << 60) - 1:015x}"
    )
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def is_run_id(text: str) -> bool:
    return re.fullmatch(_RUN_ID, text) is not None
