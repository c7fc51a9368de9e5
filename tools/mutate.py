"""Mutation testing: changes one operator, constant or branch at a time, in memory, and asks whether a test fails.

    python tools/mutate.py --tests tests/gates/release --share 0.2 --seed 7 gates/release

A change that no test sees is printed as SURVIVED: a test is missing there, or the change means the same. Text with a
space in it is left alone. A change inside a function is tried in a fork of a process that has collected the tests, and
only by those that enter the function. A change outside of one (a default, the limit of a field), and one that survived
though its function is entered by an import, is tried by a fork that imports and collects anew.
"""

import argparse
import contextlib
import functools
import gc
import importlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Final

import pytest
from mutants import Mutant, mutants_of

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCES: Final = (ROOT / "clients/python/src", ROOT)
"""Where packages begin."""
LONGEST_S: Final = 60
"""Of processor time, for the tests of one change: what makes them hang is found by it, on a busy machine too. Ten times
as much by the clock."""
OPTIONS: Final = ("-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore")


class _Mutated(MetaPathFinder, Loader):
    """Imports the changed code in the place of its module."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant
        base = next(source for source in SOURCES if mutant.path.is_relative_to(source))
        self._name = ".".join(mutant.path.relative_to(base).with_suffix("").parts)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._name:
            return None
        return spec_from_file_location(name, self._mutant.path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        exec(self._mutant.code(), module.__dict__)


Line = list[object]
"""What a fork tells: a line of JSON."""
Tell = Callable[[Line], None]


def told_by_fork(work: Callable[[Tell], bool], longest_s: int = 0) -> Iterator[Line]:
    """What a silent child process tells while it works. ChildProcessError when it answers False, raises, is killed, or
    is not done in time."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        signal.setitimer(signal.ITIMER_PROF, longest_s)
        signal.alarm(10 * longest_s)
        is_good = False
        with contextlib.suppress(BaseException):
            is_good = work(functools.partial(_write_line, writing))
        os._exit(0 if is_good else 1)
    os.close(writing)
    with open(reading, encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines)
    if os.waitpid(child, 0)[1] != 0:
        raise ChildProcessError("the tests failed")


def _write_line(descriptor: int, line: Line) -> None:
    os.write(descriptor, f"{json.dumps(line)}\n".encode())


def passes(work: Callable[[Tell], bool]) -> bool:
    try:
        list(told_by_fork(work, LONGEST_S))
    except ChildProcessError:
        return False
    return True


def survives_import(mutant: Mutant, tests: Sequence[str]) -> bool:
    """Whether all tests pass in a process that imports the changed module."""

    def work(_: Tell) -> bool:
        sys.meta_path.insert(0, _Mutated(mutant))
        return pytest.main([*OPTIONS, "-x", *tests]) == pytest.ExitCode.OK

    return passes(work)


Place = tuple[str, str, int]


def _place(code: CodeType) -> Place:
    return code.co_filename, code.co_qualname, code.co_firstlineno


