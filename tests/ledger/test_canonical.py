from typing import cast

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from models.ledger.canonical import canonical_body, canonical_bytes
from shipworthy.formats.jcs import CanonicalizationError, JsonValue
from tests.support.json_values import numbers, values

# Names of a body's members are fields of ours.
names = st.sampled_from(["run_id", "job", "metrics", "tags", "z", "a"])
harmless = st.text(alphabet=st.characters(min_codepoint=0x20, max_codepoint=0x7E, exclude_characters='"\\'))
# What the compiled encoder may write on its own, or nearly so: everything but one kind of value is plain.
nearly_plain = st.recursive(
    harmless | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | numbers,
    lambda below: st.lists(below, max_size=5) | st.dictionaries(harmless, below, max_size=5),
    max_leaves=20,
)


def reference(value: object) -> bytes:
    # The package types its argument more narrowly than it accepts.
    return rfc8785.dumps(cast("dict[str, rfc8785._impl._Value]", value))


@given(st.dictionaries(names, values | nearly_plain, max_size=6))
@settings(max_examples=500, deadline=None)
def test_a_body_and_its_pieces_equal_the_reference_package(body: dict[str, JsonValue]) -> None:
    canonical = canonical_body(body)
    assert canonical.whole == reference(body)
    assert canonical.members == {name: reference(value) for name, value in body.items()}
    assert canonical.elements == {
        name: [reference(each) for each in value] for name, value in body.items() if isinstance(value, list)
    }


@given(values | nearly_plain)
@settings(max_examples=300, deadline=None)
def test_a_value_of_any_kind_equals_the_reference_package(value: JsonValue) -> None:
    assert canonical_bytes(value) == reference(value)


@given(numbers)
@settings(max_examples=1500, deadline=None)
def test_a_number_in_a_plain_body_is_written_as_ecmascript_does(number: float) -> None:
    body: dict[str, JsonValue] = {
        "metrics": {"loss": number, "steps": [number, 1]},
        "name": "e 1.0, null",
        "whole": True,
    }
    assert canonical_body(body).whole == reference(body)


@pytest.mark.parametrize(
    ("value", "path", "remedy"),
    [
        (float("nan"), "/metrics/0/value", "null"),
        (float("inf"), "/metrics/0/value", "null"),
        (2**53, "/metrics/0/value", "string of digits"),
        ("\ud800", "/metrics/0/value", "whole Unicode characters"),
        (b"bytes", "/metrics/0/value", "use a string"),
    ],
)
def test_what_has_no_canonical_form_is_refused_with_its_place(value: object, path: str, remedy: str) -> None:
    with pytest.raises(CanonicalizationError) as refused:
        canonical_body(cast("dict[str, JsonValue]", {"metrics": [{"value": value}]}))
    assert refused.value.path == path
    assert remedy in str(refused.value)


def test_nesting_beyond_the_limit_is_refused() -> None:
    value: JsonValue = "leaf"
    for _ in range(70):
        value = {"a": value}
    with pytest.raises(CanonicalizationError, match="nested deeper"):
        canonical_body({"tags": value})
