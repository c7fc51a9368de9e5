"""What recording adds to a step, measured on a machine that does other things too.

Two processes, one with the client and one without, take turns in short blocks in the order A B B A: what else the
machine does falls on both, and a drift within four blocks cancels out. Each four give a ratio. Two processes of the
same program differ by a percent already, by where things happen to lie in memory, so there are many pairs of them, and
each pair counts once, with the median of its ratios. Told is the median over the pairs, with the interval in which the
true median lies in 95 of 100 cases whatever the distribution (order statistics of the binomial distribution).
"""

import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Final, Self

from tests.support.pipelines import environment

WARM_STEPS: Final = 60
"""Until the sender has loaded what it needs and waits for the answer: about a second."""

# About 15 ms: a part that holds the interpreter, as Python code between kernels does, and one that lets it go.
_STEPS: Final = """
import os, sys, time, zlib
block = bytes(range(256)) * 4096
recorded = sys.argv[1] == "recorded"
if recorded:
    import shipworthy
    run = shipworthy.run("bench/steps", capture=False)
step = 0
for line in sys.stdin:
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    for _ in range(int(line)):
        value = 0
        for number in range(30_000):
            value = value * 31 + number & 0xFFFFFFFF
        for _ in range(15):
            value = zlib.crc32(block, zlib.adler32(block, value))
        step += 1
        if recorded:
            run.log(step=step, train_loss=value / 2**32, grad_norm=1.5, learning_rate=3e-4)
    print(time.process_time_ns() - cpu, time.perf_counter_ns() - wall, flush=True)
os._exit(0)
"""


@dataclass(frozen=True, slots=True)
class Block:
    """Nanoseconds of one block: processor time of all threads of the process, and time on the wall."""

    processor: int
    wall: int


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Median of the ratios less one, and its interval of 95 %. 0.005 is half a percent."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:+.2%} (95 % between {self.low:+.2%} and {self.high:+.2%})"


class Stepper:
    """A process that does steps when it is told to."""

    def __init__(self, mode: str, folder: Path, variables: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _STEPS, mode],
            cwd=folder,
            env=environment(**variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.communicate()

    def block(self, steps: int) -> Block:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(steps, file=self._process.stdin, flush=True)
        processor, wall = self._process.stdout.readline().split()
        return Block(int(processor), int(wall))


def slowdowns(
    folder: Path, variables: Mapping[str, str], pairs: int, fours: int, steps: int
) -> tuple[Slowdown, Slowdown]:
    """By processor time, and by time on the wall."""
    medians = [_pair(folder, variables, fours, steps, number) for number in range(pairs)]
    return _slowdown([each[0] for each in medians]), _slowdown([each[1] for each in medians])


def _pair(
    folder: Path, variables: Mapping[str, str], fours: int, steps: int, pair: int
) -> tuple[float, float]:
    """Medians of the ratios of one pair of processes: processor time, time on the wall."""
    ratios: list[tuple[float, float]] = []
    with Stepper("bare", folder, variables) as bare, Stepper("recorded", folder, variables) as recorded:
        for stepper in (bare, recorded):
            stepper.block(WARM_STEPS)
        for number in range(fours):
            # Every second time the other way round, so that neither is always the one in the middle.
            outer, inner = (bare, recorded) if (number + pair) % 2 else (recorded, bare)
            blocks = [(each, each.block(steps)) for each in (outer, inner, inner, outer)]
            with_client = [block for each, block in blocks if each is recorded]
            without = [block for each, block in blocks if each is bare]
            ratios.append(
                (
                    sum(block.processor for block in with_client) / sum(block.processor for block in without),
                    sum(block.wall for block in with_client) / sum(block.wall for block in without),
                )
            )
    return median(each[0] for each in ratios), median(each[1] for each in ratios)


def _slowdown(ratios: Sequence[float]) -> Slowdown:
    ordered = sorted(ratio - 1 for ratio in ratios)
    count = len(ordered)
    # As far in as leaves at most 2.5 % outside on each side.
    cut, outside = 0, 1 / 2**count
    while outside + math.comb(count, cut + 1) / 2**count <= 0.025:
        cut += 1
        outside += math.comb(count, cut) / 2**count
    return Slowdown(median(ordered), ordered[cut], ordered[-1 - cut])