class Quick:
    """A pytest plugin that runs the tests for each change inside a function. Tells its index, whether it survived, and
    whether the function was entered by an import already, which this way doesn't repeat."""

    def __init__(self, mutants: Sequence[Mutant], tell: Tell) -> None:
        self._mutants, self._tell = mutants, tell
        self._files = frozenset(str(mutant.path) for mutant in mutants)
        self._caches: list[functools._lru_cache_wrapper[object]] = []
        self._functions: dict[Place, list[FunctionType]] = {}
        self._imported: set[tuple[str, int]] = set()
        self._has_failed = False
        sys.setprofile(functools.partial(self._note, self._imported))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._has_failed = self._has_failed or report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        sys.setprofile(None)
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                self._functions.setdefault(_place(each.__code__), []).append(each)
            elif isinstance(each, functools._lru_cache_wrapper) and _is_ours(
                sys.modules.get(each.__module__)
            ):
                self._caches.append(each)
        # What a fork never touches needs no copy.
        gc.freeze()
        entered: dict[str, list[list[object]]] = {}
        seconds: dict[str, float] = {}
        for name, took, found in told_by_fork(functools.partial(self._enter, session.items)):
            entered[str(name)], seconds[str(name)] = found, took  # type: ignore[assignment]
        items = sorted(session.items, key=lambda each: seconds[each.nodeid])
        for index, mutant in enumerate(self._mutants):
            wanted = [*(mutant.function or ())]
            chosen = [item for item in items if wanted in entered[item.nodeid]]
            has_survived = passes(functools.partial(self._try, mutant, chosen))
            self._tell([index, has_survived, mutant.function in self._imported])
        return True

    def _enter(self, items: Sequence[pytest.Item], tell: Tell) -> bool:
        """Tells of each test its name, seconds, and the functions that it enters."""
        for item in items:
            self._forget()
            found: set[tuple[str, int]] = set()
            begun = time.perf_counter()
            sys.setprofile(functools.partial(self._note, found))
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            sys.setprofile(None)
            tell([item.nodeid, time.perf_counter() - begun, sorted(found)])
        return not self._has_failed

    def _note(self, found: set[tuple[str, int]], frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename in self._files:
            found.add((frame.f_code.co_qualname, frame.f_code.co_firstlineno))

    def _try(self, mutant: Mutant, items: Sequence[pytest.Item], _: Tell) -> bool:
        gc.disable()
        self._forget()
        self._change(mutant)
        for item in items:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            if self._has_failed:
                return False
        return True

    def _change(self, mutant: Mutant) -> None:
        """Gives every function that is made of the old code the changed one."""
        codes = [mutant.code()]
        for code in codes:
            codes.extend(each for each in code.co_consts if isinstance(each, CodeType))
        changed = next(each for each in codes if (each.co_qualname, each.co_firstlineno) == mutant.function)
        for function in self._functions.get(_place(changed), []):
            function.__code__ = changed

    def _forget(self) -> None:
        """A remembered answer would hide a change."""
        for cache in self._caches:
            cache.cache_clear()


def import_others(tests: Sequence[str]) -> None:
    """Imports the packages of others that the tests import, which all forks then have."""

    def work(tell: Tell) -> bool:
        is_good = pytest.main([*OPTIONS, "--collect-only", *tests]) == pytest.ExitCode.OK
        tell([name for name, module in sys.modules.items() if not _is_ours(module)])
        return is_good

    for names in told_by_fork(work):
        for name in names:
            with contextlib.suppress(ImportError):
                importlib.import_module(str(name))


def _is_ours(module: ModuleType | None) -> bool:
    path = getattr(module, "__file__", None) or ""
    return path.startswith(str(ROOT)) and "site-packages" not in path


def survivors(mutants: Sequence[Mutant], tests: Sequence[str]) -> Iterator[tuple[Mutant, bool]]:
    """Each change and whether it survived, as soon as that is known."""
    inside = [mutant for mutant in mutants if mutant.function is not None]

    def work(tell: Tell) -> bool:
        pytest.main([*OPTIONS, *tests], plugins=[Quick(inside, tell)])
        return True

    for index, has_survived, is_imported in told_by_fork(work) if inside else ():
        mutant = inside[int(str(index))]
        yield mutant, bool(has_survived) and (not is_imported or survives_import(mutant, tests))
    for mutant in mutants:
        if mutant.function is None:
            yield mutant, survives_import(mutant, tests)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", type=Path, help="files or folders to change")
    parser.add_argument("--tests", nargs="+", required=True, help="as pytest takes them")
    parser.add_argument(
        "--share", type=float, default=1.0, help="of all changes, tried in random order (default: 1)"
    )
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    os.chdir(ROOT)
    sys.path[:0] = [str(source) for source in SOURCES]
    files = [
        each.resolve()
        for path in arguments.paths
        for each in ([path] if path.is_file() else sorted(path.rglob("*.py")))
    ]
    every = [mutant for path in files for mutant in mutants_of(path)]
    chosen = random.Random(arguments.seed).sample(every, round(len(every) * arguments.share))
    import_others(arguments.tests)
    killed = 0
    for count, (mutant, has_survived) in enumerate(survivors(chosen, arguments.tests), start=1):
        killed += not has_survived
        if has_survived:
            print(f"SURVIVED {mutant}", flush=True)
        if count % 50 == 0 or count == len(chosen):
            print(
                f"{killed} of {count} killed ({killed / count:.1%}); {len(every)} changes in all", flush=True
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
