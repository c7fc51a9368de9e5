"""A method that a path does not take is refused with all that it takes, whichever routes they belong to."""

import re
from collections import defaultdict
from typing import Final

import httpx

from tests.support.calls import assert_refused
from tests.support.service import RunningService

EXAMPLES: Final = {"digest": "sha256:" + "0" * 64}


def test_refused_method_is_answered_with_every_method_of_the_path(service: RunningService) -> None:
    taken: dict[str, set[str]] = defaultdict(set)
    for path, methods in httpx.get(f"{service.url}/openapi.json").json()["paths"].items():
        taken[re.sub(r"\{(\w+)\}", lambda name: EXAMPLES.get(name[1], "x"), path)] |= {
            each.upper() for each in methods
        }
    wrong, refused = {}, 0
    for path, methods in taken.items():
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - methods:
            answer = httpx.request(method, service.url + path)
            told = answer.headers.get("Allow", "")
            said = f"This path does not take {method}; it takes {told}."
            if answer.status_code == 405 and (
                not methods <= set(told.split(", ")) or answer.json()["detail"] != said
            ):
                wrong[method, path] = answer.text
            refused += answer.status_code == 405
    assert wrong == {}
    assert refused > 200


def test_runs_are_said_to_be_read_and_recorded(service: RunningService) -> None:
    refused = service.client("recorder").put("/v1/runs", json={})
    assert_refused(refused, 405, "method_not_allowed", "it takes GET, POST.")
    assert refused.headers["Allow"] == "GET, POST"
