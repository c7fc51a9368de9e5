"""Many runs in a database without asking a server for each: what `records:batch` does, without HTTP.

Each line is parsed, validated, made canonical and appended by the code that serves requests, and the ledger's writer
commits it with all its checks. So records, log and projections are those of the live path, because it is the live
path; the running server sees them as it sees what other API processes wrote. Two processes prepare and commit in turn,
each under the log lock.
"""

import asyncio
import gc
import multiprocessing
import random
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

from api.recording import Recorder, parse_json
from benchmarks.support.load import Failed, explain, run
from benchmarks.support.workload import BASE_MODEL, artifact_of, new_mark, run_body
from models.actor import Actor
from models.database import Database
from models.errors import ShipworthyError
from models.keys.key_files import KeyRing, ensure_key_files, key_folder
from models.ledger.commit import Outcome
from models.ledger.opening import open_ledger
from models.ledger.writer import MAX_BATCH_ITEMS, Ledger
from tests.support.databases import DatabaseUrls
from tests.support.histories import History

LOADERS: Final = 2
NAMESPACE: Final = "default"
"""That of the keys which a first start shows."""
CHAINED: Final = 0.1
"""So many runs start from the artifact of an earlier one."""


def fill(data: Path, urls: DatabaseUrls, marks: list[str], until: int, seed: int) -> None:
    """Adds complete runs until there are `until`, and their marks; `data` is the folder of the service whose database
    it is. Raises Failed when the ledger refuses one."""
    began, wanted = time.perf_counter(), until - len(marks)
    shares = [(wanted + loader) // LOADERS for loader in range(LOADERS)]
    # Not forked: a forked child would share the connections and threads of this process.
    with ProcessPoolExecutor(LOADERS, multiprocessing.get_context("spawn")) as loaders:
        parts = [
            loaders.submit(_load, data, urls.service_url, list(marks), share, seed + loader)
            for loader, share in enumerate(shares)
        ]
        for part in parts:
            marks += part.result()
    explain(f"{wanted} runs recorded, {wanted / (time.perf_counter() - began):.0f} a second")


def _load(data: Path, service_url: str, marks: list[str], count: int, seed: int) -> list[str]:
    """In a process of its own: the marks of `count` new runs, of which some rest on earlier ones."""
    gc.disable()  # What is made here has no cycles and is freed by its counts; looking for them took a tenth.
    ring = ensure_key_files(key_folder(data))
    database = Database(service_url)
    try:
        # Without the head file, which is the server's own.
        ledger = open_ledger(database, ring.log_key, None)
        try:
            actor = History(ledger, ring).actor("recorder", namespace=NAMESPACE)
            return run(_append(ledger, ring, actor, marks, count, random.Random(seed)))
        finally:
            ledger.close()
    finally:
        database.dispose()


async def _append(
    ledger: Ledger, ring: KeyRing, actor: Actor, marks: list[str], count: int, chance: random.Random
) -> list[str]:
    """One batch is committed by the ledger's thread while the next is prepared."""
    recorder = Recorder(ring.pepper)
    known, committing, before = list(marks), None, len(marks)
    while len(known) - before < count:
        batch = [new_mark() for _ in range(min(MAX_BATCH_ITEMS, count - len(known) + before))]
        bodies = [parse_json(run_body(mark, _base_model(known, chance))) for mark in batch]
        items = [recorder.item("run.registered", actor, body, None) for body in bodies]
        if committing is not None:
            _refuse_refusals(await committing)
        committing = asyncio.ensure_future(ledger.append_all(items))
        await asyncio.sleep(0)  # Hands the batch over before the next one is prepared.
        known += batch
    if committing is not None:
        _refuse_refusals(await committing)
    return known[before:]


def _refuse_refusals(outcomes: Sequence[Outcome]) -> None:
    for outcome in outcomes:
        if isinstance(outcome, ShipworthyError):
            raise Failed(f"the ledger refused a run: {outcome}")


def _base_model(marks: list[str], chance: random.Random) -> str:
    return artifact_of(chance.choice(marks)) if marks and chance.random() < CHAINED else BASE_MODEL
