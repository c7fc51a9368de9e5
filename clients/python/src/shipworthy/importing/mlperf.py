"""MLPerf training logs as runs: pure, from the bytes of a log to lines that `POST /v1/records:batch` takes.

The run id is made from what the log says, so that importing it again, from anywhere, records nothing twice.
What a log lacks stays unknown: these logs name no commit, no digest of data and none of what was evaluated.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import JsonValue
from shipworthy.formats.times import format_instant
from shipworthy.importing.mlperf_benchmarks import BENCHMARKS
from shipworthy.importing.mlperf_facts import config_of, evaluations_of, inputs_of, seeds_of
from shipworthy.importing.mlperf_lines import LogRecord, ParsedLog, parse_log
from shipworthy.importing.mlperf_system import Document, environment_of, hardware_of
from shipworthy.importing.run_ids import run_id_of

NAMESPACE: Final = "mlperf"
_TAG_LENGTH: Final = 256

# Of the organisation that submitted: name and address of a person stay out of the ledger.
_TAGS: Final = ("submission_org", "submission_division", "submission_status", "submission_platform")


class NotMlperf(ValueError):
    """The text holds no run of MLPerf training."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What whoever imports knows and the log doesn't say. `release` is the benchmark's round, as "v4.0"."""

    repository: str | None = None
    commit: str | None = None
    path: str | None = None
    release: str | None = None


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """`lines` are objects {kind, body} in the order to send them; `log` goes to blobs under `log_digest`.

    `remarks` are sentences about what the log doesn't say or says badly.
    """

    run_id: str
    job: str
    state: str
    lines: tuple[Document, ...]
    log_digest: str
    remarks: tuple[str, ...]


def import_log(
    log: bytes, system: Mapping[str, JsonValue] | None = None, stated: Stated | None = None
) -> ImportedRun:
    """One log, with a system description when there is one beside it; the one in the log serves otherwise.

    Raises NotMlperf when there is nothing to import.
    """
    stated = stated or Stated()
    parsed = parse_log(log.decode("utf-8", errors="replace"))
    timed = [record for record in parsed.records if record.time_ms > 0]
    benchmark = _first(parsed.records, "submission_benchmark")
    if not timed or not isinstance(benchmark, str) or not benchmark:
        raise NotMlperf("no MLPerf run in this file: no :::MLLOG line names a submission_benchmark")
    run_id = _run_id(parsed, min(record.time_ms for record in timed))
    described = _described(parsed, system)
    remarks = [*_remarks_on_log(parsed, timed), *_remarks_on_system(parsed, system)]
    if BENCHMARKS.get(benchmark) is None:
        remarks.append(f"the data of benchmark {benchmark} is not known here; none was recorded")
    end, state, reason = _end(timed)
    if reason and end is None:
        remarks.append(reason)
    digest = sha256_digest(log)
    lines = [_line("run.registered", _registration(run_id, benchmark, parsed, timed, described, stated))]
    lines += [_line("run.event", {"run_id": run_id} | event) for event in _events(timed, digest)]
    lines += [
        _line("evaluation.completed", {"run_id": run_id} | body)
        for body in evaluations_of(timed, benchmark, stated.release, remarks)
    ]
    if end is not None:
        body: Document = {"run_id": run_id, "type": "state", "state": state, "at": _instant(end)}
        lines.append(_line("run.event", body | ({"reason": reason} if reason else {})))
    if stated.commit is None:
        remarks.append("the log names no commit: the run joins no family; give --repository and --commit")
    if stated.release is None:
        remarks.append("the log names no version of its data, which stays unresolved; import with --release")
    return ImportedRun(run_id, f"{NAMESPACE}/{benchmark}", state, tuple(lines), digest, tuple(remarks))


def _line(kind: str, body: Document) -> Document:
    # No key: a record's own content is its identity, and a second import may add what the first didn't know.
    return {"kind": kind, "body": body}


def _run_id(parsed: ParsedLog, time_ms: int) -> str:
    """Its time is the log's first, and the rest is made of all that the log says."""
    said = [[each.time_ms, each.key, each.value, each.metadata] for each in parsed.records]
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return run_id_of(time_ms, text.encode())


def _described(parsed: ParsedLog, system: Mapping[str, JsonValue] | None) -> Mapping[str, JsonValue]:
    return system if system is not None else parsed.system or {}


