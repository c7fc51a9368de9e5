"""Runs in one process share what Great Expectations was set up with, and nothing of each other's data."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa

from tests.gates.contracts.engine.support import as_parquet, check, outcomes, run

BETWEEN = "expect_column_values_to_be_between"


def test_checks_of_one_type_on_one_column_are_each_judged(tmp_path: Path) -> None:
    checks = [
        check(BETWEEN, id="wide", column="n", min_value=0, max_value=100),
        check(BETWEEN, id="narrow", column="n", min_value=0, max_value=10),
        check(BETWEEN, id="lenient", column="n", min_value=0, max_value=10, mostly=0.1),
    ]
    result = run(tmp_path, as_parquet(pa.table({"n": range(100)})), checks)
    found = outcomes(result)
    assert [found[id] for id in ("wide", "narrow", "lenient")] == ["passed", "failed", "passed"]
    (narrow,) = [each for each in result["checks"] if each["id"] == "narrow"]
    assert (narrow["unexpected"], narrow["rows"]) == (89, 100)


def test_tables_one_after_another_and_at_once_keep_their_columns_and_answers(tmp_path: Path) -> None:
    def outcome(number: int) -> tuple[str, str]:
        folder = tmp_path / str(number)
        folder.mkdir()
        name = f"column {number % 3}"
        values = [*range(50), None] if number % 2 else range(51)
        checks = [
            check("expect_column_values_to_not_be_null", id="full", column=name),
            check(BETWEEN, id="range", column=name, max_value=50),
        ]
        found = outcomes(run(folder, as_parquet(pa.table({name: values})), checks))
        return found["full"], found["range"]

    wanted = [("failed" if number % 2 else "passed", "passed") for number in range(12)]
    assert [outcome(number) for number in range(4)] == wanted[:4]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(outcome, range(4, 12))) == wanted[4:]
