"""Bodies of recording calls for tests: small, complete, and different only where a test says so."""

import hashlib
import itertools
from typing import Any

Body = dict[str, Any]

_runs = itertools.count(1)


def digest_of(name: str) -> str:
    """`sha256:…` of a name: the same name is the same digest in every test."""
    return "sha256:" + hashlib.sha256(name.encode()).hexdigest()


def new_run_id() -> str:
    """A UUIDv7 that no other call in this process gives."""
    return f"019f0000-0000-7000-8000-{next(_runs):012x}"


def make_start(**changes: object) -> Body:
    """The least that registers a run: what a pipeline knows when it starts."""
    return {"run_id": new_run_id(), "job": {"namespace": "team-a", "name": "train"}} | changes


def make_run(**changes: object) -> Body:
    """A run from start to end with one of everything; a change of None leaves that part out."""
    body = make_start()
    body |= {
        "pipeline": "nightly",
        "team": "ranking",
        "experiment": "baseline",
        "started_at": "2026-05-01T10:00:00.000Z",
        "tags": {"purpose": "release"},
        "inputs": [{"role": "train", "snapshot": make_snapshot()}],
        "transformations": [{"name": "deduplicate", "version": "1.4.0", "code": "9f3c2d1"}],
        "code": {
            "repository": "https://git.example.org/ranking.git",
            "commit": "9f3c2d1e" * 5,
            "dirty": False,
        },
        "environment": {
            "image": {"digest": digest_of("image")},
            "python": "3.11.9",
            "packages": {"torch": "2.7.0"},
        },
        "config": {"values": {"learning_rate": 0.001, "seed": 7}, "seed_keys": ["/seed"]},
        "hardware": {"nodes": 2, "accelerators": [{"type": "H100-SXM", "count": 8}]},
        "seeds": {"values": {"torch": 7}},
        "events": [{"type": "state", "state": "completed", "at": "2026-05-01T12:00:00.000Z"}],
        "checkpoints": [make_checkpoint()],
        "artifacts": [make_artifact()],
        "evaluations": [make_evaluation()],
        "model_versions": [make_version(model=f"ranker-{body['run_id'][-12:]}")],
    }
    return {name: value for name, value in (body | changes).items() if value is not None}


def make_snapshot(**changes: object) -> Body:
    snapshot = {
        "dataset": {"namespace": "s3://lake", "name": "clicks/train"},
        "grade": "manifest",
        "digest": digest_of("clicks/train"),
        "row_count": 12_345_678,
    }
    return snapshot | changes


def make_event(**changes: object) -> Body:
    return {"type": "state", "state": "running", "at": "2026-05-01T10:05:00.000Z"} | changes


def make_checkpoint(**changes: object) -> Body:
    checkpoint = {
        "digest": digest_of("checkpoint"),
        "step": 1000,
        "trained_until": "2026-05-01T11:00:00.000Z",
    }
    return checkpoint | changes


def make_verification(**changes: object) -> Body:
    return {"level": "loaded", "outcome": "passed", "checked_at": "2026-05-01T13:00:00.000Z"} | changes


def make_artifact(**changes: object) -> Body:
    return {"digest": digest_of("model"), "role": "model", "size_bytes": 4096} | changes


def make_evaluation(**changes: object) -> Body:
    return {"subject": digest_of("model"), "metrics": {"validation/accuracy": 0.91}} | changes


def make_version(**changes: object) -> Body:
    return {"model": "ranker", "version": "1", "artifact": digest_of("model")} | changes
