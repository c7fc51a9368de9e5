"""What does not match a pattern is refused in words with an example, never with the pattern."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from pydantic import TypeAdapter

from gates.release.policy import PolicyDocument
from gates.release.values import PATTERN_WORDS
from models import patterns
from models.kinds.registry import KINDS
from models.patterns import words_of
from tests.support.bodies import make_run
from tests.support.calls import assert_refused, post
from tests.support.service import RunningService


def found_in(schema: Any) -> Iterator[str]:
    """Every pattern of a JSON schema, also of the names of members."""
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        if isinstance(schema.get("patternProperties"), dict):
            yield from schema["patternProperties"]
        for below in schema.values():
            yield from found_in(below)
    elif isinstance(schema, list):
        for below in schema:
            yield from found_in(below)


def test_every_pattern_of_the_api_has_words(sqlite_service: RunningService) -> None:
    document = httpx.get(f"{sqlite_service.url}/openapi.json").json()
    found = set(found_in(document))
    assert len(found) > 12
    assert {pattern for pattern in found if words_of(pattern) is None} == set()


def test_every_pattern_of_a_record_and_of_a_policy_has_words() -> None:
    for kind in KINDS.values():
        for pattern in found_in(TypeAdapter(kind.body).json_schema()):
            assert words_of(pattern) is not None, (kind.name, pattern)
    policy = set(found_in(PolicyDocument.model_json_schema()))
    assert policy == set(PATTERN_WORDS)


def test_words_have_no_pattern_in_them_and_their_examples_match() -> None:
    named = [value for name, value in vars(patterns).items() if name.endswith("_PATTERN")]
    examples = 0
    for pattern in named:
        words = words_of(pattern)
        assert words is not None
        assert re.search(r"[\^$]|\{\d|\[.*-.*\]", words) is None
        if example := re.search(r"such as ([^ :,]+)", words):
            examples += 1
            assert re.fullmatch(pattern, example[1]), words
    assert examples >= 9


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/v1/runs/7", "/path/run_id must be a UUIDv7 in lower case, such as 0196a5f2-"),
        ("/v1/checkpoints/latest", "/path/digest must be a digest: sha256: and 64 lower-case hex digits"),
        (
            "/v1/decisions?verdict=good",
            "/query/verdict must be passed, review_required, blocked or break_glass",
        ),
        ("/v1/decisions?gate=a/b", "/query/gate must have at most 128 letters, digits and . _ : @ -"),
        ("/v1/reviews?state=x", "/query/state must be open, requested, approved or denied"),
        ("/v1/promotions?state=x", "/query/state must be promoted, demoted, "),
    ],
)
def test_wrong_parameter_is_told_in_words(sqlite_service: RunningService, path: str, sentence: str) -> None:
    assert_refused(sqlite_service.client("reader").get(path), 422, "invalid_input", sentence)


def test_wrong_field_of_a_body_is_told_in_words(sqlite_service: RunningService) -> None:
    answer = post(sqlite_service.client("recorder"), "/v1/runs", make_run(run_id="run-1"))
    assert_refused(answer, 422, "invalid_input", "/run_id must be a UUIDv7 in lower case")
    assert "^" not in json.dumps(answer.json())
