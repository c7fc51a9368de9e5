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
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median, quantiles
from typing import Final

from sqlalchemy import text

from benchmarks.support.figures import Figure, finish
from benchmarks.support.http import Answer, Client
from benchmarks.support.load import Failed, explain, run
from benchmarks.support.processes import load_average, new_database, postgresql, shipworthy
from models.bulk import Row, insert_rows
from models.database import Database
from models.gates.tables import DecisionInput, Gate, GateDecision
from models.keys.administration import create_key
from models.keys.key_files import key_folder, load_key_files
from models.ledger.opening import open_ledger
from tests.support.databases import DatabaseUrls
from tests.support.facts import digest

MANY: Final = int(os.environ.get("SHIPWORTHY_BENCH_DECISIONS", "100000"))
FEW: Final = 1_000
INPUTS: Final = 8
SAMPLES: Final = 300
ROUNDS: Final = 5
LIMIT: Final = 1.3
SEED: Final = 20260501
NAMESPACE: Final = "default"
MODEL: Final = "fraud-classifier"
TO: Final = "champion"
CHUNK: Final = 5_000
_FIRST_INPUT: Final = 10**12
_BASE: Final = 10**9


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
    began = time.perf_counter()
    try:
        ring = load_key_files(key_folder(data))
        ledger = open_ledger(database, ring.log_key, None)
        try:
            token = create_key(ledger, ring, namespace=NAMESPACE, roles=["registry"]).token
        finally:
            ledger.close()
        with database.connection() as connection:
            insert_rows(connection, Gate, [_gate()])
            for start in range(0, number, CHUNK):
                numbers = range(start, min(start + CHUNK, number))
                insert_rows(connection, GateDecision, [_decision(each) for each in numbers])
                insert_rows(connection, DecisionInput, [row for each in numbers for row in _inputs(each)])
    finally:
        database.dispose()
    owner = Database(urls.migration_url)
    with owner.connection() as connection:
        connection.execute(text("ANALYZE"))
    owner.dispose()
    explain(f"{number} decisions copied in {time.perf_counter() - began:.0f} s")
    return token


def _gate() -> Row:
    return {
        "namespace": NAMESPACE,
        "name": "gate",
        "version": 1,
        "digest": digest(1),
        "document_digest": digest(2),
        "model": MODEL,
        "target": TO,
        "owner": None,
        "record": digest(3),
        "position": 0,
    }


def _decision(number: int) -> Row:
    record = digest(_BASE + number)
    predicate = {
        "decision": record,
        "verdict": "passed",
        "sentence": "Passed.",
        "incumbent": {"artifact": None, "how": "none", "record": None, "target": TO},
        "gate": {"name": "gate", "version": 1, "digest": digest(1)},
        "unblocks": [],
        "reviews": [],
        "waivers": [],
        "criteria": [{"id": f"criterion-{each}", "sentence": "measured " * 20} for each in range(12)],
    }
    return {
        "namespace": NAMESPACE,
        "record": record,
        "type": "gate",
        "mode": "enforce",
        "verdict": "passed",
        "model": MODEL,
        "version": None,
        "target": TO,
        "artifact": digest(number),
        "gate": "gate",
        "gate_version": 1,
        "valid_until": datetime.now(UTC) + timedelta(days=7),
        "position": number,
        "summary": "{}",
        "document": json.dumps(predicate),
    }


def _inputs(number: int) -> Iterator[Row]:
    for each in range(INPUTS):
        yield {
            "decision": digest(_BASE + number),
            "namespace": NAMESPACE,
            "record": digest(_FIRST_INPUT + number * INPUTS + each),
            "key_id": f"key{number % 50}",
            "position": number,
        }


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
