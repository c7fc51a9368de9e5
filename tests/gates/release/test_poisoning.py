"""No single corrupted fact lets a release pass."""

import sys
from collections import Counter

import pytest

from gates.release.evaluate import evaluate
from tests.gates.release.passing import NOW, make_facts
from tests.gates.release.poisoning import poisons
from tests.gates.release.policies import make_policy
from tests.gates.release.scenes import decide


def test_no_single_corruption_of_a_passing_release_passes(capsys: pytest.CaptureFixture[str]) -> None:
    policy = make_policy()
    facts = make_facts(policy)
    assert decide(policy).verdict == "passed"
    verdicts: Counter[str] = Counter()
    passed = []
    for poison in poisons(facts):
        verdict = evaluate(policy, poison.facts, NOW).verdict
        verdicts[verdict] += 1
        if verdict == "passed":
            passed.append((poison.path, poison.name))
    with capsys.disabled():
        sys.stdout.write(
            f"\n{verdicts.total():,} poisoned releases: {dict(verdicts)}, {len(passed)} passed\n"
        )
    assert passed == []
    assert verdicts.total() >= 1000


@pytest.mark.parametrize("facts", [{}, {"schema": "shipworthy.facts/1"}, {"schema": "shipworthy.facts/2"}])
def test_facts_that_are_no_facts_block_every_criterion(facts: dict[str, object]) -> None:
    decision = evaluate(make_policy(), facts, NOW)
    assert decision.verdict == "blocked"
    assert {(each.outcome, each.effect, each.finding.code) for each in decision.criteria} == {
        ("error", "block", "unreadable")
    }
    assert len(decision.criteria) == len(make_policy().criteria)
