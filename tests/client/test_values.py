"""Small parts: ids, values, lines, stretches, the progress bar."""

import io
import json
import math
import sys
import time
from enum import Enum
from pathlib import PurePosixPath

import pytest

from models.patterns import RUN_ID_PATTERN
from shipworthy.chunks import STRETCH_BYTES, make_chunk, read_stretch
from shipworthy.identity import is_run_id, new_run_id
from shipworthy.lines import log_line
from shipworthy.progress_bar import ProgressBar
from shipworthy.values import encode, first_line, plain


def test_run_ids_are_what_the_service_takes_and_sort_by_time() -> None:
    import re

    before = time.time_ns() // 1_000_000
    ids = [new_run_id() for _ in range(500)]
    assert all(re.match(RUN_ID_PATTERN, each) and is_run_id(each) for each in ids)
    assert len(set(ids)) == 500
    stamps = [int(each.replace("-", "")[:12], 16) for each in ids]
    assert stamps == sorted(stamps)
    assert before <= stamps[0] <= stamps[-1] <= time.time_ns() // 1_000_000


class Scalar:
    """As numpy and torch have them."""

    def __init__(self, value: object) -> None:
        self._value = value

    def item(self) -> object:
        if self._value is None:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self._value

    def __str__(self) -> str:
        return "tensor([1, 2])"


class Colour(Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
        (2**53, str(2**53)),
        (Scalar(1.5), 1.5),
        (Scalar(math.inf), "Infinity"),
        (Scalar(None), "tensor([1, 2])"),
        (Colour.RED, "red"),
        (PurePosixPath("a/b"), "a/b"),
        ({1: (1, 2), "s": {3}}, {"1": [1, 2], "s": [3]}),
    ],
)
def test_any_value_becomes_json(value: object, expected: object) -> None:
    assert plain(value) == expected


def test_value_that_holds_itself_ends() -> None:
    endless: list[object] = []
    endless.append(endless)
    assert len(encode(plain(endless))) < 2000


def test_text_that_is_not_unicode_is_sent_all_the_same() -> None:
    assert encode("\udc80") == b'"?"'
    assert first_line("a\x00b\nc") == "a b"


@pytest.mark.parametrize(
    "values",
    [
        {"loss": 0.1, "learning_rate": 3e-4, "step time": 1e22, "small": 5e-324, "zero": -0.0},
        {"count": 3, "tokens": 10**30, "below": -7},
        {'a "quoted" name': 1.5, "é\ud800\n": 2.0},
        {"flag": True, "none": None, "text": "x"},
        {},
    ],
)
def test_log_line_is_what_any_json_writer_makes_of_it(values: dict[str, object]) -> None:
    line = log_line(7, 1.5, values)
    assert line == b'{"log":{"step":7,"t":1.500,"values":%b}}\n' % encode(values)


def test_log_line_keeps_what_json_has_no_number_for() -> None:
    line = json.loads(log_line(3, 1700000000.1239, {"loss": math.nan, "ok": 1, "big": Scalar(2)}))
    assert line == {"log": {"step": 3, "t": 1700000000.124, "values": {"loss": "NaN", "ok": 1, "big": 2}}}
    assert json.loads(log_line(None, 0.0, {}))["log"]["step"] is None


def test_torn_lines_are_skipped_and_a_last_one_waits() -> None:
    whole = log_line(1, 0.0, {"a": 1})
    data = (
        whole
        + b'{"log":{"step":2,"t":0.0,"val\n'
        + b'{"kind":"run.ev\n'
        + b"\n"
        + whole
        + b'{"log":{"step":3'
    )
    stretch = read_stretch(io.BytesIO(data), 0, None)
    assert stretch is not None
    assert stretch.logs == [whole.rstrip(), whole.rstrip()]
    assert stretch.records == []
    assert data[stretch.end :] == b'{"log":{"step":3'
    assert read_stretch(io.BytesIO(data), stretch.end, None) is None


@pytest.mark.parametrize("text", ["a}}}b", 'a"}}}b', "a\\}}}b"])
def test_line_cut_within_its_braces_is_torn(text: str) -> None:
    whole = log_line(1, 0.0, {"text": text})
    torn = whole[: whole.index(b"}}}") + 3]
    stretch = read_stretch(io.BytesIO(torn + b"\n" + whole), 0)
    assert stretch is not None
    assert stretch.logs == [whole.rstrip()]


def test_line_longer_than_a_stretch_goes_alone() -> None:
    long = log_line(1, 0.0, {"text": "x" * STRETCH_BYTES})
    short = log_line(2, 0.0, {"a": 1})
    file = io.BytesIO(short + long + short)
    found, at = [], 0
    while (stretch := read_stretch(file, at, None)) is not None:
        found += [len(line) + 1 for line in stretch.logs]
        at = stretch.end
    assert found == [len(short), len(long), len(short)]


def test_chunks_of_the_same_lines_are_the_same_bytes() -> None:
    assert make_chunk([b"a", b"b"]) == make_chunk([b"a", b"b"])


def test_progress_bar_is_for_terminals_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown, hidden = Terminal(), io.StringIO()
    for stream in (shown, hidden):
        monkeypatch.setattr(sys, "stderr", stream)
        with ProgressBar("hashing model.bin", 100) as bar:
            bar.add(100)
    assert shown.getvalue().startswith("\rhashing model.bin")
    assert "100%" in shown.getvalue()
    assert hidden.getvalue() == ""
