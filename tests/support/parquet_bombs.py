"""A small Parquet file with as many rows as one likes: its footer names the same row group again and again.

Thrift's compact protocol as the Parquet format uses it (apache/thrift, doc/specs/thrift-compact-protocol.md).
"""

import struct
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as parquet

ROWS: Final = 10_000_000
"""Of one row group, 80 MB of int64; its pages take a few hundred bytes."""
_NUM_ROWS: Final = 3
_ROW_GROUPS: Final = 4
_STRUCT: Final = 12


def write_bomb(path: Path, repeats: int) -> int:
    """Writes `repeats` × 10 M equal int64 to the path; gives the bytes that they expand to."""
    zeros = pa.Array.from_buffers(pa.int64(), ROWS, [None, pa.py_buffer(bytes(8 * ROWS))])
    table = pa.table({"n": zeros})
    parquet.write_table(table, path, row_group_size=ROWS, data_page_size=1 << 30, compression="none")
    data = path.read_bytes()
    length = struct.unpack("<I", data[-8:-4])[0]
    footer = _repeated(data[-8 - length : -8], repeats)
    path.write_bytes(data[: -8 - length] + footer + struct.pack("<I", len(footer)) + b"PAR1")
    return ROWS * repeats * 8


def _repeated(footer: bytes, repeats: int) -> bytes:
    """The FileMetaData with its only row group so many times."""
    made = bytearray()
    place, field = 0, 0
    while footer[place] != 0:
        start = place
        kind = footer[place] & 0x0F
        field += footer[place] >> 4
        end = _end(footer, place + 1, kind)
        if field == _NUM_ROWS:
            made += footer[start : start + 1] + _varint(ROWS * repeats << 1)
        elif field == _ROW_GROUPS:
            assert footer[start + 1] == (1 << 4 | _STRUCT), "one row group was to be written"
            made += footer[start : start + 1] + bytes([0xF0 | _STRUCT]) + _varint(repeats)
            made += footer[start + 2 : end] * repeats
        else:
            made += footer[start:end]
        place = end
    return bytes(made) + footer[place:]


def _end(data: bytes, place: int, kind: int) -> int:
    """Where a value of this compact type ends."""
    if kind in (1, 2):  # A boolean as a field lies in its header.
        return place
    if kind == 3:
        return place + 1
    if kind in (4, 5, 6):
        return _skip_varint(data, place)
    if kind == 7:
        return place + 8
    if kind == 8:
        length, place = _read_varint(data, place)
        return place + length
    if kind in (9, 10):
        count, element = data[place] >> 4, data[place] & 0x0F
        place += 1
        if count == 15:
            count, place = _read_varint(data, place)
        for _ in range(count):
            place = place + 1 if element in (1, 2) else _end(data, place, element)
        return place
    assert kind == _STRUCT, f"type {kind} has no place in a Parquet footer"
    while data[place] != 0:
        inner = data[place] & 0x0F
        if data[place] >> 4 == 0:
            place = _skip_varint(data, place + 1) - 1
        place = _end(data, place + 1, inner)
    return place + 1


def _read_varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if not byte & 0x80:
            return value, place


def _skip_varint(data: bytes, place: int) -> int:
    return _read_varint(data, place)[1]


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
