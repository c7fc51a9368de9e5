"""The one way in which a number of the evidence reaches a criterion.

NaN compares false with everything, true equals 1, and JSON readers make inf of 1e999: each of them has let releases
pass elsewhere. What is not plainly a finite number in its range is no value, and says so.
"""

import math
from typing import Final

from shipworthy.formats.decision_rule import State


class Unusable(Exception):
    """A fact can't be used. `code` is stable; `str()` is a sentence for people. `inputs` are (role, record digest) of
    what was read before that showed."""

    def __init__(
        self, code: str, sentence: str, state: State | None = None, inputs: tuple[tuple[str, str], ...] = ()
    ) -> None:
        super().__init__(sentence)
        self.code = code
        self.state = state
        self.inputs = inputs


LARGEST: Final = 1e150
"""Beyond it squares become infinite."""


def admit(value: object, name: str, low: float = -LARGEST, high: float = LARGEST) -> float:
    """The number as a float, low ≤ number ≤ high.

    Raises Unusable("no_number") for whatever is absent, null, true, false, text, a list, NaN, infinite, too large for
    a float, or out of range. `name` is what the sentence calls it.
    """
    # Exact types: a bool is an int, and subclasses may compare as they like.
    if value is None:
        raise Unusable("no_number", f"{name} has no value.")
    if type(value) is not int and type(value) is not float:
        raise Unusable("no_number", f"{name} is {_kind(value)}, not a number.")
    try:
        number = float(value)
    except OverflowError:
        raise Unusable("no_number", f"{name} is larger than a number can be.") from None
    if math.isnan(number):
        raise Unusable("no_number", f"{name} is NaN, not a number.")
    if not low <= number <= high:
        raise Unusable("no_number", f"{name} is {number:g}, which lies outside {_range(low, high)}.")
    return number


def admit_count(value: object, name: str, low: int = 0, high: int = 2**53 - 1) -> int:
    """A whole number, low ≤ number ≤ high; raises Unusable as `admit` does, also for 3.5 and 3.0."""
    number = admit(value, name, low, high)
    if type(value) is not int:
        raise Unusable("no_number", f"{name} is {number:g}, not a whole number.")
    return value


def _kind(value: object) -> str:
    kinds = {bool: "true or false", str: "text", list: "a list", tuple: "a list", dict: "a mapping"}
    return kinds.get(type(value), "something else")


def _range(low: float, high: float) -> str:
    if high >= LARGEST:
        return "what can be computed with" if low <= -LARGEST else f"{low:g} and more"
    return f"{low:g} to {high:g}"
