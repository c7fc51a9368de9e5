"""The runs that benchmarks record: one complete run, for Shipworthy and as MLflow's nearest equivalent.

40 parameters, 30 tags, 3 inputs, environment, hardware, code, seeds, a transformation, 20 metrics, 5 checkpoints, an
artifact, three events, a model version. Each run has a config, training data, checkpoints and an artifact of its own;
code, environment, hardware and two of the inputs are shared, as they are between the runs of a team.
"""

import json
import os
import time
from typing import Any, Final

MODEL: Final = "bench/model"
PARAMETERS: Final[dict[str, Any]] = {
    **{f"optimizer.parameter_{number:02d}": round(0.001 * (number + 1), 6) for number in range(20)},
    **{f"model.layer_{number:02d}.width": 64 * (number + 1) for number in range(10)},
    **{f"data.option_{number:02d}": f"value number {number}" for number in range(9)},
}
TAGS: Final = {f"team.tag_{number:02d}": f"a tag of ordinary length, number {number}" for number in range(30)}
METRICS: Final = {f"validation/metric_{number:02d}": 0.5 + number / 1000 for number in range(20)}

_RUN: Final = "%(run)s"
_MARK: Final = "%(mark)s"
_INPUT: Final = "%(input)s"


def _own(first: str) -> str:
    """A digest of the run's own: `first` is a hex digit that tells its things apart."""
    return f"sha256:{first * 16}{_MARK * 3}"


def _shared(digit: str) -> str:
    return "sha256:" + digit * 64


def _snapshot(name: str, digest: str) -> dict[str, Any]:
    return {
        "dataset": {"namespace": "s3://bench", "name": name},
        "grade": "manifest",
        "digest": digest,
        "version": {"kind": "iceberg", "value": "5937117119577207000"},
        "row_count": 12_345_678,
        "schema_digest": _shared("e"),
        "uri": f"s3://bench/{name}",
    }


def _document() -> dict[str, Any]:
    return {
        "run_id": _RUN,
        "job": {"namespace": "bench", "name": "train"},
        "pipeline": "nightly",
        "team": "ranking",
        "experiment": "baseline",
        "started_at": "2026-05-01T10:00:00.000Z",
        "tags": TAGS,
        "inputs": [
            {"role": "train", "snapshot": _snapshot("clicks/train", _own("d"))},
            {"role": "validation", "snapshot": _snapshot("clicks/validation", _shared("b"))},
            {"role": "base_model", "digest": _INPUT},
        ],
        "transformations": [
            {"name": "deduplicate", "version": "1.4.0", "code": "9f3c2d1", "output": _own("7")},
        ],
        "code": {
            "repository": "https://git.example.org/ranking.git",
            "commit": "9f3c2d1e9f3c2d1e9f3c2d1e9f3c2d1e9f3c2d1e",
            "dirty": False,
        },
        "environment": {
            "image": {"name": "registry.example.org/train", "digest": _shared("c")},
            "python": "3.11.9",
            "cuda": "12.4",
            "packages": {f"package-{number:02d}": f"1.{number}.0" for number in range(20)},
        },
        "config": {"values": {**PARAMETERS, "run.name": f"trial-{_MARK}"}},
        "hardware": {
            "nodes": 4,
            "accelerators": [{"type": "H100-SXM", "count": 8, "memory_bytes": 85_899_345_920}],
            "cpus_per_node": 96,
            "precision": "bf16",
        },
        "seeds": {"values": {"python": 7, "numpy": 7, "torch": 7}, "data_order": "seeded"},
        "events": [
            {"type": "attempt.started", "at": "2026-05-01T10:00:00.000Z"},
            {"type": "state", "state": "running", "at": "2026-05-01T10:00:05.000Z"},
            {"type": "state", "state": "completed", "at": "2026-05-01T12:00:00.000Z"},
        ],
        "checkpoints": [
            {
                "digest": _own(str(number)),
                "step": 1000 * (number + 1),
                "trained_until": f"2026-05-01T10:{10 * (number + 1)}:00.000Z",
                "size_bytes": 14_000_000_000,
                "uri": f"s3://bench/{_MARK}/step-{number}",
                "contains": ["model", "optimizer", "rng", "data_position"],
                "level": "complete",
            }
            for number in range(5)
        ],
        "artifacts": [{"digest": _own("a"), "role": "model", "serialization": "safetensors"}],
        "evaluations": [
            {"subject": _own("a"), "metrics": METRICS, "dataset": _shared("b"), "step": 5000},
        ],
        "model_versions": [{"model": MODEL, "version": _MARK, "artifact": _own("a")}],
    }


_TEMPLATE: Final = json.dumps(_document(), separators=(",", ":")).encode()
_LINE: Final = b'{"kind":"run.registered","body":' + _TEMPLATE + b"}"
BASE_MODEL: Final = _shared("f")


def new_mark() -> str:
    """16 hex digits that no other run has."""
    return os.urandom(8).hex()


def artifact_of(mark: str) -> str:
    """Digest of the model that the run with this mark produced."""
    return f"sha256:{'a' * 16}{mark * 3}"


def run_id_of(mark: str) -> str:
    """A UUIDv7 with the time in milliseconds and the mark as its random part."""
    moment = f"{time.time_ns() // 1_000_000:012x}"
    return f"{moment[:8]}-{moment[8:]}-7{mark[:3]}-8{mark[3:6]}-{mark[4:16]}"


def run_body(mark: str, base_model: str = BASE_MODEL) -> bytes:
    """The body of `POST /v1/runs` for a complete run that nobody has recorded yet."""
    return _TEMPLATE % _values(mark, base_model)


def batch_line(mark: str) -> bytes:
    """The same run as a line of `POST /v1/records:batch`, without the line break."""
    return _LINE % _values(mark, BASE_MODEL)


def _values(mark: str, base_model: str) -> dict[bytes, bytes]:
    return {b"run": run_id_of(mark).encode(), b"mark": mark.encode(), b"input": base_model.encode()}
