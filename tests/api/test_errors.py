"""The table from error class to status, and the documents that callers read."""

import json
from collections.abc import Iterator
from typing import Literal

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel, Field, ValidationError
from sqlalchemy import create_engine, text
from sqlalchemy.pool import QueuePool
from structlog.testing import capture_logs

from api.errors import STATUS, install, invalid_input, problem_response, problems_of
from models import errors
from models.errors import FieldProblem, ShipworthyError
from models.fields import Digest, Instant, Label, Value


def _tree(root: type[ShipworthyError]) -> Iterator[type[ShipworthyError]]:
    yield root
    for child in root.__subclasses__():
        yield from _tree(child)


class Metric(Value):
    name: Label
    value: float


class Note(Value):
    text: str


class Body(Value):
    run_name: Label
    learning_rate: float = Field(default=1.0, gt=0)
    state: Literal["running", "ended"] = "running"
    digest: Digest | None = None
    metrics: list[Metric] = Field(default_factory=list, max_length=30)
    facts: list[Metric | Note] = Field(default_factory=list)
    by_name: dict[str, Metric] = Field(default_factory=dict)
    started: Instant | None = None


def _problems(body: dict[str, object], model: type[BaseModel] = Body) -> dict[str, str]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(body)
    return {problem.field: problem.message for problem in problems_of(caught.value, model)}


def test_every_error_has_a_status_and_a_code_of_its_own() -> None:
    tree = [kind for kind in _tree(ShipworthyError) if not kind.__module__.startswith("tests")]
    assert set(tree) == set(STATUS)
    codes = [kind.code for kind in tree]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize(
    ("error", "status", "header"),
    [
        (errors.TokenMissing("Send a token."), 401, ("www-authenticate", "Bearer")),
        (errors.Unavailable("Busy; try again."), 503, ("retry-after", "1")),
        (errors.RunNotFound("No such run."), 404, ("content-type", "application/problem+json")),
    ],
)
def test_problem_response_has_status_headers_and_members(
    error: ShipworthyError, status: int, header: tuple[str, str]
) -> None:
    response = problem_response(error, "request-1")
    assert response.status_code == status
    assert response.headers[header[0]] == header[1]
    assert json.loads(bytes(response.body)) == {
        "type": f"/docs/errors#{error.code}",
        "title": error.code.replace("_", " ").capitalize(),
        "status": status,
        "detail": error.detail,
        "code": error.code,
        "request_id": "request-1",
        "errors": [],
    }


def test_problem_response_lists_the_fields() -> None:
    error = errors.InvalidInput("/a must be a string.", problems=[FieldProblem("/a", "must be a string")])
    document = json.loads(bytes(problem_response(error, "r").body))
    assert document["errors"] == [{"field": "/a", "message": "must be a string"}]


def test_unknown_field_names_the_nearest_known_one() -> None:
    assert _problems({"run_name": "a", "learning_rat": 0.1}) == {
        "/learning_rat": 'is not a field here; did you mean "learning_rate"?'
    }


def test_unknown_field_with_nothing_near_lists_the_fields_of_its_place() -> None:
    assert _problems({"run_name": "a", "metrics": [{"name": "loss", "value": 1.0, "zzz": 1}]}) == {
        "/metrics/0/zzz": "is not a field here; remove it (the fields are name, value)"
    }


def test_problems_say_what_would_be_right() -> None:
    found = _problems(
        {
            "learning_rate": 0,
            "state": "gone",
            "digest": "md5:1",
            "metrics": [{"name": 1, "value": 1.0}] * 31,
            "by_name": {"a/b~c": {"name": "x" * 257, "value": "high"}},
        }
    )
    assert found == {
        "/run_name": "is missing; add it",
        "/learning_rate": "must be more than 0.0",
        "/state": "must be 'running' or 'ended'",
        "/digest": "must be a digest: sha256: and 64 lower-case hex digits",
        "/metrics": "must hold at most 30 entries",
        "/by_name/a~1b~0c/name": "is longer than 256 characters; shorten it",
        "/by_name/a~1b~0c/value": "must be a number",
    }


