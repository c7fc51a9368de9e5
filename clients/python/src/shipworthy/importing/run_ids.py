"""Ids of runs that another tool logged: made of what it says, so that importing again records nothing twice."""

import hashlib


def run_id_of(time_ms: int, said: bytes) -> str:
    """A UUIDv7 (RFC 9562) whose time is `time_ms`, milliseconds since 1970, and whose random bits are a hash of
    `said`."""
    random = int.from_bytes(hashlib.sha256(said).digest()[:10], "big")
    bits = (time_ms & (2**48 - 1)) << 80 | 0x7 << 76 | (random >> 68 & 0xFFF) << 64 | 0b10 << 62
    digits = f"{bits | random & (2**62 - 1):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
