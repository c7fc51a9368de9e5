"""The slowest answers of a server that one client asks again and again."""

from collections.abc import Awaitable, Callable
from statistics import median, quantiles

from benchmarks.support.http import Client
from benchmarks.support.load import explain
from benchmarks.support.processes import Server, load_average, processor_seconds


async def tail_of(
    server: Server, client: Client, ask: Callable[[Client], Awaitable[list[float]]], rounds: int
) -> float:
    """Median of the rounds' 99th percentiles; `ask` gives the milliseconds of each answer of a round. Closes the
    client."""
    try:
        tails = []
        for number in range(rounds + 1):
            processor = processor_seconds(server.pid)
            taken = await ask(client)
            processor = processor_seconds(server.pid) - processor
            if number:  # the first round warms up
                tails.append(quantiles(taken, n=100)[98])
                explain(
                    f"median {median(taken):.2f} ms, p99 {tails[-1]:.2f} ms; {1000 * processor / len(taken):.2f} ms of "
                    f"the server's processor time each; {load_average()}"
                )
        return median(tails)
    finally:
        client.close()
