import math
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import cast

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from shipworthy.formats.jcs import (
    MAX_DEPTH,
    MAX_SAFE_INTEGER,
    CanonicalizationError,
    JsonValue,
    canonicalize,
)
from tests.support.json_values import numbers, values


@given(values)
@settings(max_examples=200, deadline=None)
def test_canonicalize_equals_the_reference_package(value: JsonValue) -> None:
    # The package types its argument more narrowly than it accepts.
    assert canonicalize(value) == rfc8785.dumps(cast("dict[str, rfc8785._impl._Value]", value))


@given(numbers)
@settings(max_examples=1500, deadline=None)
def test_canonicalize_writes_numbers_as_ecmascript_does(number: float) -> None:
    assert canonicalize([number]) == rfc8785.dumps([number])


@pytest.mark.parametrize(
    ("number", "text"),
    [
        # RFC 8785 appendix B.
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (-5e-324, "-5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740992.0, "9007199254740992"),
        (-9007199254740992.0, "-9007199254740992"),
        (295147905179352830000.0, "295147905179352830000"),
        (9.999999999999997e22, "9.999999999999997e+22"),
        (1e23, "1e+23"),
        (999999999999999700000.0, "999999999999999700000"),
        (1e21, "1e+21"),
        (9.999999999999997e-7, "9.999999999999997e-7"),
        (0.000001, "0.000001"),
        (333333333.33333325, "333333333.33333325"),
        (0.0001, "0.0001"),
        (3e-05, "0.00003"),
        (1e16, "10000000000000000"),
    ],
)
def test_canonicalize_matches_published_numbers(number: float, text: str) -> None:
    assert canonicalize(number) == text.encode()


def test_canonicalize_sorts_keys_by_utf16_units() -> None:
    # RFC 8785 section 3.2.3: the astral grinning face sorts before U+FB33, though its code point is larger.
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    ordered = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    expected = "{" + ",".join(f'"{key}":0' for key in ordered).replace("\r", "\\r") + "}"
    assert canonicalize(dict.fromkeys(keys, 0)) == expected.encode()


def test_canonicalize_takes_tuples_mappings_and_subclasses_as_their_plain_value() -> None:
    class Level(StrEnum):
        RUNNER = "trusted_runner"

    class Step(IntEnum):
        FIRST = 1

    class Loss(float):
        def __repr__(self) -> str:
            return "Loss!"

    value: JsonValue = MappingProxyType({"b": (Level.RUNNER, Step.FIRST), Level.RUNNER: Loss(0.5)})
    assert canonicalize(value) == b'{"b":["trusted_runner",1],"trusted_runner":0.5}'


def nested(depth: int) -> JsonValue:
    value: JsonValue = 0
    for _ in range(depth):
        value = [value]
    return value


def test_canonicalize_writes_the_deepest_allowed_nesting() -> None:
    assert canonicalize(nested(MAX_DEPTH)) == b"[" * MAX_DEPTH + b"0" + b"]" * MAX_DEPTH


def test_canonicalize_refuses_cyclic_values() -> None:
    cycle: list[JsonValue] = []
    cycle += [cycle, cycle]
    with pytest.raises(CanonicalizationError, match="deeper than 64 containers; flatten"):
        canonicalize(cycle)


@pytest.mark.parametrize(
    ("value", "path", "remedy"),
    [
        ({"a": [1.5, math.nan]}, "/a/1", "send null or leave it out"),
        ({"a": {"b": math.inf}}, "/a/b", "send null or leave it out"),
        (-math.inf, "", "send null or leave it out"),
        ([2**53], "/0", "send it as a string"),
        ({"x": -(2**53)}, "/x", "send it as a string"),
        ([10**5000], "/0", "send it as a string"),
        ({"a": {1: "x"}}, "/a", "keys of type int; make every key a string"),
        ({"a": [{"x": 1, None: 2}]}, "/a/0", "keys of type NoneType; make every key a string"),
        ({True: 1, 2.5: 2}, "", "keys of type bool, float; make every key a string"),
        ({"a~b/c": ["\ud800"]}, "/a~0b~1c/0", "send whole Unicode characters"),
        ({"a": {"\udfff": 1}}, "/a", "send whole Unicode characters"),
        ([0, b"bytes"], "/1", "is a Python bytes; use a string"),
        ({"tags": {"a"}}, "/tags", "is a Python set; use a string"),
        (object(), "", "is a Python object; use a string"),
        ([nested(MAX_DEPTH)], "/0" * MAX_DEPTH, "flatten the value"),
    ],
)
def test_canonicalize_refuses_with_path_and_remedy(value: object, path: str, remedy: str) -> None:
    with pytest.raises(CanonicalizationError, match=remedy) as caught:
        canonicalize(cast(JsonValue, value))
    assert caught.value.path == path
    assert str(caught.value).startswith(path or "the top-level value")


@given(st.integers(-(2**55), 2**55) | st.integers(2**53 - 3, 2**53 + 3))
def test_canonicalize_accepts_exactly_the_safe_integers(number: int) -> None:
    if abs(number) <= MAX_SAFE_INTEGER:
        assert canonicalize({"n": number}) == f'{{"n":{number}}}'.encode()
    else:
        with pytest.raises(CanonicalizationError):
            canonicalize({"n": number})
