"""Recording calls as tests make them, and what is looked at afterwards."""

from typing import Any

import httpx


def post(client: httpx.Client, path: str, body: object, key: str | None = None) -> httpx.Response:
    return client.post(path, json=body, headers={} if key is None else {"Idempotency-Key": key})


def log_size(client: httpx.Client) -> int:
    """The number of records, as the log's signed head says it."""
    return int(client.get("/v1/log/checkpoint").text.split("\n")[1])


def stored_body(client: httpx.Client, record: str) -> dict[str, Any]:
    answer = client.get(f"/v1/records/{record}")
    assert answer.status_code == 200
    body: dict[str, Any] = answer.json()["body"]
    return body


def assert_refused(answer: httpx.Response, status: int, code: str, *said: str) -> None:
    """The status and code, and that the sentence says each of these."""
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (status, code), problem
    assert [word for word in said if word not in problem["detail"]] == [], problem["detail"]
    assert answer.headers["content-type"] == "application/problem+json"
