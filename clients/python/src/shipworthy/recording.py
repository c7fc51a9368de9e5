"""How a run writes: its journal, its place among processes, its end. What it can record is in runs.py."""

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from shipworthy.capture.outer import OuterRun
from shipworthy.endings import Ending
from shipworthy.errors import UsageError
from shipworthy.formats.digests import is_digest
from shipworthy.formats.times import format_instant
from shipworthy.journal import Journal
from shipworthy.notices import warn_once
from shipworthy.placing import Place
from shipworthy.process import PROCESS
from shipworthy.products import Product
from shipworthy.promises import What, promise_line, promise_of_subject, record_line
from shipworthy.promising import keep_files, keep_subject
from shipworthy.sender import Sender
from shipworthy.settings import Settings
from shipworthy.values import Body, Json, as_body, first_line
from shipworthy.watched import Watched

R = TypeVar("R")


class Recording:
    """`id` is a UUIDv7, `attempt` counts the starts of the run from 1, `member` is "main" or "rank-3"."""

    def __init__(self, place: Place, job: Json, settings: Settings, folder: Path | None) -> None:
        """`folder` takes the run's journals, None when no disk can be written."""
        self.id = place.run_id
        self.attempt = place.attempt
        self.member = place.member
        self._job = job
        self._settings = settings
        self._journal = Journal(folder, place.member, self._send_memory)
        self._leads = place.leads
        self._launch = place.launch
        self._sender: Sender | None = None
        self._step: int | None = None
        self._phase: str | None = None
        self._ended = self._sealed = False
        self._owner = os.getpid()
        self._latest: Product | None = None
        self._latest_step: int | None = None
        self._restore: Callable[[], None] | None = None

    @property
    def folder(self) -> Path | None:
        """Where the run's journals lie; None when no disk could be written."""
        return self._journal.folder

    def outer(self) -> OuterRun:
        """This run as the program that `shipworthy exec` starts is told of it."""
        job = as_body(self._job)
        return OuterRun(self.id, self.attempt, f"{job['namespace']}/{job['name']}")

    def start(self, lines: list[tuple[str, Body]]) -> None:
        """Writes the first records and has them sent; `shipworthy.run` calls it."""
        for kind, body in lines:
            self._append(record_line(kind, self._key(), body))
        if self._leads:
            self._event("attempt.started", {})
        self._journal.flush()
        self._watch()

    def keep_blob(self, data: bytes) -> str | None:
        """Lays bytes beside the journal to be sent; their digest, None when no disk takes them."""
        return self._journal.keep_blob(data)

    def resume(self, checkpoint: Path) -> None:
        """Records that training goes on from a checkpoint whose run is not known, once it is hashed."""
        body: Body = {"run_id": self.id, "job": self._job}

        def record(product: Product) -> None:
            what = What.RESUMED
            keep_files(self._journal, what, product, self.id, checkpoint, body, wait=False, then=self._wake)

        self._guarded("resume", record, Product(self._key(), str(checkpoint), self.folder))

    def on_end(self, call: Callable[[], None]) -> None:
        """Has `call` made when the run ends: a signal handler is put back."""
        self._restore = call

    def interrupted(self, state: str, reason: str) -> None:
        """Records within a signal handler what happens to the process, and has the disk keep it."""
        if os.getpid() == self._owner and self._leads and not self._ended:
            with suppress(Exception):
                self._event("state", {"state": state, "reason": reason})
            self._journal.flush()

    def end_with_process(self, uncaught: str | None) -> None:
        """What is known of a run that was not finished when its process ends."""
        if uncaught is not None:
            self._end(Ending("failed", uncaught))
        else:
            self._end(Ending("aborted", "the process ended before run.finish() was called"))

    def after_fork(self) -> None:
        """In a new child: it may add facts, but neither sends them nor ends the run."""
        self._journal.after_fork()
        self._sender = None

    def __reduce__(self) -> tuple[object, ...]:
        from shipworthy.passing import pass_on

        return pass_on(self)

    def _progress(self) -> tuple[int | None, str | None] | None:
        """Step and phase for the sender; None when this process has ended its part of the run."""
        return None if self._ended or os.getpid() != self._owner else (self._step, self._phase)

    def _watch(self) -> None:
        watched = Watched(self._journal, self.id, self.member, self._progress)
        self._sender = PROCESS.watch(watched, self._settings.url, self._settings.token)

    def _send_memory(self) -> None:
        """Lines wait in memory: a forked child, whose files the parent sends, has to send them itself."""
        if self._sender is None and os.getpid() != self._owner:
            self._watch()

    def _end(self, ending: Ending) -> None:
        if os.getpid() != self._owner or self._ended:
            return
        self._ended = True
        PROCESS.ended(self)
        if self._restore is not None:
            self._restore()
        if self._leads:
            facts: Body = {"state": ending.state}
            if ending.reason is not None:
                facts["reason"] = ending.reason
            self._guarded("finish", lambda _: self._event("state", facts), None)
        self._sealed = True
        self._journal.flush()
        self._journal.release()
        self._wake()

    def _event(self, kind: str, facts: Body) -> None:
        body: Body = {"run_id": self.id, "type": kind, "at": now(), "attempt": self.attempt, **facts}
        if self._step is not None and "step" not in body:
            body["step"] = self._step
        if not self._leads:
            body["process"] = self.member
        self._append(record_line("run.event", self._key(), body))
        self._wake()

    def _product(self, path: str | os.PathLike[str], name: str, record: Callable[[Product], None]) -> Product:
        product = Product(self._key(), os.fspath(path), self.folder)
        self._latest, self._latest_step = product, None
        return self._guarded(name, record, product)

    def _record_product(
        self, what: What, product: Product, body: Body, path: Path, digest: str | None, wait: bool
    ) -> None:
        if digest is None:
            keep_files(self._journal, what, product, self.id, path, body, wait=wait, then=self._wake)
            return
        _require_digest(digest)
        kind = "checkpoint.saved" if what is What.CHECKPOINT else "artifact"
        self._append(record_line(kind, product.key, {**body, "digest": digest}))
        self._journal.flush()
        product.settle(digest)
        self._wake()

    def _about(self, what: What, kind: str, body: Body, field: str, given: Product | str) -> None:
        """A record about a product, written when the product's digest is known."""
        key = self._key()
        known = given if isinstance(given, str) else given.digest
        if known is not None:
            _require_digest(known)
            self._append(record_line(kind, key, {**body, field: known}))
            self._wake()
        elif isinstance(given, Product):
            promise = promise_of_subject(what, key, self.id, given.key, body)
            self._append(promise_line(promise))
            keep_subject(self._journal, promise, given, self._wake)

    def _measured(self, step: Json) -> Product | None:
        """What an evaluation that names no subject is of; None for the state of the training itself."""
        if None in (step, self._latest_step) or step == self._latest_step:
            return self._latest
        return None

    def _append(self, line: bytes) -> None:
        if self._sealed:
            raise UsageError(f"run {self.id} has ended; start another one with shipworthy.run(…)")
        self._journal.append(line)

    def _key(self) -> str:
        return f"{self.id}:{self._journal.name}:{self._journal.next_sequence()}"

    def _wake(self) -> None:
        if self._sender is not None:
            self._sender.wake()

    def _guarded(self, name: str, record: Callable[[R], None], given: R) -> R:
        try:
            record(given)
        except Exception as error:  # noqa: BLE001 - the border towards a training loop
            if isinstance(given, Product):
                given.settle(None)
            self._failed(name, error)
        return given

    def _failed(self, name: str, error: Exception) -> None:
        if self._settings.strict:
            raise error
        warn_once(
            f"use:{name}", f"run.{name}: {first_line(str(error)) or type(error).__name__}; it is not recorded"
        )


def now() -> str:
    return format_instant(datetime.now(UTC))


def _require_digest(text: str) -> None:
    if not is_digest(text):
        raise UsageError(f"{text[:80]!r} is no digest; write sha256: and 64 hexadecimal digits")
