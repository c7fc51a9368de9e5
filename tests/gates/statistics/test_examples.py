"""Blobs of per-example results: what is read, and what is refused with which sentence."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest

from gates.statistics.bodies import MAX_EXAMPLES_BYTES
from gates.statistics.examples import Task, read_examples
from gates.statistics.refusals import StatisticsRefused
from tests.gates.statistics.tables import Json, binary_columns, write


def read(folder: Path, columns: Json, task: Task = "binary", threshold: float = 0.5) -> Any:
    blob = write(folder, columns)
    return read_examples(blob.path, blob.size, task, threshold)


def small(**changed: Any) -> Json:
    """Four rows; a column is left out by None."""
    columns = {"id": ["a", "b", "c", "d"], "label": [0, 1, 1, 0], "score": [0.1, 0.9, 0.5, 0.4]}
    return {name: column for name, column in (columns | changed).items() if column is not None}


def test_score_becomes_a_prediction_at_the_threshold_of_the_attempt(tmp_path: Path) -> None:
    assert read(tmp_path, small()).prediction.tolist() == [0, 1, 1, 0]
    assert read(tmp_path, small(), threshold=0.51).prediction.tolist() == [0, 1, 0, 0]


def test_parquet_arrow_file_and_arrow_stream_are_read_alike(tmp_path: Path) -> None:
    columns = binary_columns(50)
    first = read(tmp_path, columns)
    table = pa.table(columns)
    writers: list[Callable[..., Any]] = [pa.ipc.new_file, pa.ipc.new_stream]
    for number, new in enumerate(writers):
        path = tmp_path / f"{number}.arrow"
        with new(str(path), table.schema) as writer:
            writer.write_table(table)
        other = read_examples(str(path), path.stat().st_size, "binary", 0.5)
        assert other.ids.equals(first.ids)
        assert other.score is not None
        assert np.array_equal(other.score, first.score)
        assert other.slices["country"][1] == first.slices["country"][1] == ("DE", "NO", "SE")
        assert np.array_equal(other.slices["country"][0], first.slices["country"][0])
        assert np.array_equal(other.values["latency_ms"], first.values["latency_ms"])


def test_dictionary_columns_and_other_widths_are_read(tmp_path: Path) -> None:
    columns = small(
        id=pa.array([3, 4, 1, 2], pa.uint8()),
        label=pa.array([False, True, True, False]),
        score=pa.array([0.1, 0.9, 0.5, 0.4], pa.float32()),
        **{"slice.s": pa.array(["x", "y", "x", "y"]).dictionary_encode()},
    )
    found = read(tmp_path, columns)
    assert found.label.tolist() == [0, 1, 1, 0]
    assert found.slices["s"][0].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"id": ["a", "b", "c", "a"]}, "id holds an id twice"),
        ({"id": ["a", "b", None, "d"]}, "id holds nulls"),
        ({"id": [0.5, 1.5, 2.5, 3.5]}, "give texts or integers"),
        ({"id": None}, "no column id"),
        ({"label": None}, "no column label"),
        ({"label": [0, 1, 2, 0]}, "other integers than 0 and 1"),
        ({"label": [0, 1, None, 0]}, "label holds nulls"),
        ({"label": [0.0, 1.0, 1.0, 0.0]}, "booleans or the integers"),
        ({"label": ["0", "1", "1", "0"]}, "booleans or the integers"),
        ({"score": [0.1, float("nan"), 0.5, 0.4]}, "score holds NaN"),
        ({"score": [0.1, float("inf"), 0.5, 0.4]}, "infinite"),
        ({"score": [0.1, None, 0.5, 0.4]}, "score holds nulls"),
        ({"score": [0, 1, 1, 0]}, "give floats"),
        ({"score": ["0.1", "0.9", "0.5", "0.4"]}, "give floats"),
        ({"score": None}, "neither score nor prediction"),
        ({"prediction": [1, 1, 1, 0]}, "prediction differs from score"),
        ({"value.ms": [1.0, None, 3.0, 4.0]}, "value.ms holds nulls"),
        ({"value.ms": ["1", "2", "3", "4"]}, "give numbers"),
        ({"value.ms": [2**53 + 1, 1, 2, 3]}, "does not fit"),
        ({"value.Latency": [1.0, 2.0, 3.0, 4.0]}, "is none of"),
        ({"slice.country": ["DE", "NO", None, "SE"]}, "slice.country holds nulls"),
        ({"slice.country": ["DE", "NO", "", "SE"]}, "empty text"),
        ({"slice.country": ["DE", "NO", "a\u202eb", "SE"]}, "control character"),
        ({"slice.country": [1, 2, 3, 4]}, "give texts"),
        ({"slice.country": ["x" * 257, "a", "b", "c"]}, "257 characters"),
        ({"slices.country": ["DE", "NO", "DE", "SE"]}, "'slices.country' is none of"),
        ({f"value.v{number}": [1.0] * 4 for number in range(17)}, "17 columns value.NAME"),
    ],
)
def test_table_with_anything_missing_or_strange_is_refused(
    tmp_path: Path, changed: Json, sentence: str
) -> None:
    with pytest.raises(StatisticsRefused, match=sentence):
        read(tmp_path, small(**changed))


def test_null_that_hides_in_a_dictionary_is_refused(tmp_path: Path) -> None:
    hidden = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 0]), pa.array(["DE", None]))
    path = tmp_path / "hidden.arrow"
    table = pa.table(small(**{"slice.country": hidden}))
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(StatisticsRefused, match=r"slice\.country holds nulls"):
        read_examples(str(path), path.stat().st_size, "binary", 0.5)


def test_score_of_a_class_must_be_a_probability_and_a_regression_has_none(tmp_path: Path) -> None:
    with pytest.raises(StatisticsRefused, match="from 0 to 1"):
        read(tmp_path, small(label=["x", "y", "y", "x"], score=[0.1, 1.5, 0.5, 0.4]), "multiclass")
    with pytest.raises(StatisticsRefused, match="name the column prediction"):
        read(tmp_path, small(label=[0.5, 1.5, 2.5, 0.1]), "regression")


def test_prediction_at_the_very_threshold_may_differ_by_rounding(tmp_path: Path) -> None:
    """0.3 as a 32-bit float is 0.30000001192…, so what was computed in 64 bits may lie on the other side."""
    columns = small(score=pa.array([0.1, 0.9, 0.3, 0.3], pa.float32()), prediction=[0, 1, 0, 1])
    assert read(tmp_path, columns, threshold=0.3).prediction.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    "data", [b"", b"PAR1", b"PAR1 and nothing more PAR1", b"ARROW1\0\0cut", b"\xff" * 40]
)
def test_bytes_that_are_no_table_are_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "blob"
    path.write_bytes(data)
    with pytest.raises(StatisticsRefused, match="no whole Parquet or Arrow IPC file"):
        read_examples(str(path), len(data), "binary", 0.5)


def test_arrow_file_whose_offsets_point_elsewhere_is_refused(tmp_path: Path) -> None:
    offsets = pa.py_buffer(np.array([0, 1, 2, 2**30, 4], np.int32).tobytes())
    ids = pa.StringArray.from_buffers(4, offsets, pa.py_buffer(b"abcd"))
    table = pa.table({"id": ids, "label": [0, 1, 1, 0], "score": [0.1, 0.9, 0.5, 0.4]})
    path = tmp_path / "bad.arrow"
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(StatisticsRefused):
        read_examples(str(path), path.stat().st_size, "binary", 0.5)


def test_sizes_are_bounded_before_anything_is_decoded(tmp_path: Path) -> None:
    with pytest.raises(StatisticsRefused, match="at most 268,435,456"):
        read_examples(str(tmp_path / "never opened"), MAX_EXAMPLES_BYTES + 1, "binary", 0.5)
    with pytest.raises(StatisticsRefused, match="0 rows"):
        read(tmp_path, {name: column[:0] for name, column in binary_columns(3).items()})


def test_no_message_quotes_a_value_of_the_data(tmp_path: Path) -> None:
    secret = "4111-1111-1111-1111"
    with pytest.raises(StatisticsRefused) as caught:
        read(tmp_path, small(id=[secret, secret, "c", "d"]))
    assert secret not in caught.value.reason
