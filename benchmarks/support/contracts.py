"""A table of trips, 23 checks on it, and the same statistics asked of DuckDB by hand; each run in its own process.

`python -m benchmarks.support.contracts checks|raw FILE BASELINE` prints {"seconds", "processor_seconds", "bytes"}:
imports do not count in the times, everything counts in the greatest resident memory.
"""

import hashlib
import json
import os
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

MEMORY_BYTES: Final = 1_000_000_000
TEMP_BYTES: Final = 50_000_000_000
THREADS: Final = 2
AS_OF: Final = datetime(2026, 5, 1, tzinfo=UTC)
COLUMNS: Final = """
    range AS id,
    1 + (hash(range, 1) % 3)::INTEGER AS vendor,
    TIMESTAMP '2026-01-01' + INTERVAL (hash(range, 2) % 10000000) SECOND AS pickup,
    TIMESTAMP '2026-01-01' + INTERVAL (hash(range, 3) % 10000000) SECOND AS dropoff,
    CASE WHEN hash(range, 4) % 50 = 0 THEN NULL ELSE (hash(range, 5) % 6)::INTEGER END AS passengers,
    (hash(range, 6) % 1000000) / 20000.0::DOUBLE AS distance,
    1 + (hash(range, 7) % 6)::INTEGER AS rate,
    CASE WHEN hash(range, 8) % 100 = 0 THEN 'Y' ELSE 'N' END AS flag,
    (hash(range, 9) % 265)::INTEGER AS origin,
    (hash(range, 10) % 265)::INTEGER AS destination,
    1 + (hash(range, 11) % 4)::INTEGER AS payment,
    (hash(range, 12) % 100000) / 1000.0::DOUBLE AS fare,
    (hash(range, 13) % 20000) / 1000.0::DOUBLE AS tip,
    (hash(range, 14) % 200000) / 1000.0::DOUBLE AS total,
    CASE WHEN hash(range, 15) % 3 = 0 THEN NULL ELSE 2.5::DOUBLE END AS surcharge
"""
"""15 columns that any machine makes alike."""
FLOATS: Final = ("distance", "fare", "tip", "total", "surcharge")
QUANTILES: Final = (0.05, 0.5, 0.95)


