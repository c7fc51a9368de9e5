"""Freshness as the age of the newest time, at the instant that a check says it is of."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.gates.contracts.engine.support import as_parquet, check, found, run


def test_age_is_counted_at_the_instant_of_the_check(tmp_path: Path) -> None:
    """The check is of 2026-05-01T12:00Z."""
    at = datetime(2026, 5, 1, 11, tzinfo=UTC)
    zoned = pa.timestamp("us", "UTC")
    table = pa.table(
        {
            "aware": pa.array([at, None], zoned),
            "naive": pa.array([at, None], pa.timestamp("ns")),
            "day": pa.array([at.date(), None], pa.date32()),
            "future": pa.array([at.replace(hour=12, minute=10), None], zoned),
            "empty": pa.array([None, None], zoned),
            "text": ["2026-05-01", None],
        }
    )
    asked: list[tuple[dict[str, Any], str, float | None]] = [
        ({"column": "aware", "max_seconds": 3600}, "passed", 3600),
        ({"column": "aware", "max_seconds": 3599}, "failed", 3600),
        ({"column": "naive", "max_seconds": 3600}, "error", None),
        ({"column": "naive", "max_seconds": 3600, "time_zone": "Europe/Berlin"}, "failed", 10800),
        ({"column": "naive", "max_seconds": 3600, "time_zone": "Mars/North"}, "error", None),
        ({"column": "day", "max_seconds": 86400, "time_zone": "UTC"}, "passed", 43200),
        ({"column": "future", "max_seconds": 3600}, "failed", -600),
        ({"column": "future", "max_seconds": 3600, "future_tolerance_seconds": 600}, "passed", -600),
        ({"column": "empty", "max_seconds": 3600}, "failed", None),
        ({"column": "text", "max_seconds": 3600}, "error", None),
    ]
    checks = [check("expect_age_to_be_at_most", str(n), **kwargs) for n, (kwargs, _, _) in enumerate(asked)]
    result = run(tmp_path, as_parquet(table), checks)
    for number, (kwargs, outcome, age) in enumerate(asked):
        answer = found(result, str(number))
        assert (answer["outcome"], answer["observed"]) == (outcome, age), kwargs
