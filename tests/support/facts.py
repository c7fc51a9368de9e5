"""Small bodies for requests, the same for the same number."""

from typing import Any

import httpx


def run_id(number: int) -> str:
    return f"01900000-0000-7000-8000-{number:012x}"


def digest(number: int) -> str:
    return f"sha256:{number:064x}"


def make_run(number: int, **fields: object) -> dict[str, Any]:
    """A run that promises no heartbeat limit of its own; `fields` replace and add."""
    return {"run_id": run_id(number), "job": {"namespace": "ci", "name": "train"}, **fields}


def make_checkpoint(number: int, **fields: object) -> dict[str, Any]:
    return {"digest": digest(number), "step": number, "trained_until": "2026-05-01T12:00:00Z", **fields}


def make_snapshot(number: int, name: str = "clicks", **fields: object) -> dict[str, Any]:
    dataset = {"namespace": "lake", "name": name}
    return {"dataset": dataset, "grade": "content", "digest": digest(number), **fields}


def post(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The answer of a call that must succeed."""
    response = client.post(path, json=body)
    assert response.status_code in (200, 201), response.text
    answer: dict[str, Any] = response.json()
    return answer


def get(client: httpx.Client, path: str, **parameters: str | int) -> dict[str, Any]:
    response = client.get(path, params=parameters)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def get_all(client: httpx.Client, path: str, **parameters: str | int) -> list[dict[str, Any]]:
    """The items of all pages."""
    items: list[dict[str, Any]] = []
    page = get(client, path, **parameters)
    while True:
        items += page["items"]
        if page["next"] is None:
            return items
        page = get(client, path, **{**parameters, "after": page["next"]})
