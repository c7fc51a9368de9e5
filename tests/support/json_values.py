"""JSON values that are written wrongly when they are written wrongly at all: hypothesis strategies."""

import math
import struct

from hypothesis import strategies as st

from shipworthy.formats.jcs import MAX_SAFE_INTEGER

any_bits = st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack("<d", struct.pack("<Q", bits))[0])
every_exponent = st.builds(
    lambda digits, exponent: float(f"{digits}e{exponent}"),
    st.integers(-(10**17), 10**17),
    st.integers(-340, 291),
)
numbers = st.one_of(
    any_bits.filter(math.isfinite),
    every_exponent,
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-40, 40).map(float),
    st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER),
    st.sampled_from(
        [MAX_SAFE_INTEGER, -MAX_SAFE_INTEGER, MAX_SAFE_INTEGER - 1, 2.0**53, -0.0, 1e21, 1e-7, 5e-324]
    ),
)
texts = st.one_of(
    st.text(),
    st.text(alphabet=st.sampled_from('\x00\x08\x1f\x7f\x80"\\/\ud7ff\ue000\uffff\U00010000\U0001f600aZ')),
)
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    scalars,
    lambda below: st.lists(below, max_size=6) | st.dictionaries(texts, below, max_size=8),
    max_leaves=40,
)
