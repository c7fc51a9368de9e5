"""The decorator `track`, and the run that a function is called in."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypedDict, TypeVar, Unpack

from shipworthy.process import PROCESS
from shipworthy.runs import Run
from shipworthy.starting import run

P = ParamSpec("P")
R = TypeVar("R")


class RunArguments(TypedDict, total=False):
    """Arguments of `shipworthy.run` that the decorator passes on; see there."""

    config: object
    data: dict[str, object]
    team: str
    tags: dict[str, object]
    pipeline: str
    experiment: str
    priority: str
    capture: bool
    url: str
    token: str
    dir: str
    strict: bool


def track(job: str, **arguments: Unpack[RunArguments]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Records each call of a function as a run; its arguments are the config unless one is given.

    Inside, `shipworthy.current_run()` is the run.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def tracked(*given: P.args, **named: P.kwargs) -> R:
            chosen = arguments.copy()
            if "config" not in chosen:
                chosen["config"] = _bound(function, given, named)
            with run(job, **chosen):
                return function(*given, **named)

        return tracked

    return decorate


def current_run() -> Run | None:
    """The run that was started last in this process and has not ended."""
    return PROCESS.runs[-1] if PROCESS.runs else None


def flush(timeout: float = 30.0) -> bool:
    """Waits until everything of this process is hashed and sent; False when something is left after `timeout`
    seconds, or was refused. Not needed: the end of the process does it."""
    return PROCESS.flush(timeout)


def _bound(
    function: Callable[..., object], given: tuple[object, ...], named: dict[str, object]
) -> dict[str, object]:
    import inspect

    try:
        bound = inspect.signature(function).bind(*given, **named)
    except (TypeError, ValueError):
        # The call itself is about to say what is wrong with its arguments.
        return dict(named)
    bound.apply_defaults()
    return dict(bound.arguments)
