"""Per-example tables for tests: made from a seed, written as a blob, and the claim of the work that measures them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from gates.statistics.running import Blob, make_statistics
from shipworthy.formats.jcs import canonicalize

Json = dict[str, Any]


def digest(character: str) -> str:
    return "sha256:" + character * 64


def binary_columns(rows: int = 400, seed: int = 1, *, noise: float = 0.8, share: float = 0.4) -> Json:
    """The same examples for every noise; the model is better the less of it there is."""
    draw = np.random.default_rng(seed)
    label = (draw.random(rows) < share).astype(np.int64)
    signal = draw.normal(size=rows) * 0.7 + label
    country = draw.choice(["DE", "NO", "SE"], rows)
    latency = draw.gamma(2, 10, rows)
    noisy = signal + np.random.default_rng(int(noise * 1000)).normal(size=rows) * noise
    return {
        "id": [f"row-{number}" for number in range(rows)],
        "label": label,
        "score": 1 / (1 + np.exp(-(noisy - 0.5) * 2)),
        "value.latency_ms": latency * (1 + noise / 10),
        "slice.country": country,
    }


def write(folder: Path, columns: Mapping[str, Any], name: str = "blob") -> Blob:
    path = folder / f"{name}.parquet"
    parquet.write_table(pa.table(dict(columns)), path)
    return Blob(str(path), path.stat().st_size)


def evaluation(record: str, per_example: str | None, repeat: int = 0, **members: Any) -> Json:
    empty: Json = {"metrics": {}, "statistics": {}, "slices": []}
    return {"record": digest(record), "repeat": repeat, "per_example": per_example, **empty, **members}


def claim(
    evaluations: Sequence[Json],
    incumbent: Sequence[Json] | None = None,
    *,
    sketches: Json | None = None,
    **attempt: Any,
) -> Json:
    """The inputs of `statistics` work, as the service gives them."""
    asked = {
        "id": digest("0"),
        "candidate": digest("1"),
        "dataset": digest("2"),
        "evaluator": digest("3"),
        "config": digest("4"),
        "task": "binary",
        "threshold": 0.5,
        "repeats": len(evaluations),
    }
    nothing: Json = {"evaluation": None, "training": [], "evaluation_split": None}
    return {
        "attempt": asked | attempt,
        "evaluations": list(evaluations),
        "incumbent": None if incumbent is None else {"artifact": digest("9"), "evaluations": list(incumbent)},
        "sketches": nothing | (sketches or {}),
        "seed": 7,
    }


def silent(done: int, total: int, text: str) -> None:
    """Progress that nobody looks at."""


def measured(inputs: Json, blobs: dict[str, Blob], resamples: int = 200) -> Json:
    made = make_statistics(inputs, blobs, silent, resamples)
    # What is recorded went through JSON.
    read: Json = json.loads(canonicalize(made))
    return read
