"""The decision in force at 100,000 decisions on PostgreSQL, and judging a decision of 13 criteria.

The rows of decisions and of the 800,000 records that they rest on are copied into the projections that the lookup
reads; nothing of it is cached between two questions. Asked over one keep-alive connection on loopback for random
artifacts, after a warm-up; the time is the client's. Judging is measured in processor time, since it does nothing else:
from the facts as parsed JSON to the verdict. SHIPWORTHY_BENCH_DECISIONS sets another number for a quick look.
"""

import json
import os
import random
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.support.decisions import MODEL, TO, copy_decisions
from benchmarks.support.figures import Figure, finish
from benchmarks.support.http import Client
from benchmarks.support.load import Failed, explain, run
from benchmarks.support.processes import (
    Server,
    load_average,
    new_database,
    postgresql,
    shipworthy,
)
from benchmarks.support.tails import tail_of
from gates.release.evaluate import evaluate
from tests.gates.release.passing import NOW, make_facts
from tests.gates.release.policies import make_policy
from tests.support.facts import digest

DECISIONS: Final = int(os.environ.get("SHIPWORTHY_BENCH_DECISIONS", "100000"))
PER_ARTIFACT: Final = 20
QUESTIONS: Final = 500
ROUNDS: Final = 5
JUDGED: Final = 200
LOOKUP_MS: Final = 10.0
JUDGING_MS: Final = 5.0
SEED: Final = 20260501


def main() -> None:
    chance = random.Random(SEED)
    with postgresql() as postgres, tempfile.TemporaryDirectory() as folder:
        urls = new_database(postgres, "shipworthy")
        with shipworthy(Path(folder), urls) as server:
            copy_decisions(urls, DECISIONS, PER_ARTIFACT)
            lookup = run(_measure(server, chance))
    judging = _judging()
    finish(
        [
            Figure("in_force_p99", lookup, "ms", lookup / LOOKUP_MS, 1, "at most"),
            Figure("judging", judging, "ms", judging / JUDGING_MS, 1, "at most"),
        ]
    )


async def _measure(server: Server, chance: random.Random) -> float:
    client = Client(server.port, server.token)
    return await tail_of(server, client, partial(_ask, chance=chance), ROUNDS)


async def _ask(client: Client, chance: random.Random) -> list[float]:
    taken = []
    for _ in range(QUESTIONS):
        artifact = digest(chance.randrange(DECISIONS // PER_ARTIFACT))
        path = f"/v1/decisions:in-force?model={MODEL}&to={TO}&artifact={artifact}"
        began = time.perf_counter()
        answer = await client.get(path)
        taken.append(1000 * (time.perf_counter() - began))
        if answer.status != 200 or not json.loads(answer.body)["active"]:
            raise Failed(f"in force answered {answer.status}: {answer.body[:300]!r}")
    return taken


def _judging() -> float:
    """Median processor time of a decision, in milliseconds."""
    policy = make_policy()
    facts: dict[str, Any] = make_facts(policy)
    if evaluate(policy, facts, NOW).verdict != "passed":
        raise Failed("the case that is judged does not pass, so less of it is read than in one that does")
    taken = []
    for _ in range(JUDGED):
        began = time.process_time()
        evaluate(policy, facts, NOW)
        taken.append(1000 * (time.process_time() - began))
    explain(
        f"{len(policy.criteria)} criteria: median {median(taken):.2f} ms of processor time; {load_average()}"
    )
    return median(taken)


if __name__ == "__main__":
    main()
