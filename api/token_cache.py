"""Tokens that were verified a moment ago, so that a request need not ask the database who calls."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from models.actor import Actor

CAPACITY: Final = 10_000
TTL_SECONDS: Final = 1.0
"""How long another process may go on answering reads of a revoked key (docs/decisions/0002); never writes."""


@dataclass(frozen=True, slots=True)
class VerifiedKey:
    """Whom a token stands for, and until when at most (aware, None = no end)."""

    actor: Actor
    expires_at: datetime | None


class TokenCache:
    """Least recently used, bounded, short-lived. Keys are SHA-256 digests of tokens, never the tokens.

    Every method may be called from any thread and none of them waits for more than a dictionary operation.
    """

    def __init__(self, monotonic: Callable[[], float], *, capacity: int = CAPACITY) -> None:
        self._monotonic = monotonic
        self._capacity = capacity
        self._entries: OrderedDict[bytes, tuple[float, VerifiedKey]] = OrderedDict()
        self._generation = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, digest: bytes) -> VerifiedKey | None:
        with self._lock:
            entry = self._entries.get(digest)
            if entry is None:
                return None
            read_at, verified = entry
            if self._monotonic() - read_at >= TTL_SECONDS:
                del self._entries[digest]
                return None
            self._entries.move_to_end(digest)
            return verified

    def begin(self) -> tuple[int, float]:
        """To be called before the database is read; `put` takes what it gives."""
        return self._generation, self._monotonic()

    def put(self, digest: bytes, verified: VerifiedKey, begun: tuple[int, float]) -> None:
        """Keeps what was read, its age counted from `begun`, unless a key was forgotten since: then the row
        may have been read before its revocation was committed."""
        generation, read_at = begun
        with self._lock:
            if generation != self._generation:
                return
            self._entries[digest] = read_at, verified
            self._entries.move_to_end(digest)
            if len(self._entries) > self._capacity:
                self._entries.popitem(last=False)

    def forget(self, key_id: str) -> None:
        with self._lock:
            self._generation += 1
            for digest in [
                digest for digest, (_, held) in self._entries.items() if held.actor.key_id == key_id
            ]:
                del self._entries[digest]
