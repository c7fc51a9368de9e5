"""Safetensors files: the header read whole and held against the file, the tensors read to the last byte.

Format: https://github.com/huggingface/safetensors, "Format": eight bytes with the length of the header, little-endian,
the header as a JSON object of {dtype, shape, data_offsets}, the tensors' bytes. Its own reader maps the file into
memory, which the address space of a limited process has no room for; here only the header is held.
"""

import json
import math
import os
import struct
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from gates.checkpoints.verdict import Broken, NotLoadable, OpenFile, Read

MAX_HEADER_BYTES: Final = 100_000_000
"""As the reference implementation has it (MAX_HEADER_SIZE)."""
BLOCK_BYTES: Final = 2**20
_LENGTH: Final = struct.Struct("<Q")
_METADATA: Final = "__metadata__"
_BITS: Final[Mapping[str, int]] = {
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "BOOL": 8,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "C64": 64,
    "I64": 64,
    "U64": 64,
    "F64": 64,
}
"""Bits of one element, by the names of the reference implementation's Dtype."""
_MEMBERS: Final = frozenset({"dtype", "shape", "data_offsets"})


def load_safetensors(file: OpenFile, read: Read) -> frozenset[str]:
    """The names of the tensors, all of which were read. Raises Broken; NotLoadable for a type that is not known."""
    header, start = _header(file)
    spans = [_span(name, given) for name, given in header.items() if name != _METADATA]
    _check_metadata(header.get(_METADATA))
    _check_spans(spans, file.size - start)
    _read_all(file, start, read)
    return frozenset(header) - {_METADATA}


def _header(file: OpenFile) -> tuple[Mapping[str, Any], int]:
    """The header, and where the tensors' bytes begin."""
    if file.size < _LENGTH.size:
        raise Broken(f"it has {file.size} bytes, and a safetensors file at least 8: it was cut off")
    (length,) = _LENGTH.unpack(os.pread(file.fd, _LENGTH.size, 0))
    if length > file.size - _LENGTH.size:
        raise Broken(
            f"its header is said to have {length:,} bytes and the file has {file.size:,}: it was cut off, or is no "
            "safetensors file"
        )
    if length > MAX_HEADER_BYTES:
        raise Broken(f"its header has {length:,} bytes; the format allows {MAX_HEADER_BYTES:,}")
    try:
        text = os.pread(file.fd, length, _LENGTH.size).decode()
        header = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Broken(f"its header is not the JSON that it should be ({_short(error)})") from None
    if not isinstance(header, dict):
        raise Broken("its header is no JSON object")
    return header, _LENGTH.size + length


def _span(name: str, given: object) -> tuple[int, int, str]:
    """Begin and end of a tensor's bytes, and its name."""
    shown = repr(name[:80])
    if not isinstance(given, dict) or given.keys() != _MEMBERS:
        raise Broken(
            f"its header describes the tensor {shown} by other members than dtype, shape and data_offsets"
        )
    shape, offsets = given["shape"], given["data_offsets"]
    if not _are_counts(shape) or not _are_counts(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise Broken(f"shape or data_offsets of the tensor {shown} are no lists of whole numbers in order")
    bits = _BITS.get(given["dtype"]) if isinstance(given["dtype"], str) else None
    if bits is None:
        raise NotLoadable(f"holds the tensor {shown} of a type that is not known here")
    size = math.prod(shape) * bits
    if size % 8 or size // 8 != offsets[1] - offsets[0]:
        raise Broken(
            f"the tensor {shown} takes {-(-size // 8):,} bytes by type and shape, and "
            f"{offsets[1] - offsets[0]:,} by its data_offsets"
        )
    return offsets[0], offsets[1], name


def _check_spans(spans: Sequence[tuple[int, int, str]], available: int) -> None:
    """Broken unless the tensors lie one behind the other and fill the rest of the file, as the format demands."""
    ordered = sorted(spans)
    if not ordered:
        if available:
            raise Broken(f"{available:,} bytes belong to no tensor")
        return
    if ordered[0][0] != 0:
        raise Broken(f"{ordered[0][0]:,} bytes before the first tensor belong to none")
    for (_, end, name), (begin, _, following) in pairwise(ordered):
        if begin < end:
            raise Broken(f"the bytes of the tensors {name[:80]!r} and {following[:80]!r} overlap")
        if begin > end:
            raise Broken(f"{begin - end:,} bytes behind the tensor {name[:80]!r} belong to none")
    if ordered[-1][1] != available:
        what = (
            "it was cut off" if ordered[-1][1] > available else "bytes behind the last tensor belong to none"
        )
        raise Broken(f"its tensors take {ordered[-1][1]:,} bytes and {available:,} are there: {what}")


def _check_metadata(given: object) -> None:
    if given is None:
        return
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise Broken("its __metadata__ is no object of texts")


def _read_all(file: OpenFile, start: int, read: Read) -> None:
    buffer = memoryview(bytearray(BLOCK_BYTES))
    at = start
    while at < file.size:
        count = os.preadv(file.fd, [buffer[: file.size - at]], at)
        if count == 0:
            raise Broken(f"it ends after {at:,} of {file.size:,} bytes")
        at += count
        read(count)


def _are_counts(given: object) -> bool:
    return isinstance(given, list) and all(type(each) is int and each >= 0 for each in given)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name twice")
    return found


def _no_constant(text: str) -> Any:  # noqa: ANN401 - what json.loads asks for
    raise ValueError(f"the number {text}")


def _short(error: Exception) -> str:
    """Where it went wrong, without quoting the file."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, at character {error.pos}"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is no UTF-8"
    return str(error)[:80] if isinstance(error, ValueError) else "nested too deep"
