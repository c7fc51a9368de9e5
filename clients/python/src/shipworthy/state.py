"""What was sent of a journal: the file `<process>.state` beside it, replaced whole at each change."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

from shipworthy.locks import try_lock
from shipworthy.values import Body, encode

BLOCK_BYTES: Final = 4096
"""States are filled up to a block, so that one fits where another was."""

Pending: TypeAlias = dict[str, Body]


class SendState:
    """`sent` and `planned` are byte offsets in the journal.

    Lines up to `planned` are sent together: a resend after a crash makes the same chunk of log lines, which
    the service then knows already. `pending` are promises of records (files still to be hashed) by their key.
    """

    def __init__(
        self,
        sent: int = 0,
        planned: int | None = None,
        chunks: int = 0,
        refused: int = 0,
        pending: Pending | None = None,
    ) -> None:
        self.sent = sent
        self.planned = planned
        self.chunks = chunks
        self.refused = refused
        self.pending: Pending = {} if pending is None else pending


class StateFile:
    """The state of one journal, held by one sender at a time: `with StateFile(path) as state`, None when
    taken."""

    def __init__(self, journal: Path) -> None:
        self._path = journal.with_suffix(".state")
        self._lock_path = journal.with_suffix(".lock")
        self._descriptor = -1

    def acquire(self) -> SendState | None:
        """The state, or None while another process sends this journal. OSError when it can't be written."""
        self._descriptor = os.open(
            self._lock_path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600
        )
        if not try_lock(self._descriptor):
            self.release()
            return None
        if not self._path.exists():
            self.save(SendState())
        return read_state(self._path)

    def save(self, state: SendState, *, durable: bool = False) -> None:
        """`durable` before log lines are sent: forgetting the plan would send them twice."""
        text = encode(
            {
                "sent": state.sent,
                "planned": state.planned,
                "chunks": state.chunks,
                "refused": state.refused,
                "pending": state.pending,
            }
        )
        text = text.ljust(BLOCK_BYTES)
        draft = self._path.with_suffix(".draft")
        try:
            _write(draft, os.O_CREAT | os.O_TRUNC, text, durable)
            os.replace(draft, self._path)
        except OSError:
            # A full disk has no room for a new file, but takes other bytes in the place of old ones.
            with suppress(OSError):
                draft.unlink()
            _write(self._path, 0, text, durable)

    def release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _write(path: Path, flags: int, text: bytes, durable: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | flags, 0o600)
    with open(descriptor, "wb") as file:
        file.write(text)
        if durable:
            file.flush()
            os.fsync(descriptor)


def read_state(path: Path) -> SendState:
    """The state in a file; that of an unsent journal when there is none or it is damaged: all is sent
    again."""
    try:
        found = json.loads(path.read_bytes())
        return SendState(
            sent=int(found["sent"]),
            planned=None if found["planned"] is None else int(found["planned"]),
            chunks=int(found["chunks"]),
            refused=int(found["refused"]),
            pending={str(key): dict(promise) for key, promise in found["pending"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return SendState()
