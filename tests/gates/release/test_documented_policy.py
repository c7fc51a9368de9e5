"""docs/gates.md: its policy can be published, and what can be written is in it."""

import re
from pathlib import Path

from gates.release.linting import lint
from gates.release.loading import load_policy
from gates.release.metrics import METRICS
from gates.release.policy import KINDS
from gates.release.values import PolicyPart
from shipworthy.formats.decision_rule import OUTCOMES

PAGE = (Path(__file__).parents[3] / "docs/gates.md").read_text(encoding="utf-8")


def test_the_documented_policy_can_be_published() -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    policy = load_policy(text.encode())
    assert {each.kind for each in policy.criteria} == set(KINDS)
    assert [each.severity for each in lint(policy)].count("warning") == 1


def members(part: type[PolicyPart]) -> set[str]:
    names = {field.alias or name for name, field in part.model_fields.items()}
    return names.union(*(members(other) for other in part.__subclasses__()))


def test_every_member_outcome_kind_and_metric_is_documented() -> None:
    words = set(re.findall(r"[A-Za-z_0-9-]+", PAGE))
    assert members(PolicyPart) - words == set()
    assert {*METRICS, *KINDS, *OUTCOMES} - words == set()
