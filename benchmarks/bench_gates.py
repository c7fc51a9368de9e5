"""How long a decision takes to evaluate: the policy of 13 criteria over recorded statistics, facts already gathered.

Facts as parsed JSON in, the members of the decision out. Processor time, of ROUNDS the one with the
best median, so that busy neighbours count for little. The first evaluation of a process pays for quantiles that are
remembered; it is told apart.
"""

import time
from statistics import median
from typing import Final

from benchmarks.support.figures import Figure, finish
from benchmarks.support.load import explain
from benchmarks.support.processes import load_average
from gates.release.evaluate import evaluate
from gates.release.loading import load_policy
from tests.gates.release.passing import NOW, make_facts
from tests.gates.release.policies import policy_text

ROUNDS: Final = 10
DECISIONS: Final = 40
"""Of a round."""
_MOST_SECONDS: Final = 0.005


def main() -> None:
    policy = load_policy(policy_text())
    facts = make_facts(policy)

    def decided() -> float:
        start = time.process_time()
        decision = evaluate(policy, facts, NOW)
        decision.as_json()
        assert decision.verdict == "passed", decision.sentence
        return time.process_time() - start

    first = decided()
    typical = min(median(decided() for _ in range(DECISIONS)) for _ in range(ROUNDS))
    explain(f"{len(policy.criteria)} criteria; the first {first * 1000:.1f} ms; {load_average()}")
    finish([Figure("gate_evaluation", typical * 1000, "ms", typical / _MOST_SECONDS, 1, "at most")])


if __name__ == "__main__":
    main()
