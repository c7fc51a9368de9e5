"""What a check may write beside its memory: it spills, and all its files together never pass the limit."""

from pathlib import Path

import pyarrow as pa
import pytest

from gates.contracts.engine.opened import Limits
from gates.contracts.engine.running import run_checks
from tests.gates.contracts.engine.support import AS_OF, as_parquet, check, opened, outcomes, suite

MEMORY_BYTES = 48_000_000


@pytest.mark.parametrize(("temp_bytes", "outcome"), [(2**30, "passed"), (1_000_000, "error")])
def test_check_that_does_not_fit_into_memory_spills_up_to_its_limit(
    tmp_path: Path, temp_bytes: int, outcome: str
) -> None:
    table = pa.table({"a": [f"{n:0200d}" for n in range(300_000)]})
    unique = check("expect_column_values_to_be_unique", column="a")
    bounds = Limits(MEMORY_BYTES, 1, tmp_path, temp_bytes)
    with opened(tmp_path, as_parquet(table)) as files:
        result = run_checks(
            suite([unique]), "trips", files, "parquet", None, {}, AS_OF, bounds, False, lambda *_: None
        )
    assert outcomes(result)["c"] == outcome, result
