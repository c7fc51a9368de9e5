"""The OpenAPI document: complete in itself, and what it says of a body is what the server does with one."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import jsonschema
import pytest

from api.errors import STATUS
from tests.api.test_limits import bodies, request_schema
from tests.support.bodies import Body, make_checkpoint, make_run, make_start, new_run_id
from tests.support.calls import post
from tests.support.service import RunningService

API_PAGE = Path(__file__).resolve().parents[1] / "docs" / "api.md"
SPARE_VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    5,
    -1,
    2**53,
    1.5,
    "",
    "x",
    "x" * 20_000,
    [],
    [1],
    {},
    {"x": {}},
)
FRAMEWORK_CODES = {"method_not_allowed", "range_not_satisfiable", "bad_request", "head_too_large"}


@pytest.fixture
def document(service: RunningService) -> dict[str, Any]:
    loaded: dict[str, Any] = httpx.get(f"{service.url}/openapi.json").json()
    return loaded


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for below in value.values():
            yield from references(below)
    elif isinstance(value, list):
        for below in value:
            yield from references(below)


def test_every_reference_resolves_and_every_schema_is_one(document: dict[str, Any]) -> None:
    for reference in set(references(document)):
        found: Any = document
        for part in reference.removeprefix("#/").split("/"):
            assert part in found, reference
            found = found[part]
    for name, schema in document["components"]["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert "$defs" not in json.dumps(schema), name


def test_every_operation_says_what_it_does_and_how_it_refuses(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        made_up = operation["operationId"].split("_v1_")[0].replace("_", " ").title()
        assert operation.get("summary") not in (None, "", made_up), (method, path)
        assert operation["responses"]["default"] == {"$ref": "#/components/responses/Refused"}, (method, path)
        assert "422" not in operation["responses"], (method, path)
        assert operation["tags"], (method, path)


def test_refusal_is_as_the_document_describes_it(service: RunningService, document: dict[str, Any]) -> None:
    schema = document["components"]["schemas"]["Problem"]
    client = service.client("recorder")
    for answer in (
        httpx.get(f"{service.url}/v1/runs"),
        post(client, "/v1/runs", {}),
        client.get("/v1/nothing"),
        client.get("/v1/runs", params={"limit": "x"}),
        post(service.client("reader"), "/v1/runs", make_start()),
    ):
        assert answer.headers["content-type"] == "application/problem+json"
        jsonschema.validate(answer.json(), schema)


def mutations(body: Any) -> Iterator[Any]:
    """Bodies with one place changed: a member left out, added, or another value in its place."""
    if isinstance(body, dict):
        yield {**body, "unknown field": 1}
        for name, value in body.items():
            yield {other: kept for other, kept in body.items() if other != name}
            for spare in SPARE_VALUES:
                yield {**body, name: spare}
            for changed in mutations(value):
                yield {**body, name: changed}
    elif isinstance(body, list) and body:
        for spare in SPARE_VALUES:
            yield [spare, *body[1:]]
        for changed in mutations(body[0]):
            yield [changed, *body[1:]]


def test_what_the_document_refuses_the_server_refuses(
    service: RunningService, document: dict[str, Any]
) -> None:
    client, run_id = service.client("recorder", "evaluator"), new_run_id()
    assert (
        post(client, "/v1/runs", make_start(run_id=run_id, checkpoints=[make_checkpoint()])).status_code
        == 201
    )
    wrong: list[tuple[str, Body, int]] = []
    tried = 0
    for route, address, body in [*bodies(run_id), ("/v1/runs", "/v1/runs", make_run())]:
        schema = {**request_schema(document, route), "components": document["components"]}
        validator = jsonschema.Draft202012Validator(schema)
        assert validator.is_valid(body), (route, list(validator.iter_errors(body)))
        assert post(client, address, body).status_code < 300, route
        for number, changed in enumerate(mutations(body)):
            if number % 3 == 0 and not validator.is_valid(changed):
                tried += 1
                status = post(client, address, changed).status_code
                if status != 422 and not (status == 413 and len(json.dumps(changed)) > 1000):
                    wrong.append((route, changed, status))
    assert not wrong, "\n".join(map(str, wrong[:10]))
    assert tried > 300


def test_every_error_code_is_explained(document: dict[str, Any]) -> None:
    page = API_PAGE.read_text(encoding="utf-8")
    codes = {kind.code for kind in STATUS} | FRAMEWORK_CODES
    assert sorted(code for code in codes if f"`{code}`" not in page) == []
