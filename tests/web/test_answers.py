"""What every answer of a page has: headers, errors in the same clothes, files that may be kept."""

import re

import httpx
import pytest

from tests.support.bodies import digest_of
from tests.web.scenes import HTML, Scene, make_checks

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
UNKNOWN = "01900000-0000-4000-8000-000000000000"


def test_every_answer_carries_the_policy_and_is_not_stored(sqlite_scene: Scene) -> None:
    published = sqlite_scene.publish()
    check = sqlite_scene.checked(published, make_checks())
    client = sqlite_scene.browser()
    paths = [
        "/",
        "/contract-checks",
        f"/contract-checks/{check}",
        f"/contract-checks/{UNKNOWN}",
        "/contracts",
        "/contracts/taxi-trips/versions/1",
        "/search?q=taxi",
        "/login",
        "/nowhere",
        "/v1/runs",
    ]
    for path in paths:
        answer = client.get(path)
        assert answer.headers["content-security-policy"] == POLICY, path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store", path


def test_no_page_has_inline_style_script_or_handler(sqlite_scene: Scene) -> None:
    published = sqlite_scene.publish()
    check = sqlite_scene.checked(published, make_checks())
    open_check = sqlite_scene.ask()
    client = sqlite_scene.browser(sqlite_scene.key("recorder"))
    for path in (
        "/",
        "/contract-checks",
        f"/contract-checks/{check}",
        f"/contract-checks/{open_check}",
        "/login",
    ):
        page = client.get(path).text
        assert not re.search(r"<style|\sstyle=|\son\w+=|hx-on|<script(?![^>]*\ssrc=)|js:", page), path


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        (f"/contract-checks/{UNKNOWN}", 404, "There is nothing here by that name."),
        ("/contracts/none/versions/1", 404, "There is nothing here by that name."),
        ("/nowhere", 404, "There is nothing here by that name."),
        ("/contracts/none/versions/0", 422, "The address asks for something that can’t be answered."),
        ("/contract-checks?outcome=odd", 422, "The address asks for something that can’t be answered."),
        ("/contract-checks?after=odd", 422, "The address asks for something that can’t be answered."),
        ("/logout", 405, "This address does not take that."),
    ],
)
def test_errors_of_pages_are_pages(sqlite_scene: Scene, path: str, status: int, words: str) -> None:
    answer = sqlite_scene.browser().get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert words in answer.text
    assert answer.headers["x-request-id"] in answer.text


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/runs?state=zzz", "“zzz” does not exist; it is one of failed, lost,"),
        ("/decisions?verdict=zzz", "it is one of blocked, break_glass,"),
    ],
)
def test_a_filter_that_does_not_exist_is_no_filter_that_fits_all(
    sqlite_scene: Scene, path: str, words: str
) -> None:
    answer = sqlite_scene.browser().get(path)
    assert answer.status_code == 422
    assert words in answer.text


def test_errors_of_calls_stay_documents(sqlite_scene: Scene) -> None:
    client = sqlite_scene.browser()
    for path in ("/v1/runs/none", "/v1/nothing", "/metrics/none"):
        answer = client.get(path)
        assert answer.headers["content-type"] == "application/problem+json", path
    assert client.get("/nowhere", headers={"Accept": "*/*"}).json()["code"] == "not_found"


def test_a_poll_after_the_session_ended_is_told_not_led_away(sqlite_scene: Scene) -> None:
    address = f"{sqlite_scene.service.url}/contract-checks/{UNKNOWN}"
    answer = httpx.get(address, headers=HTML | {"HX-Request": "true"})
    assert answer.status_code == 401
    assert 'id="content"' in answer.text
    assert f'href="/login?next=%2Fcontract-checks%2F{UNKNOWN}"' in answer.text


def test_ids_of_another_tenant_answer_like_ids_that_nobody_has(scene: Scene) -> None:
    published = scene.publish()
    check = scene.checked(published, make_checks())
    record = scene.recorder.get(f"/v1/contract-checks/{check}").json()["record"]
    stranger = Scene(scene.service, namespace="team-b").browser()

    def shown(path: str, own: str) -> tuple[int, str]:
        answer = stranger.get(path)
        text = answer.text.replace(answer.headers["x-request-id"], "…")
        return answer.status_code, text.replace(own, "…")

    for theirs, nobodys in (
        (check, UNKNOWN),
        (record, digest_of("nothing")),
    ):
        found = shown(f"/contract-checks/{theirs}", theirs)
        assert found == shown(f"/contract-checks/{nobodys}", nobodys)
        assert found[0] == 404
    assert shown("/contracts/taxi-trips/versions/1", "taxi-trips") == shown(
        "/contracts/taxi-lorries/versions/1", "taxi-lorries"
    )
    for path in ("/", "/contract-checks", "/contracts", "/search?q=taxi", f"/search?q={record}"):
        assert "taxi-trips" not in stranger.get(path).text.replace("“taxi”", "")
        assert check not in stranger.get(path).text


def test_static_files_are_kept_by_what_they_hold(sqlite_scene: Scene) -> None:
    with httpx.Client(base_url=sqlite_scene.service.url) as client:
        addresses = re.findall(r'(?:href|src)="(/static/[^"]+)"', client.get("/login").text)
        assert {address.rsplit("/")[-1] for address in addresses} == {"icon.svg", "style.css", "pages.js"}
        for address in addresses:
            compressed, plain = (
                client.get(address),
                client.get(address, headers={"Accept-Encoding": "identity"}),
            )
            assert compressed.headers["content-encoding"] == "gzip"
            assert "content-encoding" not in plain.headers
            assert compressed.content == plain.content
            assert "immutable" in plain.headers["cache-control"]
        old = "/static/0123456789abcdef/style.css"
        assert client.get(old).headers["cache-control"] == "no-store"
        for path in ("/static/x/../../app.py", "/static/x/..%2f..%2fapp.py", "/static/x/none.css"):
            assert client.get(path).status_code == 404


def test_names_of_pages_are_in_no_document_of_calls(sqlite_scene: Scene) -> None:
    paths = httpx.get(f"{sqlite_scene.service.url}/openapi.json", timeout=60).json()["paths"]
    assert not [
        path for path in paths if path.startswith(("/login", "/logout", "/contract", "/search", "/static"))
    ]