def make_trips(path: Path, rows: int) -> None:
    """Writes the table as Parquet."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET memory_limit = '2GB'")
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"COPY (SELECT {COLUMNS} FROM range({rows})) TO '{path}' (FORMAT parquet)")


def checks() -> list[dict[str, Any]]:
    """Of each sort some: nulls, keys, ranges, sets, texts, statistics, freshness, shares and drift."""
    column = "expect_column"
    listed: list[tuple[str, dict[str, Any]]] = [
        (f"{column}_values_to_not_be_null", {"column": "id"}),
        (f"{column}_values_to_be_unique", {"column": "id"}),
        ("expect_int64_values_to_be_between", {"column": "id", "min": "0", "max": str(2**60)}),
        (f"{column}_values_to_be_in_set", {"column": "vendor", "value_set": [1, 2, 3]}),
        ("expect_label_shares_to_match_baseline", {"column": "vendor", "max_difference": 0.1}),
        (
            f"{column}_values_to_be_between",
            {"column": "pickup", "min_value": "2026-01-01", "max_value": "2026-12-31"},
        ),
        ("expect_age_to_be_at_most", {"column": "pickup", "max_seconds": 10**7, "time_zone": "UTC"}),
        (
            f"{column}_values_to_be_between",
            {"column": "passengers", "min_value": 0, "max_value": 4, "mostly": 0.5},
        ),
        ("expect_null_share_to_be_at_most", {"column": "passengers", "max": 0.1}),
        (f"{column}_values_to_be_between", {"column": "distance", "min_value": 0, "max_value": 50}),
        (f"{column}_mean_to_be_between", {"column": "distance", "min_value": 20, "max_value": 30}),
        (
            "expect_quantiles_to_be_between",
            {"column": "distance", "quantiles": list(QUANTILES), "ranges": [[0, 5], [20, 30], [40, 50]]},
        ),
        (f"{column}_values_to_be_in_set", {"column": "rate", "value_set": [1, 2, 3, 4, 5, 6]}),
        (f"{column}_values_to_match_regex", {"column": "flag", "regex": "^[YN]$"}),
        (f"{column}_value_lengths_to_equal", {"column": "flag", "value": 1}),
        (f"{column}_values_to_be_between", {"column": "origin", "min_value": 0, "max_value": 264}),
        (
            f"{column}_unique_value_count_to_be_between",
            {"column": "destination", "min_value": 1, "max_value": 265},
        ),
        ("expect_label_shares_to_match_baseline", {"column": "payment", "max_difference": 0.1}),
        (f"{column}_values_to_be_between", {"column": "fare", "min_value": 0, "max_value": 100}),
        (f"{column}_stdev_to_be_between", {"column": "fare", "min_value": 20, "max_value": 40}),
        ("expect_population_stability_index_to_be_at_most", {"column": "fare", "max": 0.1}),
        ("expect_binned_ks_to_be_at_most", {"column": "tip", "max": 0.1}),
        (f"{column}_mean_to_be_between", {"column": "total", "min_value": 90, "max_value": 110}),
    ]
    return [
        {"id": f"check {place}", "type": kind, "kwargs": kwargs, "blocking": True, "severity": "error"}
        for place, (kind, kwargs) in enumerate(listed)
    ]


def run_engine(path: Path, baseline: dict[str, Any]) -> dict[str, Any]:
    """The result body of all checks on the file."""
    from gates.contracts.engine.opened import Limits, OpenFile
    from gates.contracts.engine.running import run_checks

    suite = {
        "objects": [{"name": "", "columns": None, "checks": checks(), "not_evaluated": []}],
        "waived": [],
    }
    # The worker hashes while it opens; that is not the engine's time.
    digest = hashlib.sha256(b"").hexdigest()
    descriptor = os.open(path, os.O_RDONLY)
    with tempfile.TemporaryDirectory() as folder:
        files = [OpenFile("trips.parquet", descriptor, path.stat().st_size, digest)]
        limits = Limits(MEMORY_BYTES, THREADS, Path(folder), TEMP_BYTES)
        return run_checks(
            suite, "", files, "parquet", baseline, {}, AS_OF, limits, False, lambda done, total, text: None
        )


def run_raw(path: Path, baseline: dict[str, Any]) -> list[Any]:
    """What a person would ask DuckDB for the same answers: one pass of aggregates, and four groupings."""
    import duckdb

    described = {column["name"]: column for column in baseline["columns"]}
    inside = {
        "pickup": "'2026-01-01' AND '2026-12-31'",
        "passengers": "0 AND 4",
        "distance": "0 AND 50",
        "origin": "0 AND 264",
        "fare": "0 AND 100",
        "id": f"0 AND {2**60}",
    }
    asked = ["count(*)", *(f"count({name})" for name in ("id", "vendor", "passengers", "surcharge", "flag"))]
    asked += [f"count_if({name} NOT BETWEEN {bounds})" for name, bounds in inside.items()]
    asked += [f"count_if(isnan({name}))" for name in FLOATS]
    asked += [
        "count_if(vendor NOT IN (1, 2, 3))",
        "count_if(rate NOT IN (1, 2, 3, 4, 5, 6))",
        "count_if(NOT regexp_matches(flag, '^[YN]$'))",
        "count_if(length(flag) <> 1)",
        "max(pickup)",
        "avg(distance)",
        "avg(total)",
        "stddev_samp(fare)",
        f"quantile_cont(distance, {list(QUANTILES)})",
        "count(DISTINCT destination)",
    ]
    for name in ("fare", "tip"):
        asked += [f"count_if({name} < {edge})" for edge in described[name]["bins"]["edges"]]
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '{MEMORY_BYTES}B'")
        connection.execute(f"SET threads = {THREADS}")
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"SET temp_directory = '{folder}'")
        source = f"read_parquet('{path}')"
        found: list[Any] = connection.execute(f"SELECT {', '.join(asked)} FROM {source}").fetchall()
        repeated = f"SELECT count(*) FROM (SELECT id FROM {source} GROUP BY id HAVING count(*) > 1)"
        found += connection.execute(repeated).fetchall()
        for name in ("vendor", "payment"):
            found += connection.execute(f"SELECT {name}, count(*) FROM {source} GROUP BY {name}").fetchall()
    return found


def make_baseline_of(path: Path) -> dict[str, Any]:
    from gates.contracts.engine.baselines import make_baseline
    from gates.contracts.engine.opened import Limits, OpenFile

    descriptor = os.open(path, os.O_RDONLY)
    with tempfile.TemporaryDirectory() as folder:
        files = [OpenFile("trips.parquet", descriptor, path.stat().st_size, hashlib.sha256(b"").hexdigest())]
        limits = Limits(MEMORY_BYTES, THREADS, Path(folder), TEMP_BYTES)
        return make_baseline(files, "parquet", ["fare", "tip"], ["vendor", "payment"], 10, limits)


def main() -> None:
    way, path, baseline = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if way == "baseline":
        baseline.write_text(json.dumps(make_baseline_of(path)))
        return
    pinned = json.loads(baseline.read_text())
    if way == "checks":
        import gates.contracts.engine.running  # noqa: F401
    else:
        import duckdb  # noqa: F401
    began, spent = time.perf_counter(), time.process_time()
    answer = run_engine(path, pinned) if way == "checks" else run_raw(path, pinned)
    seconds, spent = time.perf_counter() - began, time.process_time() - spent
    if isinstance(answer, dict) and answer["outcome"] != "passed":
        raise SystemExit(f"the checks did not pass: {json.dumps(answer['checks'])[:3000]}")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "processor_seconds": spent, "bytes": most}))


if __name__ == "__main__":
    main()
