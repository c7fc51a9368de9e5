"""The one way in for numbers."""

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates.release.numbers import Unusable, admit, admit_count


class Sly(float):
    def __le__(self, other: object) -> bool:
        return True


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "has no value"),
        (True, "is true or false, not a number"),
        (False, "is true or false, not a number"),
        ("0.95", "is text, not a number"),
        ([0.95], "is a list, not a number"),
        ((0.95,), "is a list, not a number"),
        ({}, "is a mapping, not a number"),
        (Decimal("0.95"), "is something else, not a number"),
        (Sly(0.95), "is something else, not a number"),
        (math.nan, "is NaN, not a number"),
        (math.inf, "is inf, which lies outside 0 to 1"),
        (-math.inf, "is -inf, which lies outside 0 to 1"),
        (10**400, "is larger than a number can be"),
        (-(10**400), "is larger than a number can be"),
        (1.0000001, "is 1, which lies outside 0 to 1"),
        (-0.5, "is -0.5, which lies outside 0 to 1"),
    ],
)
def test_what_is_not_plainly_a_number_in_its_range_is_no_value(value: Any, said: str) -> None:
    with pytest.raises(Unusable) as refused:
        admit(value, "roc_auc", 0, 1)
    assert refused.value.code == "no_number"
    assert str(refused.value) == f"roc_auc {said}."


@given(st.floats(0, 1) | st.integers(0, 1))
def test_a_number_in_its_range_is_let_in_as_it_is(value: float) -> None:
    admitted = admit(value, "roc_auc", 0, 1)
    assert admitted == value
    assert type(admitted) is float


@given(st.integers(-(10**200), 10**200) | st.floats())
def test_squares_of_what_is_let_in_are_finite(value: float) -> None:
    try:
        admitted = admit(value, "a difference")
    except Unusable:
        return
    assert math.isfinite(admitted * admitted)


@pytest.mark.parametrize("value", [math.inf, 1e151, -1e151])
def test_without_a_range_whatever_can_be_computed_with_is_let_in(value: float) -> None:
    assert admit(-1e150, "a number") == -1e150
    with pytest.raises(Unusable, match="outside what can be computed with"):
        admit(value, "a number")
    with pytest.raises(Unusable, match="outside 0 and more"):
        admit(-abs(value), "a number", 0)


@pytest.mark.parametrize("value", [3.0, 3.5, True, "3", None, math.nan, -1, 2**53])
def test_a_count_is_a_whole_number(value: Any) -> None:
    assert admit_count(2**53 - 1, "n") == 2**53 - 1
    assert admit_count(0, "n") == 0
    with pytest.raises(Unusable):
        admit_count(value, "n")


def test_a_count_says_what_is_wrong() -> None:
    with pytest.raises(Unusable, match=r"n is 3\.5, not a whole number\."):
        admit_count(3.5, "n")
    with pytest.raises(Unusable, match="n is 4, which lies outside 1 to 3"):
        admit_count(4, "n", 1, 3)
    with pytest.raises(Unusable, match="n is 0, which lies outside 1 to 3"):
        admit_count(0, "n", 1, 3)
