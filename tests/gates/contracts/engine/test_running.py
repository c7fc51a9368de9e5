"""How a run reads its files: by descriptor, as often as asked, each run by itself."""

import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from gates.contracts.engine.running import run_checks
from gates.contracts.engine.warming import warm_up
from tests.gates.contracts.engine.support import (
    AS_OF,
    as_parquet,
    check,
    found,
    limits,
    opened,
    outcomes,
    run,
    suite,
)


def test_descriptor_is_read_whatever_its_name_has_become(tmp_path: Path) -> None:
    with opened(tmp_path, as_parquet(pa.table({"a": [1, 2, 3]}))) as files:
        for path in tmp_path.glob("*.data"):
            path.unlink()
        bounds = limits(tmp_path)
        result = run_checks(suite([]), "trips", files, "parquet", None, {}, AS_OF, bounds, False, _ignored)
    assert outcomes(result) == {"row_count_at_least_one": "passed"}


def test_several_files_are_one_table_when_their_schemas_agree(tmp_path: Path) -> None:
    count = [check("expect_table_row_count_to_equal", value=5)]
    one, two = pa.table({"a": [1, 2, 3]}), pa.table({"a": [4, 5]})
    for second, outcome in ((two, "passed"), (two.rename_columns(["b"]), "error")):
        with opened(tmp_path, as_parquet(one)) as first, opened(tmp_path, as_parquet(second)) as others:
            files = [first[0], _renamed(others[0])]
            bounds = limits(tmp_path)
            result = run_checks(
                suite(count), "trips", files, "parquet", None, {}, AS_OF, bounds, False, _ignored
            )
        assert outcomes(result)["c"] == outcome


def test_runs_in_parallel_keep_to_their_own_data(tmp_path: Path) -> None:
    """Eight threads over one shared asset gave wrong answers; each run here has a context of its own."""
    answers: dict[int, Any] = {}

    def work(number: int) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        data = as_parquet(pa.table({"a": [number] * (number + 1)}))
        mean = check("expect_column_mean_to_be_between", column="a", min_value=number, max_value=number)
        answers[number] = run(folder, data, [mean])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {n: (found(answers[n])["observed"], answers[n]["data"]["rows"]) for n in range(4)} == {
        n: (n, n + 1) for n in range(4)
    }


def test_object_that_the_suite_lacks_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path, as_parquet(pa.table({"a": [1]}))) as files, pytest.raises(KeyError, match="trips"):
        run_checks(suite([]), "orders", files, "parquet", None, {}, AS_OF, limits(tmp_path), False, _ignored)


def test_progress_ends_with_all_checks_done(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    mean = check("expect_column_mean_to_be_between", column="a", min_value=1)
    with opened(tmp_path, as_parquet(pa.table({"a": [1]}))) as files:
        bounds = limits(tmp_path)
        run_checks(
            suite([mean]), "trips", files, "parquet", None, {}, AS_OF, bounds, False,
            lambda done, total, text: seen.append((done, total)),
        )  # fmt: skip
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (2, 2)


def test_too_little_memory_is_an_error_and_never_passes(tmp_path: Path) -> None:
    from gates.contracts.engine.opened import Limits

    table = pa.table({"a": [f"{n:0200d}" for n in range(100_000)]})
    unique = check("expect_column_values_to_be_unique", column="a")
    with opened(tmp_path, as_parquet(table)) as files:
        bounds = Limits(4_000_000, 1, limits(tmp_path).temp_folder, 2**30)
        result = run_checks(
            suite([unique]), "trips", files, "parquet", None, {}, AS_OF, bounds, False, _ignored
        )
    assert outcomes(result)["c"] == "error"


def test_warming_runs_every_part() -> None:
    assert warm_up() == "passed"


def _ignored(done: int, total: int, text: str) -> None:
    """Progress that nobody reads."""


def _renamed(file: Any) -> Any:
    return type(file)("trips/part-1", file.fd, file.size, file.sha256)
