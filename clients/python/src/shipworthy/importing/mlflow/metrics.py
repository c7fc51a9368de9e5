"""MLflow's metrics: their latest values as evaluations of the run, their histories as the log lines of our own client.

A latest value is what MLflow shows and compares, so lineage and gates find it. A history has as many points as the
training had steps: it is kept whole in compressed blobs, and no point of it is a record.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import groupby
from typing import Final

from shipworthy.capture.texts import label
from shipworthy.chunks import make_chunk
from shipworthy.formats.jcs import MAX_SAFE_INTEGER
from shipworthy.formats.times import format_instant
from shipworthy.importing.mlflow.answers import Metric, MlflowRun
from shipworthy.lines import log_line
from shipworthy.values import Body, Json, finite

CHUNK_BYTES: Final = 2**20
"""Lines that are compressed together, so that an import holds no more than this of a history."""
METRICS_A_RECORD: Final = 1000
SYSTEM: Final = "system/"
"""What MLflow measures of the machine, which says nothing about the model."""
_LAST_MILLISECOND: Final = 253_402_300_799_000
"""The last second of the year 9999."""
_LATEST: Final = {"source": "MLflow", "values": "latest"}


@dataclass(frozen=True, slots=True)
class Chunk:
    """Compressed log lines. `key` is the same for the same lines, whichever library compressed them."""

    data: bytes
    key: str
    last: int
    number: int


def evaluations_of(run: MlflowRun, run_id: str) -> Iterator[Body]:
    """Latest values, one evaluation for each step at which any of them was logged."""
    kept = sorted(
        (each for each in run.metrics if _is_measurement(each) and math.isfinite(each.value)),
        key=lambda each: (each.step, each.key),
    )
    for step, grouped in groupby(kept, key=lambda each: each.step):
        metrics = list(grouped)
        for start in range(0, len(metrics), METRICS_A_RECORD):
            some = metrics[start : start + METRICS_A_RECORD]
            values: dict[str, Json] = {label(each.key): each.value for each in some}
            body: Body = {"run_id": run_id, "metrics": values, "protocol": dict(_LATEST)}
            if 0 <= step <= MAX_SAFE_INTEGER:
                body["step"] = step
            latest = max(each.at for each in some)
            if latest > 0:
                body["completed_at"] = instant(latest)
            yield body


def not_finite(run: MlflowRun) -> list[str]:
    """Such as "loss is NaN": an evaluation has no room for them, the log lines keep them."""
    return [
        f"{label(each.key)} is {finite(each.value)}"
        for each in run.metrics
        if _is_measurement(each) and not math.isfinite(each.value)
    ]


def chunks_of(points: Iterable[Metric]) -> Iterator[Chunk]:
    """All points in their order, CHUNK_BYTES of lines at a time."""
    lines: list[bytes] = []
    size = number = last = 0
    for point in points:
        line = log_line(point.step, point.at / 1000, {point.key: finite(point.value)}).rstrip(b"\n")
        lines.append(line)
        size, last = size + len(line), point.at
        if size >= CHUNK_BYTES:
            yield _chunk(lines, last, number)
            lines, size, number = [], 0, number + 1
    if lines:
        yield _chunk(lines, last, number)


def note_of(chunk: Chunk, run_id: str, blob: str) -> Body:
    """The event by which a run names its log lines, as our own client writes it."""
    return {
        "run_id": run_id,
        "type": "note",
        "at": instant(chunk.last),
        "process": "mlflow",
        "sequence": chunk.number,
        "text": "log lines",
        "blob": blob,
    }


def instant(milliseconds: int) -> str:
    """Within the years that can be written: programs give MLflow whatever number they took for a time."""
    return format_instant(datetime.fromtimestamp(min(max(milliseconds, 0), _LAST_MILLISECOND) / 1000, UTC))


def _chunk(lines: list[bytes], last: int, number: int) -> Chunk:
    digest = sha256(b"\n".join(lines)).hexdigest()
    return Chunk(make_chunk(lines), f"mlflow:log-{number}-{digest[:32]}", last, number)


def _is_measurement(metric: Metric) -> bool:
    return not metric.key.startswith(SYSTEM)
