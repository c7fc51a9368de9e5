"""What was sent of a journal: the file `<process>.state` beside it, replaced whole at each change.

It spares work and decides nothing: who has none, or an old one, sends again what the service knows by its keys.
"""

import errno
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

from shipworthy.locks import try_lock
from shipworthy.values import Body, encode

Pending: TypeAlias = dict[str, Body]

_FULL: Final = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})


class SendState:
    """`sent` is a byte offset in the journal, `lines` the number of log lines before it. `known` counts from the
    journal's first log line those that the service has: more than `lines` where a longer copy of the journal was
    sent before this one. `pending` are promises of records (files still to be hashed) by their key, `blobs`
    digests of files beside the journal that are still to be sent."""

    def __init__(
        self,
        sent: int = 0,
        lines: int = 0,
        known: int = 0,
        refused: int = 0,
        pending: Pending | None = None,
        blobs: list[str] | None = None,
    ) -> None:
        self.sent = sent
        self.lines = lines
        self.known = known
        self.refused = refused
        self.pending: Pending = {} if pending is None else pending
        self.blobs: list[str] = [] if blobs is None else blobs


_unsaved: Final[dict[Path, bytes]] = {}
"""States that a full disk did not take: good for as long as this process lives."""


class StateFile:
    """The state of one journal, held by one sender at a time: `with StateFile(path) as state`, None when
    taken."""

    def __init__(self, journal: Path) -> None:
        self._path = journal.with_suffix(".state")
        self._lock_path = journal.with_suffix(".lock")
        self._descriptor = -1

    def acquire(self) -> SendState | None:
        """The state, or None while another process sends this journal. OSError when nothing can be written beside it,
        unless because the disk is full: then nobody else can be asked, and what is sent twice is known by its
        keys."""
        try:
            self._descriptor = os.open(
                self._lock_path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600
            )
        except OSError as error:
            if error.errno not in _FULL:
                raise
        else:
            if not try_lock(self._descriptor):
                self.release()
                return None
        text = _unsaved.get(self._path)
        return read_state(self._path) if text is None else _parsed(text)

    def save(self, state: SendState) -> None:
        """Keeps the state: in memory where a full disk does not take it, never in a part of the file."""
        text = encode(vars(state))
        draft = self._path.with_suffix(".draft")
        try:
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(text)
            os.replace(draft, self._path)
        except OSError as error:
            with suppress(OSError):
                draft.unlink()
            if error.errno not in _FULL:
                raise
            _unsaved[self._path] = text
        else:
            _unsaved.pop(self._path, None)

    def release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def read_state(path: Path) -> SendState:
    """The state in a file; that of an unsent journal when there is none or it is damaged: all is sent
    again."""
    try:
        return _parsed(path.read_bytes())
    except OSError:
        return SendState()


def state_of(journal: Path) -> SendState:
    """What is known of a journal without holding it."""
    path = journal.with_suffix(".state")
    text = _unsaved.get(path)
    return read_state(path) if text is None else _parsed(text)


def _parsed(text: bytes) -> SendState:
    try:
        found = json.loads(text)
        return SendState(
            sent=int(found["sent"]),
            lines=int(found["lines"]),
            known=int(found["known"]),
            refused=int(found["refused"]),
            pending={str(key): dict(promise) for key, promise in found["pending"].items()},
            blobs=[str(digest) for digest in found["blobs"]],
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return SendState()
