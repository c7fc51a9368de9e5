"""What a client of Shipworthy does under load."""

from benchmarks.support.http import Client
from benchmarks.support.load import Failed
from benchmarks.support.workload import batch_line, new_mark, run_body

BATCH_RUNS = 50


async def post_run(client: Client) -> int:
    """One complete run by `POST /v1/runs`."""
    answer = await client.post("/v1/runs", run_body(new_mark()))
    if answer.status != 201:
        raise Failed(f"POST /v1/runs answered {answer.status}: {answer.body[:200]!r}")
    return 1


async def post_batch(client: Client) -> int:
    """50 complete runs by `POST /v1/records:batch`."""
    lines = b"\n".join(batch_line(new_mark()) for _ in range(BATCH_RUNS))
    answer = await client.request("POST", "/v1/records:batch", lines, content_type="application/x-ndjson")
    if answer.status != 200 or answer.body.count(b'"status":201') != BATCH_RUNS:
        raise Failed(f"records:batch answered {answer.status}: {answer.body[:200]!r}")
    return BATCH_RUNS
