"""Does everything once on three rows, so that a process forked from this one starts where others are after a run."""

import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from gates.contracts.engine.opened import Limits, OpenFile
from gates.contracts.engine.running import run_checks

_MEMORY_BYTES: Final = 2**28


def warm_up() -> str:
    """The outcome of a small run, "passed". It may be forked after: DuckDB's threads have ended with its connection,
    and a child starts Arrow's pools anew."""
    sink = io.BytesIO()
    table = pa.table({"number": [1.0, 2.0, 3.0], "label": ["a", "b", "b"]})
    pq.write_table(table, sink)
    data = sink.getvalue()
    kwargs: list[tuple[str, dict[str, Any]]] = [
        ("expect_column_values_to_be_between", {"column": "number", "min_value": 0}),
        ("expect_column_values_to_match_regex", {"column": "label", "regex": "."}),
        ("expect_column_values_to_be_unique", {"column": "number"}),
        ("expect_column_mean_to_be_between", {"column": "number", "min_value": 0}),
    ]
    checks = [{"id": kind, "type": kind, "kwargs": each} for kind, each in kwargs]
    suite = {"objects": [{"name": "", "columns": None, "checks": checks}]}
    descriptor = os.memfd_create("warming")
    try:
        os.write(descriptor, data)
        file = OpenFile("warming.parquet", descriptor, len(data), "0" * 64)
        with _temporary_folder() as folder:
            limits = Limits(_MEMORY_BYTES, 1, Path(folder), _MEMORY_BYTES)
            as_of = datetime(2026, 1, 1, tzinfo=UTC)
            result = run_checks(
                suite, "", [file], "parquet", None, {}, as_of, limits, False, lambda done, total, text: None
            )
    finally:
        os.close(descriptor)
    return str(result["outcome"])


@contextmanager
def _temporary_folder() -> Iterator[str]:
    """Takes all temporary files: Great Expectations would leave a folder for each of its contexts."""
    before = tempfile.tempdir
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        try:
            yield folder
        finally:
            tempfile.tempdir = before
