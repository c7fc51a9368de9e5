"""What the author of a definition is told of it."""

from typing import Any

import pytest
import yaml

from gates.documents.problems import DocumentError
from gates.slo.loading import Media, load_slo
from tests.gates.slo.definitions import slo_text

PLACE = "/spec/indicator/spec/ratioMetric/raw/metricSource/spec"
EXPECT = 'timeZone: America/New_York, by: "09:00"'


def problems(data: bytes, media: Media = "yaml") -> list[tuple[int, str, str]]:
    with pytest.raises(DocumentError) as refused:
        load_slo(data, media)
    return [(each.line, each.pointer, each.message) for each in refused.value.problems]


def the_problem(data: bytes, media: Media = "yaml") -> tuple[int, str, str]:
    (found,) = problems(data, media)
    return found


def changed(old: str, new: str) -> bytes:
    text = slo_text().decode()
    assert text.count(old) == 1, old
    return text.replace(old, new).encode()


def as_json(**changes: str | None) -> dict[str, Any]:
    """As a tool would write it that reads YAML 1.2's core schema."""
    document: dict[str, Any] = yaml.safe_load(slo_text(**changes))
    document["spec"]["timeWindow"][0]["calendar"]["startTime"] = "2026-01-01 00:00:00"
    return document
