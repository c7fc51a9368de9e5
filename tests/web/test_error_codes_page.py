"""The page to which the `type` of a problem document leads."""

import re

import httpx

from api.error_codes import CODES
from api.web.cookies import SESSION
from tests.support.service import RunningService


def test_type_of_a_problem_leads_to_what_to_do_without_a_key(sqlite_service: RunningService) -> None:
    problem = httpx.get(f"{sqlite_service.url}/v1/runs").json()
    assert problem["type"] == "/docs/errors#token_missing"
    path, _, anchor = problem["type"].partition("#")
    answer = httpx.get(sqlite_service.url + path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    (row,) = re.findall(rf'<tr id="{anchor}">(.+?)</tr>', answer.text, flags=re.DOTALL)
    assert "Send <code>Authorization: Bearer sw_…</code>." in row


def test_page_has_an_anchor_for_every_code_and_nothing_of_other_sites(sqlite_service: RunningService) -> None:
    text = httpx.get(f"{sqlite_service.url}/docs/errors").text
    assert re.findall(r'<tr id="(.+?)">', text) == [each.code for each in CODES]
    assert all(address[0] in "/#" for address in re.findall(r'(?:href|src)="(.*?)"', text))
    assert "`" not in text


def test_page_loads_for_whose_session_is_over(sqlite_service: RunningService) -> None:
    answer = httpx.get(f"{sqlite_service.url}/docs/errors", cookies={SESSION: "made-up"})
    assert answer.status_code == 200
