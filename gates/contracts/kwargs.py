"""The kinds of values that expectations take: each check tells what is wrong, or None."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gates.contracts.partitions import partition_fault
from gates.contracts.regexes import why_not_re2
from gates.documents.pointers import Json, as_integer, as_number
from shipworthy.formats.jcs import MAX_SAFE_INTEGER

ValueCheck: TypeAlias = Callable[[Json], str | None]

_PARAMETER_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_DIGITS: Final = re.compile(r"-?[0-9]{1,40}")
MAX_ITEMS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Expectation:
    """What one expectation type accepts.

    `bounds`: at least one of them must be given, or the expectation passes on anything. `baseline`: it compares
    with a baseline. `refused`: why the type is not run; then the rest is empty.
    """

    kwargs: Mapping[str, ValueCheck]
    required: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    baseline: bool = False
    refused: str | None = None


def parameter_name(value: Json) -> str | None:
    """The name in {"$PARAMETER": name}; None for other values, "" for a malformed one.

    Great Expectations also evaluates arithmetic and fetches urn: stores there; only a plain name is taken.
    """
    if not isinstance(value, dict) or "$PARAMETER" not in value:
        return None
    name = value["$PARAMETER"]
    plain = len(value) == 1 and isinstance(name, str) and _PARAMETER_NAME.fullmatch(name)
    return str(name) if plain else ""


def text(value: Json) -> str | None:
    return None if isinstance(value, str) and value else "must be a text"


def boolean(value: Json) -> str | None:
    return None if isinstance(value, bool) else "must be true or false"


def number(value: Json) -> str | None:
    return "must be a number" if as_number(value) is None else None


def count(value: Json) -> str | None:
    whole = as_integer(value)
    return None if whole is not None and whole >= 0 else "must be a whole number, 0 or more"


def optional_number(value: Json) -> str | None:
    return None if value is None else number(value)


def optional_count(value: Json) -> str | None:
    return None if value is None else count(value)


def positive(value: Json) -> str | None:
    found = as_number(value)
    return None if found is not None and found > 0 else "must be a number above 0"


def share(value: Json) -> str | None:
    found = as_number(value)
    return None if found is not None and 0 <= found <= 1 else "must be a share from 0 to 1 (5 % is 0.05)"


def optional_share(value: Json) -> str | None:
    return None if value is None else share(value)


def mostly(value: Json) -> str | None:
    found = as_number(value)
    if found == 0:
        return "is 0, which passes on any data; write the least share of rows that must keep the rule, such as 0.99"
    return None if found is not None and 0 < found <= 1 else "must be a share above 0, up to 1"


def bound(value: Json) -> str | None:
    """A number, an integer beyond 2^53 as a text of digits, or an ISO 8601 date or instant."""
    if value is None or as_number(value) is not None or is_digits(value) or is_instant(value):
        return None
    return "must be a number, or an ISO 8601 date or time such as 2026-01-31T12:00:00+00:00"


def integer_bound(value: Json) -> str | None:
    whole = value is None or is_digits(value) or as_integer(value) is not None
    return None if whole else "must be a whole number; beyond ±(2^53-1) as a text of digits"


def texts(value: Json) -> str | None:
    good = isinstance(value, list) and value and all(isinstance(each, str) and each for each in value)
    return None if good else "must be a list of texts"


def columns(value: Json) -> str | None:
    if texts(value) is not None or not isinstance(value, list) or len(value) < 2:
        return "must be a list of two or more column names"
    return None if len({str(each) for each in value}) == len(value) else "names a column twice"


def key_columns(value: Json) -> str | None:
    return columns(value) if not isinstance(value, list) or len(value) != 1 else texts(value)


def scalars(value: Json) -> str | None:
    if not isinstance(value, list) or not value:
        return "must be a list with at least one value"
    if len(value) > MAX_ITEMS:
        return f"has {len(value)} values; the limit is {MAX_ITEMS}"
    return "must hold texts, numbers, true, false or null" if any(map(_is_container, value)) else None


def pairs(value: Json) -> str | None:
    good = (
        isinstance(value, list) and value and all(isinstance(each, list) and len(each) == 2 for each in value)
    )
    return None if good else "must be a list of pairs, each a list of two values"


def regex(value: Json) -> str | None:
    if not isinstance(value, str) or not value:
        return "must be a regular expression"
    reason = why_not_re2(value)
    return f"the pattern {reason}; DuckDB matches with RE2, write it without" if reason else None


def regexes(value: Json) -> str | None:
    if fault := texts(value):
        return fault
    faults = (regex(each) for each in value) if isinstance(value, list) else ()
    return next((fault for fault in faults if fault), None)


def partition(value: Json) -> str | None:
    return partition_fault(value)


def one_of(*names: str) -> ValueCheck:
    def check(value: Json) -> str | None:
        return None if value in names else f"must be one of {', '.join(names)}"

    return check


def quantiles(value: Json) -> str | None:
    found = [as_number(each) for each in value] if isinstance(value, list) else []
    inside = [each for each in found if each is not None and 0 <= each <= 1]
    if not found or len(inside) < len(found) or sorted(set(inside)) != inside:
        return "must be a list of rising numbers from 0 to 1, such as [0.05, 0.5, 0.95]"
    return None


def ranges(value: Json) -> str | None:
    """One [least, most] for each quantile; null is no bound on that side."""
    for each in value if isinstance(value, list) and value else [None]:
        if not isinstance(each, list) or len(each) != 2 or any(optional_number(side) for side in each):
            return "must be a list of pairs [least, most]; null is no bound"
        low, high = as_number(each[0]), as_number(each[1])
        if low is None and high is None:
            return "holds [null, null], which passes on any data; give a bound"
        if low is not None and high is not None and low > high:
            return f"holds [{low}, {high}]; write the smaller number first"
    return None


def quantile_ranges(value: Json) -> str | None:
    """{quantiles, value_ranges} of Great Expectations."""
    if not isinstance(value, dict) or set(value) != {"quantiles", "value_ranges"}:
        return "must hold `quantiles` and `value_ranges`"
    levels, wanted = value["quantiles"], value["value_ranges"]
    if fault := quantiles(levels) or ranges(wanted):
        return fault
    same = isinstance(levels, list) and isinstance(wanted, list) and len(levels) == len(wanted)
    return None if same else "must have as many value_ranges as quantiles"


def only_false(value: Json) -> str | None:
    return None if value is False else "must be false: approximate quantiles are off by up to 4 %"


def optional_ratio(value: Json) -> str | None:
    found = as_number(value)
    return None if value is None or (found is not None and found >= 0) else "must be a ratio of 0 or more"


def time_zone(value: Json) -> str | None:
    if value is None:
        return None
    return None if is_time_zone(value) else "must be an IANA time zone such as Europe/Berlin, or UTC"


def is_time_zone(value: Json) -> bool:
    if not isinstance(value, str):
        return False
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def is_digits(value: Json) -> bool:
    return isinstance(value, str) and _DIGITS.fullmatch(value) is not None


def is_instant(value: Json) -> bool:
    if not isinstance(value, str) or not re.match(r"\d{4}-\d{2}-\d{2}", value):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def is_beyond_json(value: Json) -> bool:
    """Whether a number is an integer that JSON readers don't keep exact (RFC 7493 section 2.2)."""
    return isinstance(value, int) and not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER


def holds_beyond_json(value: Json) -> bool:
    """Whether such an integer is anywhere inside."""
    if isinstance(value, dict):
        return any(map(holds_beyond_json, value.values()))
    return any(map(holds_beyond_json, value)) if isinstance(value, list) else is_beyond_json(value)


def _is_container(value: Json) -> bool:
    return isinstance(value, list | dict)
