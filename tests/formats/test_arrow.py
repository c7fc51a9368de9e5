"""Digests of Arrow schemas and Parquet footers, on what pyarrow writes."""

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shipworthy.formats.arrow import describe_field, schema_digest
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import JsonValue, canonicalize
from shipworthy.formats.parquet import NoFooter, footer_digest, footers_digest


@pytest.mark.parametrize(
    ("kind", "described"),
    [
        (pa.int64(), {"type": "int64"}),
        (pa.float16(), {"type": "float16"}),
        (pa.float32(), {"type": "float32"}),
        (pa.float64(), {"type": "float64"}),
        (pa.decimal128(9, 2), {"type": "decimal128(9, 2)"}),
        (pa.timestamp("us", "UTC"), {"type": "timestamp[us, tz=UTC]"}),
        (
            pa.dictionary(pa.int8(), pa.string()),
            {"type": "dictionary<values=string, indices=int8, ordered=0>"},
        ),
        (
            pa.list_(pa.field("element", pa.int8(), nullable=False)),
            {"type": "list", "fields": [{"name": "element", "type": "int8", "nullable": False}]},
        ),
        (
            pa.large_list(pa.int8()),
            {"type": "large_list", "fields": [{"name": "item", "type": "int8", "nullable": True}]},
        ),
        (
            pa.list_(pa.float32(), 3),
            {"type": "fixed_size_list", "fields": [{"name": "item", "type": "float32", "nullable": True}]},
        ),
        (
            pa.map_(pa.string(), pa.int8()),
            {
                "type": "map",
                "fields": [
                    {"name": "key", "type": "string", "nullable": False},
                    {"name": "value", "type": "int8", "nullable": True},
                ],
            },
        ),
        (
            pa.struct([pa.field("a", pa.struct([pa.field("b", pa.bool_())]))]),
            {
                "type": "struct",
                "fields": [
                    {
                        "name": "a",
                        "type": "struct",
                        "nullable": True,
                        "fields": [{"name": "b", "type": "bool", "nullable": True}],
                    }
                ],
            },
        ),
    ],
)
def test_field_is_described_by_name_type_and_nullability(
    kind: pa.DataType, described: dict[str, Any]
) -> None:
    assert describe_field(pa.field("x", kind)) == {"name": "x", "nullable": True, **described}


def test_digest_is_that_of_the_plain_description() -> None:
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("at", pa.date32())])
    described: JsonValue = {
        "columns": [
            {"name": "id", "type": "int64", "nullable": False},
            {"name": "at", "type": "date32[day]", "nullable": True},
        ]
    }
    assert schema_digest(schema) == sha256_digest(canonicalize(described))
    assert schema_digest(schema.with_metadata({b"pandas": b"{}"})) == schema_digest(schema)
    assert schema_digest(pa.schema(reversed(list(schema)))) != schema_digest(schema)


def test_footer_is_found_at_the_end_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a": [1, 2]}), path)
    data = path.read_bytes()
    length = pq.read_metadata(path).serialized_size
    with path.open("rb") as file:
        assert footer_digest(file) == sha256_digest(data[-8 - length : -8])


def test_footers_of_several_files_are_listed_in_their_order() -> None:
    one, two = ("sha256:" + digit * 64 for digit in "12")
    assert footers_digest([one]) == one
    assert footers_digest([one, two]) == sha256_digest(canonicalize([one, two]))


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1\xff\xff\xff\x7fPAR1", b"PAR1" + bytes(100) + b"PARE"])
def test_file_without_a_footer_is_told_apart(data: bytes) -> None:
    with pytest.raises(NoFooter):
        footer_digest(io.BytesIO(data))
