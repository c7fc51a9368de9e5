"""Column types: from what a contract says to the Arrow types that data may have.

Names are those of Arrow without parameters: int8 … uint64, float16, float32, float64, decimal128, decimal256,
bool, string, large_string, string_view, binary, large_binary, binary_view, fixed_size_binary, date32, date64,
time32, time64, duration, list, large_list, fixed_size_list, struct, map; a timestamp is `timestamp` without and
`timestamp_tz` with a zone. A dictionary-encoded column has the type of its values. No name = any type.
"""

import re
from collections.abc import Mapping
from typing import Final

SIGNED: Final = ("int8", "int16", "int32", "int64")
UNSIGNED: Final = ("uint8", "uint16", "uint32", "uint64")
FLOATS: Final = ("float16", "float32", "float64")
_DECIMALS: Final = ("decimal128", "decimal256")
_STRINGS: Final = ("string", "large_string", "string_view")
_BINARIES: Final = ("binary", "large_binary", "binary_view", "fixed_size_binary")
_DATES: Final = ("date32", "date64")
_TIMESTAMPS: Final = ("timestamp", "timestamp_tz")
_TIMES: Final = ("time32", "time64")
_LISTS: Final = ("list", "large_list", "fixed_size_list")
INTEGERS: Final = (*SIGNED, *UNSIGNED)
NUMBERS: Final = (*INTEGERS, *FLOATS, *_DECIMALS)

LOGICAL: Final[Mapping[str, tuple[str, ...]]] = {
    "string": _STRINGS,
    "date": _DATES,
    "timestamp": _TIMESTAMPS,
    "time": _TIMES,
    "number": NUMBERS,
    "integer": INTEGERS,
    "object": ("struct",),
    "array": _LISTS,
    "boolean": ("bool",),
    "map": ("map",),
    "vector": _LISTS,
}
"""The logical types of ODCS v3.2."""

_ARROW: Final[Mapping[str, tuple[str, ...]]] = {
    **{name: (name,) for name in (*NUMBERS, *_STRINGS[1:], *_BINARIES[1:], *_DATES, *_TIMES, *_LISTS[1:])},
    **{name: (name,) for name in ("struct", "map", "bool", "duration", "timestamp_tz")},
    # PostgreSQL's int8 is a bigint.
    "int8": ("int8", "int64"),
    "double": ("float64",),
    "utf8": ("string",),
    "large_utf8": ("large_string",),
    "halffloat": ("float16",),
    # Parquet's physical types, which say less than Arrow's.
    "int96": _TIMESTAMPS,
    "byte_array": (*_STRINGS, *_BINARIES, *_DECIMALS),
    "fixed_len_byte_array": ("fixed_size_binary", *_DECIMALS),
}
"""Names that only Arrow and Parquet use: they narrow the type to exactly this."""

_FAMILIES: Final = (
    (
        _STRINGS,
        "char nchar bpchar character varchar varchar2 nvarchar nvarchar2 text string str clob xml citext",
    ),
    (INTEGERS, "int integer tinyint smallint mediumint bigint hugeint int2 int4 long short byte"),
    (INTEGERS, "serial smallserial bigserial ubigint uinteger usmallint utinyint"),
    (NUMBERS, "number numeric decimal dec money bignumeric"),
    ((*FLOATS, *_DECIMALS), "float real float4 float8"),
    (("bool",), "boolean bit"),
    (_DATES, "date"),
    (_TIMES, "time timetz"),
    (_TIMESTAMPS, "timestamp datetime datetime2 smalldatetime timestamptz timestamp_ntz timestamp_ltz"),
    (_BINARIES, "bytea bytes blob varbinary binary"),
    ((*_STRINGS, "struct", "map", *_LISTS), "json jsonb variant object super"),
    ((*_STRINGS, "fixed_size_binary"), "uuid uniqueidentifier guid"),
    (_LISTS, "array list repeated vector"),
    (("struct",), "record row"),
)
_DATABASE: Final[Mapping[str, tuple[str, ...]]] = {
    name: types for types, names in _FAMILIES for name in names.split()
}
"""Names of databases: int and varchar mean other widths in each, so that they say only which family it is."""

_LIBRARIES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("str", "object", "stringtype", "stringdtype"), _STRINGS),
    **dict.fromkeys(("float", "floating"), FLOATS),
    **dict.fromkeys(("booleantype", "booleandtype", "bool_"), ("bool",)),
    **dict.fromkeys(("datetime64", "timestamptype"), _TIMESTAMPS),
    "datetime64[ns]": ("timestamp",),
    "int": INTEGERS,
    "shorttype": ("int16",),
    "integertype": ("int32",),
    "longtype": ("int64",),
    "floattype": ("float32",),
    "doubletype": ("float64",),
    "decimaltype": _DECIMALS,
    "datetype": _DATES,
    "arraytype": _LISTS,
    "structtype": ("struct",),
}
"""Names of pandas, NumPy, Python and Spark, where they differ from a database's."""

_PARAMETERS: Final = re.compile(r"\s*[(\[<].*|\s+(varying|unsigned|precision|with|without)\b.*", re.DOTALL)
_ARROW_TIMESTAMP: Final = re.compile(r"timestamp\[(s|ms|us|ns)(,\s*tz=[^\]]+)?\]")

_INTEGER_FORMATS: Final = {f"{letter}{bits}": bits for letter in "iu" for bits in (8, 16, 32, 64, 128)}


def arrow_types(physical: str) -> tuple[str, ...] | None:
    """The exact Arrow types a physicalType names, when it is a name of Arrow or Parquet; else None."""
    name = physical.strip()
    if timestamp := _ARROW_TIMESTAMP.fullmatch(name):
        return ("timestamp_tz",) if timestamp[2] else ("timestamp",)
    return _ARROW.get(_PARAMETERS.sub("", name).lower())


def database_types(physical: str) -> tuple[str, ...] | None:
    """The family of Arrow types that a database's type name stands for; None for an unknown name."""
    return _DATABASE.get(_PARAMETERS.sub("", physical.strip()).lower())


def format_types(number_format: str) -> tuple[str, ...] | None:
    """Types whose every value fits into a numeric format of ODCS (i8 … u128, f32, f64); None when unknown.

    The standard says "how many bits of space it can use": an int32 column keeps to i64.
    """
    if number_format in ("f32", "f64"):
        return FLOATS[:2] if number_format == "f32" else FLOATS
    bits = _INTEGER_FORMATS.get(number_format)
    if bits is None:
        return None
    unsigned = tuple(name for name in UNSIGNED if int(name[4:]) <= bits)
    if number_format.startswith("u"):
        return unsigned
    signed = tuple(name for name in SIGNED if int(name[3:]) <= bits)
    return (*signed, *(name for name in UNSIGNED if int(name[4:]) < bits))


def foreign_types(name: str) -> tuple[str, ...] | None:
    """Arrow types for a type name of pandas, NumPy, Python, Spark, SQL or Arrow, as GX suites use them.

    None when the name is unknown. `int64` and `Int64` are exact; `int`, `str` or `VARCHAR` name a family.
    """
    if exact := arrow_types(name):
        return exact
    lowered = name.strip().lower()
    return _LIBRARIES.get(lowered) or database_types(name)