def _registration(
    run_id: str,
    benchmark: str,
    parsed: ParsedLog,
    timed: list[LogRecord],
    system: Mapping[str, JsonValue],
    stated: Stated,
) -> Document:
    starts = [record.time_ms for record in timed if record.key in ("init_start", "run_start")]
    body: Document = {
        "run_id": run_id,
        "job": {"namespace": NAMESPACE, "name": benchmark},
        "started_at": _instant(min(starts, default=timed[0].time_ms)),
        "heartbeat": {"expected": False},
        "tags": {f"mlperf.{name}": value for name in _TAGS if (value := _tag(parsed.records, name))},
        "inputs": inputs_of(timed, benchmark, stated.release),
        "config": config_of(timed),
        "seeds": seeds_of(timed),
    }
    if system:
        body["hardware"] = hardware_of(system)
        body["environment"] = environment_of(system)
    if stated.commit is not None:
        code: Document = {
            "commit": stated.commit,
            "dirty": False,
            "reason": "stated by whoever imported the log: the code as published; the log names no commit",
        }
        code |= {"repository": stated.repository} if stated.repository else {}
        code |= {"path": stated.path} if stated.path else {}
        body["code"] = code
    return body


def _events(timed: list[LogRecord], log_digest: str) -> Iterable[Document]:
    """The log itself, and the phases: initialisation is no part of the timed run."""
    yield {
        "type": "note",
        "at": _instant(timed[0].time_ms),
        "text": "MLPerf training log",
        "blob": log_digest,
    }
    for key, phase in (("init_start", "init"), ("run_start", "train")):
        at = _time(timed, key)
        if at is not None:
            yield {"type": "phase", "at": _instant(at), "phase": phase}
    started = _time(timed, "run_start")
    if started is not None:
        yield {"type": "state", "at": _instant(started), "state": "running"}


def _end(timed: list[LogRecord]) -> tuple[int | None, str, str | None]:
    """When it ended, in which state, and why. Without a run_stop that says how it ended, nothing is known."""
    stops = [record for record in timed if record.key == "run_stop"]
    if not stops:
        return None, "unknown", "the log has no run_stop: whether the run ended, and how, is unknown"
    stop = stops[-1]
    status = stop.metadata.get("status")
    if status is None and isinstance(stop.value, dict) and isinstance(stop.value.get("success"), bool):
        status = "success" if stop.value["success"] else "aborted"
    if status == "success":
        return stop.time_ms, "completed", None
    if status == "aborted":
        return stop.time_ms, "aborted", "run_stop says “aborted”: the target quality was not reached"
    if status is None:
        return None, "unknown", "run_stop doesn't say how the run ended: its state is unknown"
    return stop.time_ms, "failed", f"run_stop says “{str(status)[:200]}”"


def _remarks_on_log(parsed: ParsedLog, timed: list[LogRecord]) -> Iterable[str]:
    if parsed.broken:
        numbers = ", ".join(map(str, parsed.broken[:5])) + (" …" if len(parsed.broken) > 5 else "")
        yield f"lines that could not be read, and were left out: {numbers}"
    backwards = sum(one.time_ms > following.time_ms for one, following in pairwise(timed))
    if backwards:
        yield f"times go backwards {backwards} times; intervals were paired by their keys"


def _remarks_on_system(parsed: ParsedLog, system: Mapping[str, JsonValue] | None) -> Iterable[str]:
    if system is None:
        if parsed.system is None:
            yield "hardware and software are unknown: give the system's description with --system"
        return
    inside = (parsed.system or {}).get("system_name")
    if inside is not None and inside != system.get("system_name"):
        yield f"the log is of system {inside}, the description of {system.get('system_name')}; check --system"


def _first(records: Iterable[LogRecord], key: str) -> JsonValue:
    return next((record.value for record in records if record.key == key), None)


def _tag(records: Iterable[LogRecord], key: str) -> str | None:
    value = _first(records, key)
    return " ".join(str(value).split())[:_TAG_LENGTH] if value is not None else None


def _time(records: Iterable[LogRecord], key: str) -> int | None:
    return next((record.time_ms for record in records if record.key == key), None)


def _instant(time_ms: int) -> str:
    return format_instant(datetime.fromtimestamp(time_ms / 1000, UTC))
