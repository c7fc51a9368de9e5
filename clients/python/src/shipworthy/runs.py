"""A run while it is recorded. Every method returns at once, whatever the service does, and none ever raises
unless the run is strict: what can't be recorded becomes one line on standard error."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from shipworthy.capture.resume import remember
from shipworthy.endings import Ending, ending_of
from shipworthy.errors import NotDelivered, Trouble, UsageError
from shipworthy.evaluations import describe_evaluation
from shipworthy.lines import log_line
from shipworthy.process import PROCESS
from shipworthy.products import Product
from shipworthy.promises import What, record_line
from shipworthy.promising import keep_files
from shipworthy.recording import Recording, now
from shipworthy.snapshots import Snapshot, describe_input
from shipworthy.values import Body, as_body, plain

FIRST_MEMBERS: Final = ("main", "rank-0")
STRICT_SECONDS: Final = 60.0
"""How long a strict run waits at its end for everything to be delivered."""


class Run(Recording):
    """Made by `shipworthy.run`."""

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
        location: tuple[str, str] | None = None,
        digest: str | None = None,
        wait: bool = False,
    ) -> Product:
        """Records the state saved at `path`, a file or folder that is complete. It is read again and hashed
        in the background, or before this returns with `wait`; `digest` says what is known already.

        `contains` names what is in it: model, optimizer, scheduler, rng, data_position. `location` is where workers
        find the same bytes, a registered root and a path in it: one that reads the root verifies the checkpoint.
        """

        def record(product: Product) -> None:
            at = self._step if step is None else int(step)
            self._latest_step = at
            body: Body = {"run_id": self.id, "step": at or 0, "trained_until": now(), "uri": _uri(path)}
            if contains:
                body["contains"] = plain(list(dict.fromkeys(contains)))
            if location is not None:
                body["location"] = {"root": location[0], "path": location[1]}
            if self.member in FIRST_MEMBERS and digest is None:
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

        return self._guarded("snapshot", record, Product(self._key(), str(source), self.folder))

    def evaluation(
        self,
        metrics: Mapping[str, object],
        *,
        subject: Product | str | None = None,
        dataset: Snapshot | str | None = None,
        slices: Mapping[str, Mapping[str, Mapping[str, object]]] | None = None,
        **facts: object,
    ) -> None:
        """Records measurements of `subject`: a checkpoint, an artifact or a digest; without it, of what was recorded
        last. A checkpoint of another step is not that: then it is the state of the training at this step.

        `slices` is {"country": {"NO": {"auc": 0.9}}}; `facts` are further fields of an evaluation, such as
        protocol, statistics, step. Metrics that are no number are left out and named in the protocol.
        """

        def record(_: None) -> None:
            body = describe_evaluation(self.id, metrics, dataset, slices, facts)
            step = body.get("step", self._step)
            given = subject if subject is not None else self._measured(step)
            if given is not None:
                self._about(What.EVALUATION, "evaluation.completed", body, "subject", given)
                return
            if step is not None:
                body["step"] = step
            self._append(record_line("evaluation.completed", self._key(), body))
            self._wake()

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
            if PROCESS.is_refused():
                raise NotDelivered(Trouble.REFUSED, f"see *.refused in {self.folder}")
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


def _uri(path: str | os.PathLike[str]) -> str:
    return str(plain(os.fspath(path)))[:2048]
