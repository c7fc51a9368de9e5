"""`POST /v1/promotions:check` at 100,000 decisions on PostgreSQL, against the same service with 1,000.

Both services run side by side on one database server that syncs every commit; samples alternate between them, so that
what else the machine does weighs on both. A sample is one check with a grant as its answer, for a random artifact over
one keep-alive connection on loopback; that the move failed is told outside the measured time, which frees the target.
SHIPWORTHY_BENCH_DECISIONS sets another number for a quick look.
"""

import json
import os
import random
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Final

from benchmarks.support.decisions import MODEL, NAMESPACE, TO, copy_decisions
from benchmarks.support.figures import Figure, finish
from benchmarks.support.http import Answer, Client
from benchmarks.support.load import Failed, explain, run
from benchmarks.support.processes import load_average, new_database, postgresql, shipworthy
from models.database import Database
from models.keys.administration import create_key
from models.keys.key_files import key_folder, load_key_files
from models.ledger.opening import open_ledger
from tests.support.databases import DatabaseUrls
from tests.support.facts import digest

MANY: Final = int(os.environ.get("SHIPWORTHY_BENCH_DECISIONS", "100000"))
FEW: Final = 1_000
SAMPLES: Final = 150
ROUNDS: Final = 5
LIMIT: Final = 1.3
SEED: Final = 20260501


def main() -> None:
    chance = random.Random(SEED)
    with postgresql() as postgres, tempfile.TemporaryDirectory() as folder:
        few, many = (new_database(postgres, name) for name in ("few", "many"))
        data = [Path(folder) / name for name in ("few", "many")]
        with shipworthy(data[0], few) as first, shipworthy(data[1], many) as second:
            tokens = [
                _filled(urls, path / "data", number)
                for urls, path, number in zip((few, many), data, (FEW, MANY), strict=True)
            ]
            places = [(first.port, tokens[0], FEW), (second.port, tokens[1], MANY)]
            ratio, at_many = run(_measure(places, chance))
    finish([Figure("check_p50_many", at_many, "ms", ratio, LIMIT, "at most")])


def _filled(urls: DatabaseUrls, data: Path, number: int) -> str:
    """A registry's token; every decision is a pass in force for an artifact of its own."""
    database = Database(urls.service_url)
    try:
        ring = load_key_files(key_folder(data))
        ledger = open_ledger(database, ring.log_key, None)
        try:
            token = create_key(ledger, ring, namespace=NAMESPACE, roles=["registry"]).token
        finally:
            ledger.close()
    finally:
        database.dispose()
    copy_decisions(urls, number)
    return token


async def _measure(places: list[tuple[int, str, int]], chance: random.Random) -> tuple[float, float]:
    """Median over the rounds of the ratio of their medians, and of the larger service's median in milliseconds."""
    clients = [Client(port, token) for port, token, _ in places]
    try:
        ratios, larger = [], []
        for number in range(ROUNDS + 1):
            taken: list[list[float]] = [[], []]
            for _ in range(SAMPLES):
                for client, (_, _, decisions), times in zip(clients, places, taken, strict=True):
                    times.append(await _check(client, chance.randrange(decisions)))
            few, many = map(median, taken)
            if number:  # the first round warms up
                ratios.append(many / few)
                larger.append(many)
                tails = [quantiles(times, n=100)[98] for times in taken]
                explain(
                    f"p50 {few:.2f} ms at {FEW}, {many:.2f} ms at {MANY}; p99 {tails[0]:.2f} and {tails[1]:.2f} ms; "
                    f"{load_average()}"
                )
        return median(ratios), median(larger)
    finally:
        for client in clients:
            client.close()


async def _check(client: Client, number: int) -> float:
    """Milliseconds to a grant; the target is freed again."""
    asked = {
        "action": "promote",
        "model": MODEL,
        "version": str(number),
        "target": TO,
        "artifact": digest(number),
    }
    body = json.dumps(asked).encode()
    began = time.perf_counter()
    answer = await client.post("/v1/promotions:check", body)
    taken = 1000 * (time.perf_counter() - began)
    grant = _expected(answer, 200)["grant"]
    if grant is None:
        raise Failed(f"the check was refused: {answer.body[:300]!r}")
    said = {"grant": grant["id"], "outcome": "failed"}
    _expected(await client.post("/v1/promotions", json.dumps(said).encode()), 201)
    return taken


def _expected(answer: Answer, status: int) -> dict[str, dict[str, str] | None]:
    if answer.status != status:
        raise Failed(f"answered {answer.status}: {answer.body[:300]!r}")
    found: dict[str, dict[str, str] | None] = json.loads(answer.body)
    return found


if __name__ == "__main__":
    main()
