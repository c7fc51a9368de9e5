"""Cursors: what they carry, and which ones are refused."""

import base64
import json

import pytest

from api.pages import Scope, decode_cursor, decode_position, encode_cursor
from models.errors import InvalidInput
from tests.support.facts import get, make_run, post, run_id
from tests.support.service import RunningService

SCOPE: Scope = ["runs", "team-a", {"team": None}]


def test_cursor_carries_its_key() -> None:
    assert decode_cursor(SCOPE, encode_cursor(SCOPE, (7, "sha256:ab")), int, str) == (7, "sha256:ab")
    assert decode_position(SCOPE, encode_cursor(SCOPE, (2**53 - 1,))) == 2**53 - 1
    assert decode_position(SCOPE, None) is None


def made_up(*content: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "7",
        "not base64!",
        "====",
        made_up(),
        made_up(1, "0" * 12, 7),
        made_up(1, "0" * 12, 10**400),
        made_up(1, "0" * 12, True),
        made_up({"v": 1}),
        base64.urlsafe_b64encode(b"[" * 3000).decode(),
        base64.urlsafe_b64encode(b"7").decode(),
        "A" * 100_000,
        "ÿ",
        encode_cursor(["runs", "team-b", {"team": None}], (7,)),
        encode_cursor(["runs", "team-a", {"team": "vision"}], (7,)),
        encode_cursor(SCOPE, (7, "more")),
        encode_cursor(SCOPE, ("7",)),
    ],
)
def test_foreign_or_damaged_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidInput, match="take `next` of the page before") as refused:
        decode_position(SCOPE, cursor)
    assert refused.value.problems[0].field == "/query/after"


def test_cursor_of_another_list_is_refused_over_http(sqlite_service: RunningService) -> None:
    client = sqlite_service.client("recorder")
    for number in (1, 2, 3):
        post(client, "/v1/runs", make_run(number, team="vision"))
    cursor = get(client, "/v1/runs", limit=1)["next"]
    assert get(client, "/v1/runs", limit=2, after=cursor)["items"][0]["run_id"] == run_id(2)
    changed = ("B" if cursor[5] == "A" else "A").join((cursor[:5], cursor[6:]))
    for path in (
        f"/v1/runs?team=vision&after={cursor}",
        f"/v1/runs?after={changed}",
        f"/v1/runs/{run_id(1)}/records?after={cursor}",
        f"/v1/datasets?after={cursor}",
    ):
        response = client.get(path)
        assert (response.status_code, response.json()["code"]) == (422, "invalid_input"), path
