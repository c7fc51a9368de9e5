"""A run while it is recorded. Every method returns at once, whatever the service does, and none ever raises
unless the run is strict: what can't be recorded becomes one line on standard error."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from shipworthy.capture.resume import remember
from shipworthy.endings import Ending, ending_of
from shipworthy.errors import NotDelivered, Trouble, UsageError
from shipworthy.evaluations import describe_evaluation
from shipworthy.formats.digests import is_digest
from shipworthy.formats.times import format_instant
from shipworthy.journal import Journal
from shipworthy.lines import log_line
from shipworthy.notices import warn_once
from shipworthy.placing import Place
from shipworthy.process import PROCESS
from shipworthy.products import Product
from shipworthy.promises import What, promise_line, promise_of_subject, record_line
from shipworthy.promising import keep_files, keep_subject
from shipworthy.sender import Sender, Watched
from shipworthy.settings import Settings
from shipworthy.snapshots import Snapshot, describe_input
from shipworthy.values import Body, Json, as_body, first_line, plain

STRICT_SECONDS: Final = 60.0
"""How long a strict run waits at its end for everything to be delivered."""
R = TypeVar("R")


class Run:
    """`id` is a UUIDv7, `attempt` counts the starts of the run from 1. Made by `shipworthy.run`."""

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
        self._ended = False
        self._owner = os.getpid()
        self._latest: Product | None = None
        self._restore: Callable[[], None] | None = None

    @property
    def folder(self) -> Path | None:
        """Where the run's journals lie; None when no disk could be written."""
        return self._journal.folder

    def log(self, step: int | None = None, **values: object) -> None:
        """Keeps numbers of one step. A tensor is read by its `item()`, which waits for the device it is
        on."""
        try:
            if step is not None:
                self._step = step = int(step)
            self._append(log_line(step, time.time(), values))
        except Exception as error:  # noqa: BLE001 - the border towards a training loop
            self._failed("log", error)

    def checkpoint(
        self,
        path: str | os.PathLike[str],
        *,
        step: int | None = None,
        contains: tuple[str, ...] | list[str] = (),
        digest: str | None = None,
        wait: bool = False,
    ) -> Product:
        """Records the state saved at `path`, a file or folder that is complete. It is read again and hashed
        in the background, or before this returns with `wait`; `digest` says what is known already.

        `contains` names what is in it: model, optimizer, scheduler, rng, data_position.
        """

        def record(product: Product) -> None:
            at = self._step if step is None else int(step)
            body: Body = {"run_id": self.id, "step": at or 0, "trained_until": _now(), "uri": _uri(path)}
            if contains:
                body["contains"] = plain(contains)
            if self._leads and digest is None:
                # Beside the checkpoint, so that whoever resumes from it goes on with this run.
                remember(path, self.id, self.attempt, self._launch)
            self._record_product(What.CHECKPOINT, product, body, Path(path), digest, wait)

        return self._product(path, "checkpoint", record)

    def artifact(
        self,
        path: str | os.PathLike[str],
        role: str = "model",
        *,
        digest: str | None = None,
        wait: bool = False,
    ) -> Product:
        """Records a product of the run at `path`, a file or folder; hashed as a checkpoint is."""

        def record(product: Product) -> None:
            body: Body = {"run_id": self.id, "role": role, "uri": _uri(path)}
            self._record_product(What.ARTIFACT, product, body, Path(path), digest, wait)

        return self._product(path, "artifact", record)

    def snapshot(
        self, source: object, *, dataset: str | None = None, role: str | None = None, wait: bool = False
    ) -> Product:
        """Records data: a path (hashed as a checkpoint is), a URI, a digest or `shipworthy.snapshot(…)`; with
        a `role` (train, validation …) as an input of this run."""

        def record(product: Product) -> None:
            given, path = describe_input(role or "data", source, dataset)
            if role is not None:
                what, kind = What.INPUT, "run.registered"
                body: Body = {"run_id": self.id, "job": self._job, "inputs": [given]}
            else:
                what, kind = What.SNAPSHOT, "snapshot"
                if not isinstance(given.get("snapshot"), dict):
                    raise UsageError("a digest alone says no data set; give it a role")
                body = as_body(given["snapshot"])
            if path is not None:
                keep_files(self._journal, what, product, self.id, path, body, wait=wait, then=self._wake)
                return
            self._append(record_line(kind, product.key, body))
            product.settle(None)
            self._wake()

        return self._guarded("snapshot", record, Product(self._key(), str(source)))

    def evaluation(
        self,
        metrics: Mapping[str, object],
        *,
        subject: Product | str | None = None,
        dataset: Snapshot | str | None = None,
        slices: Mapping[str, Mapping[str, Mapping[str, object]]] | None = None,
        **facts: object,
    ) -> None:
        """Records measurements of `subject`: a checkpoint, an artifact or a digest, else what was recorded
        last.

        `slices` is {"country": {"NO": {"auc": 0.9}}}; `facts` are further fields of an evaluation, such as
        protocol, statistics, step. Metrics that are no number are left out and named in the protocol.
        """

        def record(_: None) -> None:
            body = describe_evaluation(self.id, metrics, dataset, slices, facts)
            given = subject if subject is not None else self._latest
            if given is None:
                raise UsageError("an evaluation needs a subject; record a checkpoint or an artifact first")
            self._about(What.EVALUATION, "evaluation.completed", body, "subject", given)

        self._guarded("evaluation", record, None)

    def model_version(
        self,
        model: str,
        version: str,
        artifact: Product | str | None = None,
        *,
        registry: str = "default",
        tags: Mapping[str, str] | None = None,
    ) -> None:
        """Binds a registry's name and version to an artifact: a product, a digest, else what was recorded
        last."""

        def record(_: None) -> None:
            body: Body = {"run_id": self.id, "model": model, "version": str(version), "registry": registry}
            if tags:
                body |= {"tags": plain(tags)}
            given = artifact if artifact is not None else self._latest
            if given is None:
                raise UsageError("a model version needs an artifact; record one first")
            self._about(What.MODEL_VERSION, "model_version", body, "artifact", given)

        self._guarded("model_version", record, None)

    def event(self, state: str, *, reason: str | None = None) -> None:
        """Records a state: queued, running, evaluating, checkpointing, preempted, resumed."""
        facts: Body = {"state": state}
        if reason is not None:
            facts["reason"] = reason
        self._guarded("event", lambda _: self._event("state", facts), None)

    def phase(self, name: str) -> None:
        """Records that a phase begins, such as "train" or "export"."""

        def record(_: None) -> None:
            self._phase = name
            self._event("phase", {"phase": name})

        self._guarded("phase", record, None)

    def note(self, text: str) -> None:
        self._guarded("note", lambda _: self._event("note", {"text": str(text)}), None)

    def finish(self, state: str = "completed", reason: str | None = None) -> None:
        """Ends the run; what is left to send is sent in the background and at the end of the process.

        A strict run waits for it and raises NotDelivered when the service did not take everything.
        """
        self._end(Ending(state, reason))
        if self._settings.strict and self._sender is not None and not PROCESS.flush(STRICT_SECONDS):
            raise NotDelivered(Trouble.UNREACHABLE, f"after {STRICT_SECONDS:.0f} s not everything was sent")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        ending = ending_of(error)
        if error is None:
            self.finish(ending.state, ending.reason)
        else:
            # Never a new error in the place of the program's own.
            self._end(ending)

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

        self._guarded("resume", record, Product(self._key(), str(checkpoint)))

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
        with suppress(ValueError):
            PROCESS.runs.remove(self)
        if self._restore is not None:
            self._restore()
        if self._leads:
            facts: Body = {"state": ending.state}
            if ending.reason is not None:
                facts["reason"] = ending.reason
            self._guarded("finish", lambda _: self._event("state", facts), None)
        self._journal.flush()
        self._journal.release()
        self._wake()

    def _event(self, kind: str, facts: Body) -> None:
        body: Body = {"run_id": self.id, "type": kind, "at": _now(), "attempt": self.attempt, **facts}
        if self._step is not None and "step" not in body:
            body["step"] = self._step
        if not self._leads:
            body["process"] = self.member
        self._append(record_line("run.event", self._key(), body))
        self._wake()

    def _product(self, path: str | os.PathLike[str], name: str, record: Callable[[Product], None]) -> Product:
        product = Product(self._key(), os.fspath(path))
        self._latest = product
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

    def _append(self, line: bytes) -> None:
        if self._ended and self._journal.closed:
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


def _now() -> str:
    return format_instant(datetime.now(UTC))


def _uri(path: str | os.PathLike[str]) -> str:
    return str(plain(os.fspath(path)))[:2048]


def _require_digest(text: str) -> None:
    if not is_digest(text):
        raise UsageError(f"{text[:80]!r} is no digest; write sha256: and 64 hexadecimal digits")
