"""The Arrow schema of the files, exactly: every name, type and nullability, before a query engine changes any.

DuckDB renames a second `id`, and `Id` beside `id`; pandas and Great Expectations overlook it. Here both are seen.
"""

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from gates.contracts.engine.opened import OpenFile
from gates.contracts.engine.refusals import DataUnreadable
from gates.contracts.engine.table import Column, Kind, TableShape
from shipworthy.formats.arrow import child_fields, schema_digest, type_name
from shipworthy.formats.parquet import NoFooter, footer_digest, footers_digest


def parquet_shape(files: Sequence[OpenFile]) -> TableShape:
    """The one schema that all files have, and the digest of their footers; DataUnreadable otherwise."""
    schemas = [_parquet_schema(file) for file in files]
    for file, schema in zip(files[1:], schemas[1:], strict=True):
        if not schema.equals(schemas[0]):
            raise DataUnreadable(
                f"{file.path} has another schema than {files[0].path}. All files of a table need the same columns."
            )
    return table_shape(schemas[0], footers_digest([_footer_digest(file) for file in files]))


def table_shape(schema: pa.Schema, footer_digest: str | None = None) -> TableShape:
    seen = Counter(name.casefold() for name in schema.names)
    columns = tuple(_column(field, seen[field.name.casefold()] > 1) for field in schema)
    return TableShape(columns, schema_digest(schema), footer_digest)


def _parquet_schema(file: OpenFile) -> pa.Schema:
    try:
        with pq.ParquetFile(file.address) as opened:
            return opened.schema_arrow
    except (pa.ArrowException, OSError):
        raise DataUnreadable(
            f"{file.path} is not a readable Parquet file. Write it again, or name its format."
        ) from None


def _footer_digest(file: OpenFile) -> str:
    with open(file.address, "rb") as opened:
        try:
            return footer_digest(opened)
        except NoFooter:
            raise DataUnreadable(
                f"{file.path} has no plain Parquet footer; encrypted files are not read."
            ) from None


def _column(field: pa.Field, ambiguous: bool = False) -> Column:
    names, kind = _type_names(field.type)
    return Column(field.name, names, kind, field.nullable, _children(field.type), ambiguous)


def _children(kind: pa.DataType) -> tuple[Column, ...]:
    fields = child_fields(kind)
    seen = Counter(field.name.casefold() for field in fields)
    return tuple(_column(each, seen[each.name.casefold()] > 1) for each in fields)


def _type_names(kind: pa.DataType) -> tuple[tuple[str, ...], Kind]:
    """All names that a contract may call a type by, the exact one first."""
    types = pa.types
    exact = type_name(kind)
    if types.is_dictionary(kind):
        names, inner = _type_names(kind.value_type)
        return (exact, "dictionary", *names), inner
    if types.is_nested(kind):
        return ((exact, "list") if types.is_large_list(kind) else (exact,)), "nested"
    text = str(kind)
    family = text.partition("[")[0].partition("(")[0]
    names = tuple(dict.fromkeys((exact, text, family)))
    if types.is_timestamp(kind):
        if kind.tz is not None:
            return (exact, "timestamp_tz"), "aware"
        return (exact, "timestamp"), "naive"
    return names, _kind(kind)


def _kind(kind: pa.DataType) -> Kind:
    types = pa.types
    tests: tuple[tuple[bool, Kind], ...] = (
        (types.is_boolean(kind), "boolean"),
        (types.is_integer(kind), "integer"),
        (types.is_floating(kind), "float"),
        (types.is_decimal(kind), "decimal"),
        (types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind), "text"),
        (types.is_date(kind), "date"),
    )
    return next((name for holds, name in tests if holds), "other")
