"""Data, configuration, seeds and evaluations out of the records of one MLPerf log."""

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import MAX_SAFE_INTEGER, JsonValue, canonicalize
from shipworthy.formats.times import format_instant
from shipworthy.importing.mlperf_benchmarks import BENCHMARKS
from shipworthy.importing.mlperf_lines import LogRecord
from shipworthy.importing.mlperf_system import Document

SEED_KEYS: Final = ("seed", "run_set_random_seed")
# What the log says about its own course; everything else that holds for the whole run is configuration.
_COURSE: Final = (
    "submission_",
    "init_",
    "run_",
    "block_",
    "epoch_",
    "eval_st",
    "eval_accuracy",
    "train_loss",
)
_NO_CONFIG: Final = frozenset({"cache_clear", "tracked_stats", "weights_initialization", "run_clear_caches"})
_PROGRESS: Final = frozenset(
    {"epoch_num", "samples_count", "step", "step_num", "first_epoch_num", "epoch_count"}
)
_RANK_NAMES: Final = ("rank", "worker", "process", "instance")


def inputs_of(records: Iterable[LogRecord], benchmark: str, release: str | None) -> list[Document]:
    """Training and validation data and the base model: names by the rules, counts by the log."""
    reads = BENCHMARKS.get(benchmark)
    if reads is None:
        return []
    values = {record.key: record.value for record in records}
    counts = {
        "train": values.get("train_samples", values.get("preproc_num_train_examples")),
        "validation": values.get("eval_samples", values.get("preproc_num_eval_examples")),
    }
    inputs: list[Document] = []
    for role, rows in counts.items():
        snapshot = _snapshot(f"{reads.data}/{role}", release)
        if isinstance(rows, int) and not isinstance(rows, bool) and rows >= 0:
            snapshot["row_count"] = rows
        inputs.append({"role": role, "snapshot": snapshot})
    if reads.base_model is not None:
        inputs.append({"role": "base_model", "snapshot": _snapshot(reads.base_model, release)})
    return inputs


def _snapshot(name: str, release: str | None) -> Document:
    dataset: Document = {"namespace": "mlperf", "name": name}
    if release is None:
        reason = "MLPerf's rules name the data; neither they nor the log give a version or a digest"
        return {"dataset": dataset, "grade": "none", "reason": reason}
    reason = "the round's rules fix the data; nobody gave a digest of it"
    version: Document = {"kind": "release", "value": f"MLPerf Training {release}"}
    return {"dataset": dataset, "grade": "declared", "version": version, "reason": reason}


def config_of(records: Iterable[LogRecord]) -> Document:
    """Hyperparameters by the names in the log; one that was logged with several values keeps them all."""
    found: dict[str, list[JsonValue]] = {}
    for record in records:
        if record.key in SEED_KEYS or _is_config(record):
            known = found.setdefault(record.key, [])
            value = _plain(record.value)
            if value not in known:
                known.append(value)
    values: Document = {name: each[0] if len(each) == 1 else each for name, each in sorted(found.items())}
    return {"values": values, "seed_keys": [f"/{name}" for name in SEED_KEYS if name in values]}


def _is_config(record: LogRecord) -> bool:
    if record.key in _NO_CONFIG or record.key.startswith(_COURSE):
        return False
    return record.value is not None and not _PROGRESS & record.metadata.keys()


def seeds_of(records: Iterable[LogRecord]) -> Document:
    """One seed for the run, or one for each rank; where the log doesn't say which rank, they are numbered."""
    said = [
        (record, record.value)
        for record in records
        if record.key in SEED_KEYS
        and isinstance(record.value, int)
        and not isinstance(record.value, bool)
        and abs(record.value) <= MAX_SAFE_INTEGER
    ]
    if not said:
        return {"derivation": "the log names no seed"}
    if len(said) == 1:
        return {"values": {"framework": said[0][1]}}
    ranks: Document = {}
    unnamed = False
    for number, (record, seed) in enumerate(said):
        rank = next((record.metadata[name] for name in _RANK_NAMES if name in record.metadata), None)
        unnamed = unnamed or rank is None
        ranks[str(number if rank is None else rank)] = seed
    seeds: Document = {"ranks": ranks}
    if unnamed:
        seeds["derivation"] = "the log doesn't say whose seeds these are; numbered in the order of the log"
    return seeds


def evaluations_of(
    records: list[LogRecord], benchmark: str, release: str | None, remarks: list[str]
) -> list[Document]:
    """One body for each eval_accuracy. The log names no digest of what was measured, so there is no subject:
    these are measurements of the run's training state. A value that is no finite number goes to `remarks`."""
    batch = next((record.value for record in records if record.key == "global_batch_size"), None)
    starts = {_place(record): record for record in records if record.key == "eval_start"}
    reads = BENCHMARKS.get(benchmark)
    bodies: list[Document] = []
    for record in records:
        if record.key != "eval_accuracy":
            continue
        metrics = _metrics(record.value)
        if not metrics:
            at = _instant(record.time_ms)
            remarks.append(f"an eval_accuracy at {at} is no finite number; left out")
            continue
        places = sorted(_PROGRESS & record.metadata.keys())
        protocol: Document = {name: _plain(record.metadata[name]) for name in places}
        body: Document = {"metrics": metrics, "completed_at": _instant(record.time_ms), "protocol": protocol}
        started = starts.get(_place(record))
        if started is not None:
            body["started_at"] = _instant(started.time_ms)
        step = _step(record.metadata, batch)
        if step is not None:
            body["step"] = step
        if reads is not None and release is not None:
            data = _snapshot(f"{reads.data}/validation", release)
            # The identity that the service gives to a snapshot without a digest.
            named = {name: data[name] for name in ("dataset", "version")}
            body["dataset"] = sha256_digest(canonicalize(named))
        bodies.append(body)
    return bodies


def _place(record: LogRecord) -> str:
    """Where in the training an evaluation belongs; start and end are paired by this, not by time."""
    for name in ("epoch_num", "samples_count", "step_num", "step"):
        if name in record.metadata:
            return f"{name}={record.metadata[name]}"
    return ""


def _step(metadata: Mapping[str, JsonValue], batch: JsonValue) -> int | None:
    """The step where the log gives it, or the samples seen by then in whole batches."""
    for name in ("step_num", "step"):
        step = metadata.get(name)
        if isinstance(step, int) and not isinstance(step, bool) and step >= 0:
            return step
    samples = metadata.get("samples_count")
    if isinstance(samples, int) and isinstance(batch, int) and batch > 0 and samples % batch == 0:
        return samples // batch
    return None


def _metrics(value: JsonValue) -> Document:
    """`eval_accuracy`, or one metric for each member where a benchmark reports several."""
    if isinstance(value, Mapping):
        return {f"eval_accuracy/{name}": each for name, each in value.items() if _is_finite(each)}
    return {"eval_accuracy": value} if _is_finite(value) else {}


def _is_finite(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _plain(value: JsonValue) -> JsonValue:
    """The value, or its text where canonical JSON has no such number."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and abs(value) > MAX_SAFE_INTEGER:
        return str(value)
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def _instant(time_ms: int) -> str:
    return format_instant(datetime.fromtimestamp(time_ms / 1000, UTC))
