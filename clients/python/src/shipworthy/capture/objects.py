"""What other people's objects hold: one level of any value as a scalar, a dict with text keys, or a list."""

import math
import re
from collections.abc import Mapping
from datetime import date, time, timedelta
from enum import Enum
from os import PathLike, fspath
from types import SimpleNamespace
from typing import Final, NamedTuple, TypeAlias

from shipworthy.capture.loaded import attribute

MAX_SAFE_INTEGER: Final = 2**53 - 1
MAX_ARRAY: Final = 100
"""Elements of an array that are kept; of a larger one its text says shape and type."""

Shallow: TypeAlias = "bool | int | float | str | dict[str, object] | list[object] | None"

# The place in memory differs in each process and would make every config a new one.
_ADDRESS: Final = r" (?:object )?at 0x[0-9a-fA-F]+"
_EXPORTERS: Final = ("model_dump", "to_dict", "_asdict", "flag_values_dict")


class Opened(NamedTuple):
    """`value` is one level deep: members are still as they were. `source` is the object it was read from."""

    value: Shallow
    note: str = ""
    source: object = None


def open_value(value: object) -> Opened:
    """Never raises: an object that refuses to be read becomes the name of its type, and the note says so."""
    try:
        return _open(value)
    except RecursionError:
        return Opened(type_name(value), "is nested too deep to be read")
    except Exception as error:  # noqa: BLE001 - properties and methods of objects that others wrote
        return Opened(type_name(value), f"could not be read: {type(error).__name__}")


def type_name(value: object) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _open(value: object) -> Opened:
    if isinstance(value, Enum):
        plain = isinstance(value.value, str | int | float | bool)
        return Opened(_number(value.value) if plain else value.name)
    if value is None or isinstance(value, bool):
        return Opened(value)
    if isinstance(value, str):
        return Opened(str.__str__(value))
    if isinstance(value, int | float):
        return Opened(_number(value))
    if isinstance(value, Mapping):
        return _open_mapping(value)
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return Opened(list(value), source=value)
    if isinstance(value, set | frozenset):
        # Sets have no order of their own; without one the digest would differ from process to process.
        return Opened(sorted(value, key=lambda item: (type_name(item), str(item))), source=value)
    if isinstance(value, PathLike):
        path = fspath(value)
        return Opened(path if isinstance(path, str) else path.decode("utf-8", "replace"))
    return _open_object(value)


def _open_object(value: object) -> Opened:
    if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        return Opened(f"{value.__module__}.{value.__qualname__}")
    if isinstance(value, SimpleNamespace) or _is_of("argparse", "Namespace", value):
        return Opened({str(key): member for key, member in vars(value).items()}, source=value)
    for name in _EXPORTERS:
        export = getattr(value, name, None)
        if callable(export):
            exported = export()
            if isinstance(exported, Mapping):
                return Opened({str(key): member for key, member in exported.items()}, source=value)
    if hasattr(type(value), "__dataclass_fields__"):
        from dataclasses import fields, is_dataclass

        if is_dataclass(value):
            return Opened({each.name: getattr(value, each.name) for each in fields(value)}, source=value)
    if isinstance(value, date | time):
        return Opened(value.isoformat())
    if isinstance(value, timedelta):
        return Opened(value.total_seconds())
    return _open_array(value)


def _is_of(module: str, name: str, value: object) -> bool:
    """Whether it is of a class that may not be loaded: then nothing is of it."""
    kind = attribute(module, name)
    return isinstance(kind, type) and isinstance(value, kind)


def _open_array(value: object) -> Opened:
    """Scalars and small arrays of numpy, torch, jax and tensorflow, none of which is imported for it."""
    shape = getattr(value, "shape", None)
    if shape is not None and isinstance(shape, tuple):
        count = math.prod(int(length) for length in shape)
        if count == 1 and callable(item := getattr(value, "item", None)):
            return _open(item())
        if count <= MAX_ARRAY and callable(to_list := getattr(value, "tolist", None)):
            return Opened(list(to_list()), source=value)
        described = f"{type_name(value)} of shape {tuple(shape)}"
        return Opened(described, f"is an array of {count} values; log it as an artifact")
    if isinstance(value, bytes | bytearray | memoryview):
        return Opened(f"bytes: {len(value)}", "is bytes, of which only the length is kept")
    kind = type_name(value)
    text = re.sub(_ADDRESS, "", str(value))
    return Opened(f"{kind}: {text}", f"is a {kind}, kept as text")


def _open_mapping(value: Mapping[object, object]) -> Opened:
    members: dict[str, object] = {}
    unread = []
    for key in value:
        name = _key(key)
        try:
            members[name] = value[key]
        except Exception as error:  # noqa: BLE001 - omegaconf has its own errors for missing values
            members[name] = None
            unread.append(f"{name} ({type(error).__name__})")
    note = f"has members that could not be read: {', '.join(unread[:5])}" if unread else ""
    return Opened(members, note, source=value)


def _key(key: object) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, bool) or key is None:
        return {True: "true", False: "false", None: "null"}[key]
    return re.sub(_ADDRESS, "", str(key.value if isinstance(key, Enum) else key))


def _number(value: bool | int | float | str) -> bool | int | float | str:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        # JSON readers keep integers exact up to 2^53-1 (RFC 7493 section 2.2).
        return int(value) if abs(value) <= MAX_SAFE_INTEGER else int.__repr__(int(value))
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(value)