def test_pointers_leave_out_the_members_of_a_union() -> None:
    assert set(_problems({"run_name": "a", "facts": [{"text": 1}]})) == {
        "/facts/0/name",
        "/facts/0/value",
        "/facts/0/text",
    }


def test_a_body_of_the_wrong_type_is_the_empty_pointer() -> None:
    with pytest.raises(ValidationError) as caught:
        Body.model_validate([])
    error = invalid_input(caught.value, Body)
    assert error.detail == "The body must be an object."
    assert error.problems == (FieldProblem("", "must be an object"),)


def test_at_most_twenty_problems_are_listed_and_the_detail_counts_all() -> None:
    with pytest.raises(ValidationError) as caught:
        Body.model_validate({"run_name": "a", "by_name": {str(number): 1 for number in range(50)}})
    error = invalid_input(caught.value, Body)
    assert len(error.problems) == 20
    assert error.detail == "/by_name/0 must be an object; 49 more in this request."


def test_the_input_is_never_echoed() -> None:
    secret = "hunter2-secret"
    found = _problems(
        {
            "run_name": f"{secret}\x00",
            "learning_rate": secret,
            "state": secret,
            "digest": secret,
            "metrics": secret,
            "started": secret,
            "by_name": {"a": {"name": [secret], "value": {secret: 1}}},
        }
    )
    assert len(found) == 8
    assert secret not in "".join(found.values())
    assert "write it like 2026-05-01T12:00:00.000Z" in found["/started"]


def test_an_endless_key_is_cut_in_the_pointer() -> None:
    (field,) = _problems({"run_name": "a", "k" * 100_000: 1})
    assert len(field) == 257


@pytest.fixture
def client() -> Iterator[TestClient]:
    app = FastAPI()
    install(app)

    @app.get("/items/{number}")
    def item(number: int, limit: int = 1) -> int:
        if number == 13:
            raise RuntimeError("password=hunter2")
        if number == 14:
            raise errors.StartRefused("the key file /etc/secret is readable by all")
        if number == 15:
            create_engine("sqlite:////nowhere/at/all.sqlite3").connect()
        if number == 16:
            engine = create_engine(
                "sqlite://", poolclass=QueuePool, pool_size=1, max_overflow=0, pool_timeout=0.01
            )
            try:
                with engine.connect() as held, engine.connect() as second:
                    held.execute(text("SELECT 1"))
                    second.execute(text("SELECT 1"))
            finally:
                engine.dispose()
        return number * limit

    with TestClient(app, raise_server_exceptions=False) as found:
        yield found


def test_unknown_route_and_method_are_problems(client: TestClient) -> None:
    missing = client.get("/nothing")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    method = client.delete("/items/1")
    assert (method.status_code, method.json()["code"]) == (405, "method_not_allowed")
    assert method.headers["allow"] == "GET"
    assert "it takes GET" in method.json()["detail"]


def test_refused_parameters_are_invalid_input_without_their_value(client: TestClient) -> None:
    response = client.get("/items/one-secret?limit=hunter2")
    assert response.status_code == 422
    document = response.json()
    assert document["code"] == "invalid_input"
    assert document["errors"] == [
        {"field": "/path/number", "message": "must be an integer"},
        {"field": "/query/limit", "message": "must be an integer"},
    ]
    assert "secret" not in response.text
    assert "hunter2" not in response.text


@pytest.mark.parametrize(("number", "code"), [(13, "internal_error"), (14, "start_refused")])
def test_an_unexpected_error_is_logged_but_not_told(client: TestClient, number: int, code: str) -> None:
    with capture_logs() as logs:
        response = client.get(f"/items/{number}")
    assert (response.status_code, response.json()["code"]) == (500, code)
    assert "hunter2" not in response.text
    assert "/etc" not in response.text
    assert [entry["log_level"] for entry in logs] == ["error"]
    assert isinstance(logs[0]["exc_info"], Exception)


@pytest.mark.parametrize("number", [15, 16])
def test_a_database_that_is_away_or_busy_is_unavailable(client: TestClient, number: int) -> None:
    with capture_logs() as logs:
        response = client.get(f"/items/{number}")
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")
    assert response.headers["retry-after"] == "1"
    assert logs[0]["event"] == "database unavailable"
