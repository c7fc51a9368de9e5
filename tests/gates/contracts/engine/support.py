"""Real files, opened as a worker opens them, and suites as the compiler writes them."""

import hashlib
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from gates.contracts.engine.baselines import make_baseline
from gates.contracts.engine.opened import Format, Limits, OpenFile
from gates.contracts.engine.running import run_checks

AS_OF = datetime(2026, 5, 1, 12, tzinfo=UTC)
TABLES = Path(__file__).parents[3] / "data" / "tables"
Result = dict[str, Any]


def check(type_name: str, id: str = "c", **kwargs: Any) -> dict[str, Any]:
    """A compiled check that blocks."""
    return {
        "id": id,
        "type": type_name,
        "kwargs": kwargs,
        "blocking": True,
        "severity": "error",
        "dimension": None,
        "rule": f"/schema/0/quality/{id}",
        "description": None,
        "baseline": False,
    }


def suite(checks: Sequence[Mapping[str, Any]], **changes: Any) -> dict[str, Any]:
    """One object named `trips`; `columns`, `not_evaluated` and `waived` by name."""
    return {
        "schema": "shipworthy.suite/1",
        "compiler": "1",
        "format": "odcs",
        "objects": [
            {
                "name": "trips",
                "columns": changes.get("columns"),
                "checks": list(checks),
                "not_evaluated": changes.get("not_evaluated", []),
            }
        ],
        "baseline": None,
        "waived": changes.get("waived", []),
    }


def as_parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def as_csv(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pyarrow.csv.write_csv(table, sink, pyarrow.csv.WriteOptions(quoting_style="needed"))
    return sink.getvalue()


def written(table: pa.Table, format: Format) -> bytes:
    return as_parquet(table) if format == "parquet" else as_csv(table)


@contextmanager
def opened(folder: Path, data: bytes) -> Iterator[list[OpenFile]]:
    """The bytes as one open file."""
    path = folder / f"{hashlib.sha256(data).hexdigest()[:16]}.data"
    path.write_bytes(data)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield [OpenFile("trips/part-0", descriptor, len(data), hashlib.sha256(data).hexdigest())]
    finally:
        os.close(descriptor)


def limits(folder: Path) -> Limits:
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    return Limits(2**30, 2, temporary, 2**30)


def run(
    folder: Path,
    data: bytes,
    checks: Sequence[Mapping[str, Any]],
    format: Format = "parquet",
    *,
    baseline: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    as_of: datetime = AS_OF,
    allow_sql: bool = False,
    **changes: Any,
) -> Result:
    with opened(folder, data) as files:
        return run_checks(
            suite(checks, **changes),
            "trips",
            files,
            format,
            baseline,
            parameters or {},
            as_of,
            limits(folder),
            allow_sql,
            lambda done, total, text: None,
        )


def baseline_of(
    folder: Path,
    data: bytes,
    format: Format = "parquet",
    *,
    numbers: Sequence[str] = (),
    labels: Sequence[str] = (),
) -> Result:
    with opened(folder, data) as files:
        return make_baseline(files, format, numbers, labels, 10, limits(folder))


def outcomes(result: Result) -> dict[str, str]:
    return {each["id"]: each["outcome"] for each in result["checks"]}


def found(result: Result, id: str = "c") -> Result:
    """The one result of that id."""
    (only,) = [each for each in result["checks"] if each["id"] == id]
    answer: Result = only
    return answer
