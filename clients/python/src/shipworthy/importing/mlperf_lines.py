"""Lines of MLPerf training logs: three formats, prefixes in the middle of other output, and broken lines.

Formats: `:::MLLOG {json}` (mlperf_logging since v0.7), `:::MLL seconds key: {json}` (v0.6) and
`:::MLPv0.5.0 benchmark seconds (file:line) key: json` (v0.5); `:::SYSJSON {json}` describes the machines.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from shipworthy.formats.jcs import JsonValue

# Several processes write into one pipe: a record may begin anywhere in a line, even twice.
_PREFIX: Final = re.compile(r":::(?P<format>MLLOG|SYSJSON|MLL|MLPv[\d.]+)[ \t]+")
_PREFIX_WITHOUT_SPACE: Final = re.compile(r":::(?P<format>MLLOG|SYSJSON)(?=\{)")
_V06: Final = re.compile(r"(?P<seconds>\d+(?:\.\d+)?) (?P<key>[\w.-]+):\s*")
_V05: Final = re.compile(
    r"(?P<benchmark>[\w.-]+) (?P<seconds>\d+(?:\.\d+)?) \((?P<site>[^)]*)\) (?P<key>[\w.-]+)(?P<colon>:\s*)?"
)
_NOTHING: Final[Mapping[str, JsonValue]] = {}


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One thing that a log says. `time_ms` is Unix time in milliseconds by the clock of whoever wrote it."""

    time_ms: int
    key: str
    value: JsonValue = None
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ParsedLog:
    """Records in the order of the log, each once; `broken` are numbers (from 1) of unreadable lines."""

    records: tuple[LogRecord, ...]
    system: Mapping[str, JsonValue] | None
    broken: tuple[int, ...]


def parse_log(text: str) -> ParsedLog:
    """Everything that is legible in a log; other output between the records is passed over."""
    records: dict[str, LogRecord] = {}
    system: Mapping[str, JsonValue] | None = None
    broken: list[int] = []
    for number, line in enumerate(text.splitlines(), start=1):
        for form, rest in _parts(line):
            try:
                if form == "SYSJSON":
                    described = _value(rest)
                    system = described if isinstance(described, dict) else system
                else:
                    for record in _read(form, rest):
                        # Log handlers that are configured twice write each record twice.
                        records.setdefault(_mark(record), record)
            except (ValueError, RecursionError):
                broken.append(number)
    return ParsedLog(tuple(records.values()), system, tuple(dict.fromkeys(broken)))


def _parts(line: str) -> Iterator[tuple[str, str]]:
    """Format and rest of the line for each prefix in it."""
    for pattern in (_PREFIX, _PREFIX_WITHOUT_SPACE):
        for match in pattern.finditer(line):
            yield match["format"], line[match.end() :]


def _read(form: str, rest: str) -> Iterator[LogRecord]:
    if form == "MLLOG":
        yield _modern(_value(rest))
    elif form.startswith("MLP"):
        yield from _version_05(rest)
    else:
        yield _version_06(rest)


def _modern(given: JsonValue) -> LogRecord:
    if not isinstance(given, dict):
        raise ValueError("no object")
    time_ms, key, metadata = given.get("time_ms"), given.get("key"), given.get("metadata")
    if isinstance(time_ms, bool) or not isinstance(time_ms, int | float) or not isinstance(key, str):
        raise ValueError("no time or no key")
    return LogRecord(int(time_ms), key, given.get("value"), metadata if isinstance(metadata, dict) else {})


def _version_06(rest: str) -> LogRecord:
    match = _V06.match(rest)
    if match is None:
        raise ValueError("no time or no key")
    given = _value(rest[match.end() :])
    members = given if isinstance(given, dict) else {}
    metadata = members.get("metadata")
    return LogRecord(
        _milliseconds(match["seconds"]),
        match["key"],
        members.get("value"),
        metadata if isinstance(metadata, dict) else {},
    )


def _version_05(rest: str) -> Iterator[LogRecord]:
    """The record, and which benchmark it is of: this format says it on every line."""
    match = _V05.match(rest)
    if match is None:
        raise ValueError("no time or no key")
    time_ms = _milliseconds(match["seconds"])
    value = _value(rest[match.end() :]) if match["colon"] else None
    metadata: Mapping[str, JsonValue] = _NOTHING
    if match["key"] == "eval_accuracy" and isinstance(value, dict) and "value" in value:
        metadata = {"epoch_num": value["epoch"]} if "epoch" in value else {}
        value = value["value"]
    yield LogRecord(0, "submission_benchmark", match["benchmark"])
    yield LogRecord(time_ms, match["key"], value, metadata)


def _milliseconds(seconds: str) -> int:
    return round(float(seconds) * 1000)


def _value(text: str) -> JsonValue:
    """The JSON value that `text` begins with: other output may follow it on the line."""
    value: JsonValue
    value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    return value


def _mark(record: LogRecord) -> str:
    return json.dumps([record.time_ms, record.key, record.value, record.metadata], sort_keys=True)
