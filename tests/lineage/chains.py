"""Runs that read what others wrote, and the lineage of what came out."""

from typing import Any

import httpx


def digest(number: int) -> str:
    return f"sha256:{number:064x}"


def run_id(number: int) -> str:
    return f"01900000-0000-7000-8000-{number:012x}"


def post(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(path, json=body)
    assert answer.status_code in (200, 201), answer.text
    return dict(answer.json())


def register(client: httpx.Client, number: int, reads: int, writes: int, **more: Any) -> dict[str, Any]:
    body = {
        "run_id": run_id(number),
        "job": {"namespace": "fraud", "name": "train"},
        "inputs": [{"role": "train", "digest": digest(reads)}],
        "artifacts": [{"digest": digest(writes)}],
        **more,
    }
    return post(client, "/v1/runs", body)


def lineage(client: httpx.Client, model: str = "fraud", version: str = "1", **query: Any) -> dict[str, Any]:
    answer = client.get(f"/v1/models/{model}/versions/{version}/lineage", params=query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def chain(client: httpx.Client, length: int) -> None:
    """Run n reads what run n − 1 wrote; the last one's artifact is model fraud, version 1."""
    for number in range(1, length + 1):
        register(client, number, reads=number - 1, writes=number)
    post(
        client,
        "/v1/model-versions",
        {"model": "fraud", "version": "1", "artifact": digest(length), "run_id": run_id(length)},
    )
