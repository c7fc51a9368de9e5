"""docs/slo.md and examples/slos: what is shown can be published, and what can be written is documented."""

import re
from pathlib import Path
from typing import get_args

import pytest

from gates.slo.counts import SLO_STATES
from gates.slo.definition import Event, Objective, OnMissing
from gates.slo.document import SloPart
from gates.slo.linting import lint
from gates.slo.loading import load_slo
from gates.slo.windows import BreachReason, WindowStatus
from tests.gates.slo.definitions import utc

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/slo.md").read_text(encoding="utf-8")
EXAMPLES = sorted((ROOT / "examples/slos").glob("*.yaml"))
NOW = utc("2026-11-30T02:00")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_each_example_can_be_published(path: Path) -> None:
    found = lint(load_slo(path.read_bytes()), NOW)
    assert [each for each in found if each.severity != "info"] == []
    assert f"examples/slos/{path.name}" in PAGE


def test_there_is_an_example_for_each_objective() -> None:
    found = {load_slo(path.read_bytes()).objective for path in EXAMPLES}
    assert found == set(get_args(Objective))


def test_the_documented_definitions_can_be_published() -> None:
    texts = re.findall(r"^```yaml\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    kinds = [load_slo(text.encode()).kind for text in texts]
    assert kinds == ["SLO", "Invariant"]


def test_every_member_event_state_and_reason_is_documented() -> None:
    words = set(re.findall(r"[A-Za-z_0-9.-]+", PAGE)) | {
        word.rstrip(".") for word in re.findall(r"[A-Za-z_0-9.-]+", PAGE)
    }
    members = {
        field.alias or name for part in SloPart.__subclasses__() for name, field in part.model_fields.items()
    }
    assert members - words == set()
    vocabulary = (Event, Objective, OnMissing, WindowStatus, BreachReason)
    assert {word for each in vocabulary for word in get_args(each)} - words == set()
    assert set(SLO_STATES) - words == set()
