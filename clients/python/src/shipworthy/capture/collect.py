"""Everything that is captured when a run begins, in bounded time, with sentences in place of exceptions."""

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

from shipworthy.capture.config import capture_config
from shipworthy.capture.environment import capture_environment
from shipworthy.capture.git import capture_git, unknown_code
from shipworthy.capture.hardware import capture_hardware
from shipworthy.capture.redaction import redact_text
from shipworthy.capture.seeds import capture_seeds
from shipworthy.capture.texts import one_line
from shipworthy.values import Body

BUDGET_SECONDS: Final = 2.5
T = TypeVar("T")


class Captured(NamedTuple):
    """Documents as the service takes them. `diff` is the blob that `code` names; `reasons` tell what lacks."""

    code: Body
    environment: Body | None
    hardware: Body | None
    seeds: Body
    config: Body | None
    diff: bytes | None
    reasons: tuple[str, ...]


def collect(
    config: object = None,
    environ: Mapping[str, str] | None = None,
    *,
    seeds: Mapping[str, int] | None = None,
    seed_keys: Sequence[str] = (),
    unseeded: bool = False,
    folder: Path | None = None,
    lockfile: str | os.PathLike[str] | None = None,
    budget_seconds: float = BUDGET_SECONDS,
) -> Captured:
    """What a run is made of, as far as it can be known within the budget. Never raises.

    `folder` is where the program's source lies: by default that of the main module, and in a notebook the
    working directory.
    """
    environ = os.environ if environ is None else environ
    folder = source_folder() if folder is None else folder
    reasons: list[str] = []
    deadline = time.monotonic() + budget_seconds
    # A driver that hangs, or packages on a file server that does, must not hold up the others.
    code_part = _Part("git", lambda: capture_git(folder, environ, min(2.0, budget_seconds * 0.8)))
    environment_part = _Part("the environment", lambda: capture_environment(folder, environ, lockfile))
    hardware_part = _Part("the hardware", lambda: capture_hardware(environ))
    config_document: Body | None = None
    if config is not None:
        captured_config = capture_config(config, seed_keys)
        config_document = captured_config.document
        reasons += captured_config.reasons
    seeds_document = capture_seeds(seeds, config_document, environ, unseeded)
    code = code_part.result(deadline, reasons)
    if code is None:
        code = unknown_code(reasons.pop())
    environment = environment_part.result(deadline, reasons)
    hardware = hardware_part.result(deadline, reasons)
    for part in (environment, hardware):
        reasons += part[1] if part is not None else []
    return Captured(
        code=code.document,
        environment=environment[0] if environment is not None else None,
        hardware=hardware[0] if hardware is not None else None,
        seeds=seeds_document,
        config=config_document,
        diff=code.diff,
        reasons=tuple(dict.fromkeys(reasons)),
    )


def source_folder() -> Path:
    """The folder of the main module's file; for installed programs and notebooks the working directory."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    if isinstance(main, str):
        path = Path(main).absolute()
        installed = (Path(sys.prefix), Path(sys.base_prefix))
        if path.is_file() and not any(path.is_relative_to(prefix) for prefix in installed):
            return path.parent
    try:
        return Path.cwd()
    except OSError:
        return Path(os.sep)  # The working directory was deleted.


class _Part(Generic[T]):
    """A part of the capture in a thread of its own, which is left behind when it doesn't end in time."""

    def __init__(self, name: str, work: Callable[[], T]) -> None:
        from threading import Thread

        self._name = name
        self._work = work
        self._found: T | None = None
        self._failure = ""
        self._thread = Thread(target=self._run, name=f"shipworthy capture of {name}", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:  # no more threads, or the interpreter is ending
            self._failure = str(error)

    def result(self, deadline: float, reasons: list[str]) -> T | None:
        """What was found; None with the reason appended."""
        if not self._failure:
            self._thread.join(max(deadline - time.monotonic(), 0))
        found = self._found
        if found is None:
            reasons.append(f"{self._name} is not known: {self._failure or 'it took too long to find out'}")
        return found

    def _run(self) -> None:
        try:
            self._found = self._work()
        except Exception as error:  # noqa: BLE001 - no fault of the capture may stop a training
            self._failure = one_line(redact_text(f"{type(error).__name__}: {error}"), 300)
