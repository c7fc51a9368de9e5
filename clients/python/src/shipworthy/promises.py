"""Promises of records whose digest is still to be computed, and how they are kept: now, later, or never.

A promise is a journal line `{"pending": {…}}`. The record that keeps it has the same key, so that whoever is
first, the process itself or `shipworthy sync` after its end, records it once.
"""

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from shipworthy.capture.processes import host_name
from shipworthy.formats.times import format_instant
from shipworthy.values import Body, as_body, encode


class What(StrEnum):
    """Where in the body of the record the digest goes."""

    CHECKPOINT = "checkpoint"
    ARTIFACT = "artifact"
    SNAPSHOT = "snapshot"
    INPUT = "input"
    RESUMED = "resumed"
    EVALUATION = "evaluation"
    MODEL_VERSION = "model_version"


KINDS = {
    What.CHECKPOINT: "checkpoint.saved",
    What.ARTIFACT: "artifact",
    What.SNAPSHOT: "snapshot",
    What.INPUT: "run.registered",
    What.RESUMED: "run.registered",
    What.EVALUATION: "evaluation.completed",
    What.MODEL_VERSION: "model_version",
}


def promise_of_files(what: What, key: str, run_id: str, path: Path, body: Body) -> Body:
    """The promise to hash the files at `path` as they are now. OSError when they can't be listed."""
    return {
        "what": str(what),
        "key": key,
        "run_id": run_id,
        "path": str(path.absolute()),
        "host": host_name(),
        "state": fingerprint(path),
        "body": body,
    }


def promise_of_subject(what: What, key: str, run_id: str, subject: str, body: Body) -> Body:
    """The promise of a record about the product whose own promise has the key `subject`."""
    return {"what": str(what), "key": key, "run_id": run_id, "subject": subject, "body": body}


def promise_line(promise: Body) -> bytes:
    return encode({"pending": promise}) + b"\n"


def record_line(kind: str, key: str, body: Body) -> bytes:
    return encode({"kind": kind, "key": key, "body": body}) + b"\n"


def kept_line(promise: Body, digest: str, size: int) -> bytes:
    """The record that keeps a promise."""
    what = What(str(promise["what"]))
    body = dict(as_body(promise["body"]))
    if what is What.INPUT:
        given = body["inputs"]
        first = as_body(given[0] if isinstance(given, list) else given)
        known: Body = {"digest": digest, "size_bytes": size, "grade": "content"}
        body["inputs"] = [{**first, "snapshot": {**as_body(first["snapshot"]), **known}}]
    elif what is What.RESUMED:
        body["resumed_from"] = {"checkpoint": digest}
    elif what is What.EVALUATION:
        body["subject"] = digest
    elif what is What.MODEL_VERSION:
        body["artifact"] = digest
    else:
        body |= {"digest": digest, "size_bytes": size}
        if what is What.CHECKPOINT:
            body["level"] = "checksummed"
        if what is What.SNAPSHOT:
            body["grade"] = "content"
    return record_line(KINDS[what], str(promise["key"]), body)


def broken_line(promise: Body, reason: str) -> bytes:
    """The note that says why a promise was not kept."""
    subject = promise.get("path") or promise.get("subject")
    text = f"The {promise['what']} of {subject} has no digest: {reason}"
    body: Body = {
        "run_id": promise["run_id"],
        "type": "note",
        "at": format_instant(datetime.now(UTC)),
        "text": text[:4000],
    }
    return record_line("run.event", str(promise["key"]), body)


def digest_files(promise: Body, progress: Callable[[int], None] | None = None) -> tuple[str, int]:
    """Manifest digest and bytes of the promised files. ValueError or OSError when they are not as
    promised."""
    from shipworthy.formats.manifest import hash_tree, manifest_digest

    path = Path(str(promise["path"]))
    if fingerprint(path) != promise["state"]:
        raise ValueError("its files changed before they were hashed")
    entries = hash_tree(path, progress)
    if fingerprint(path) != promise["state"]:
        raise ValueError("its files changed while they were hashed")
    return manifest_digest(entries), sum(entry.size for entry in entries)


def fingerprint(path: Path) -> Body:
    """What tells without reading whether files changed: their number, bytes, and names with modification
    times.

    OSError when there is nothing or it can't be listed.
    """
    count, size, digest = 0, 0, sha256()
    for name, status in sorted(_statuses(path, ""), key=lambda each: each[0]):
        count += 1
        size += status.st_size
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode("utf-8", "surrogatepass"))
    return {"files": count, "bytes": size, "names": digest.hexdigest()}


def _statuses(path: Path, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
    if not path.is_dir():
        yield prefix, path.stat()
        return
    with os.scandir(path) as items:
        for item in items:
            if item.is_dir(follow_symlinks=False):
                yield from _statuses(path / item.name, f"{prefix}{item.name}/")
            else:
                yield prefix + item.name, item.stat(follow_symlinks=False)
