"""RFC 8785, the JSON Canonicalization Scheme: one byte sequence for each JSON value.

This is the hot path of the server, hence a compiled encoder for values of which one cheap walk proves that it
writes what RFC 8785 asks for (orjson where it is installed, as on the server, else the one of `json`), and the
unrolled string case for the rest: a learning rate of 3e-05 or a loss of 1.0 costs the speed only of the containers
around it.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from json.encoder import encode_basestring as _quote
from typing import Any, Final, TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""Largest integer that every JSON reader keeps exact (RFC 7493 section 2.2)."""

MAX_DEPTH: Final = 64
"""Containers within containers; a scalar has depth 0."""

# Deeper down the walk is not tried again: it would cost the square of the depth.
_WALKED_DEPTHS: Final = 4
_CONTAINERS: Final = frozenset((dict, list))
_PLAIN_TYPES: Final = frozenset((str, int, float, bool, type(None), dict, list))
_json_encode: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode


def _plain_bytes(value: object) -> bytes | None:
    """Bytes of what `_is_plain` approved; None when it holds a lone surrogate, which only the slow way can name."""
    try:
        return _dumps(value)
    except (UnicodeEncodeError, TypeError):  # orjson's error is a TypeError
        return None


def _json_dumps(value: object) -> bytes:
    return _json_encode(value).encode()


_dumps: Callable[[object], bytes] = _json_dumps
try:
    import orjson
except ImportError:
    pass
else:
    _dumps = partial(orjson.dumps, option=orjson.OPT_SORT_KEYS)


class CanonicalizationError(ValueError):
    """The value has no canonical form. `path` is a JSON pointer (RFC 6901) to the place; "" is the top."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(f"{path or 'the top-level value'} {reason}")
        self.reason = reason
        self.path = path

    def below(self, part: str | int) -> "CanonicalizationError":
        """The same error as seen from the container that holds the refused value at `part`."""
        return CanonicalizationError(self.reason, f"/{_escaped(str(part))}{self.path}")


def canonicalize(value: JsonValue) -> bytes:
    """The RFC 8785 bytes of a value. Tuples are arrays, subclasses of str, int and float their plain value.

    Raises CanonicalizationError for NaN, infinities, integers beyond ±(2^53-1), keys that are not strings,
    lone surrogates, other types, and nesting deeper than MAX_DEPTH.
    """
    if _is_plain(value, 0):
        plain = _plain_bytes(value)
        if plain is not None:
            return plain
    text = _write(value, 0)
    try:
        return text.encode()
    except UnicodeEncodeError:
        path, found = next(_lone_surrogates(value, ""))
        reason = f"has a lone surrogate in {found[:80]!a}; send whole Unicode characters"
        raise CanonicalizationError(reason, path) from None


def _write(value: object, depth: int) -> str:
    """The canonical text; `depth` is the number of containers around the value."""
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, float):
        return float.__repr__(value) if _is_written_alike(value) else _number(value)
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            return int.__repr__(value)
        raise CanonicalizationError("is an integer beyond ±(2^53-1); send it as a string of digits")
    if 0 < depth < _WALKED_DEPTHS and _is_plain(value, depth):
        return _json_encode(value)
    if depth == MAX_DEPTH:
        raise CanonicalizationError(f"is nested deeper than {MAX_DEPTH} containers; flatten the value")
    if isinstance(value, (dict, Mapping)):
        return _object(value, depth + 1)
    if isinstance(value, (list, tuple)):
        return _array(value, depth + 1)
    raise CanonicalizationError(
        f"is a Python {type(value).__name__}; use a string, number, boolean, None, list or dict"
    )


def _is_written_alike(value: float) -> bool:
    """Within these bounds and off the whole numbers Python, orjson and ECMAScript write the same text."""
    return 1e-4 <= abs(value) < 1e16 and not value.is_integer()


def _is_plain(value: object, depth: int) -> bool:
    """Whether `value` is a container that Python's own encoder writes canonically: ASCII keys, numbers that
    both write alike, nothing but the types of parsed JSON, within MAX_DEPTH."""
    if type(value) not in _CONTAINERS:
        return False
    level: list[Any] = [value]
    seen: set[int] = set()
    for _ in range(depth, MAX_DEPTH):
        following: list[Any] = []
        for container in level:
            # Met twice, it may hold itself: walking such a value on would double the work at each level.
            if id(container) in seen:
                return False
            seen.add(id(container))
            members = container
            if type(container) is dict:
                try:
                    if not "".join(container).isascii():
                        return False
                except TypeError:
                    return False
                members = container.values()
            # One pass in C tells which types occur; only numbers and containers are looked at one by one.
            kinds = set(map(type, members))
            if not kinds <= _PLAIN_TYPES:
                return False
            if float in kinds and not all(_is_written_alike(each) for each in members if type(each) is float):
                return False
            if int in kinds and not all(
                -MAX_SAFE_INTEGER <= each <= MAX_SAFE_INTEGER for each in members if type(each) is int
            ):
                return False
            if kinds & _CONTAINERS:
                following += [each for each in members if type(each) in _CONTAINERS]
        if not following:
            return True
        level = following
    return False


def _object(members: Mapping[str, object], depth: int) -> str:
    texts = []
    for key in _sorted_keys(members):
        value = members[key]
        if value.__class__ is str:
            texts.append(f"{_quote(key)}:{_quote(value)}")
            continue
        try:
            texts.append(f"{_quote(key)}:{_write(value, depth)}")
        except CanonicalizationError as error:
            raise error.below(key) from None
    return "{" + ",".join(texts) + "}"


def _array(items: Sequence[object], depth: int) -> str:
    texts: list[str] = []
    try:
        for item in items:
            texts.append(_quote(item) if item.__class__ is str else _write(item, depth))
    except CanonicalizationError as error:
        raise error.below(len(texts)) from None
    return "[" + ",".join(texts) + "]"


def _sorted_keys(members: Mapping[str, object]) -> list[str]:
    """The keys in the order of their UTF-16 code units (RFC 8785 section 3.2.3)."""
    try:
        # Joining is the cheapest test that every key is a string, and that all of them are ASCII.
        plain = "".join(members).isascii()
    except TypeError:
        strangers = sorted({type(key).__name__ for key in members if not issubclass(type(key), str)})
        reason = f"has keys of type {', '.join(strangers)}; make every key a string"
        raise CanonicalizationError(reason) from None
    return sorted(members) if plain else sorted(members, key=_utf16)


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def _number(value: float) -> str:
    """ECMAScript's Number::toString (ECMA-262 section 6.1.6.1.20), from Python's equally short digits."""
    if not math.isfinite(value):
        raise CanonicalizationError("is NaN or infinite, which JSON can't hold; send null or leave it out")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = float.__repr__(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    significant = (whole + fraction).lstrip("0")
    # The value is 0.<digits> times 10^point.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(significant))
    digits = significant.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"


def _lone_surrogates(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Path and text of each string that UTF-8 can't hold; a bad key is reported at its object."""
    if isinstance(value, str):
        if any("\ud800" <= character <= "\udfff" for character in value):
            yield path, value
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield from _lone_surrogates(key, path)
            yield from _lone_surrogates(member, f"{path}/{_escaped(key)}")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _lone_surrogates(item, f"{path}/{index}")


def _escaped(key: str) -> str:
    """A key as a token of a JSON pointer (RFC 6901 section 3)."""
    return key.replace("~", "~0").replace("/", "~1")
