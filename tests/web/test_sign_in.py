"""Signing in with a key, staying signed in, and every way in which that ends."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from models.keys.sessions import SESSION_HOURS, Sealer, new_session
from tests.support.databases import DatabaseUrls
from tests.support.service import running_service
from tests.web.scenes import HTML, Scene, form_token, sign_in

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SESSION = "shipworthy-session"


def is_signed_in(client: httpx.Client) -> bool:
    answer = client.get("/contract-checks")
    assert answer.status_code in (200, 303), answer.text
    return answer.status_code == 200


def test_pages_lead_to_the_form_and_the_form_leads_back(scene: Scene) -> None:
    with httpx.Client(base_url=scene.service.url, headers=HTML) as client:
        sent = client.get("/contract-checks", params={"outcome": "failed"})
        assert (sent.status_code, sent.headers["location"]) == (
            303,
            "/login?next=%2Fcontract-checks%3Foutcome%3Dfailed",
        )
        form = client.get(sent.headers["location"])
        assert 'name="next" value="/contract-checks?outcome=failed"' in form.text
        fields = {"form_token": form_token(form), "key": f" {scene.key().token}\n"}
        answer = client.post("/login", data=fields | {"next": "/contract-checks?outcome=failed"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/contract-checks?outcome=failed")
        assert client.get(answer.headers["location"]).status_code == 200


def test_session_cookie_is_out_of_reach_for_scripts_and_other_sites(scene: Scene) -> None:
    with httpx.Client(base_url=scene.service.url, headers=HTML) as client:
        cookies = sign_in(client, scene.key().token).headers.get_list("set-cookie")
    (cookie,) = [each for each in cookies if each.startswith(SESSION)]
    attributes = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert attributes == {"httponly", "samesite=strict", "path=/", f"max-age={SESSION_HOURS * 3600}"}
    assert "sw_" not in cookie


def test_over_https_the_cookie_is_for_this_host_and_https_only(scene: Scene) -> None:
    behind_proxy = HTML | {"X-Forwarded-Proto": "https"}
    with httpx.Client(base_url=scene.service.url, headers=behind_proxy) as client:
        form = client.get("/login")
        nonce = form.headers["set-cookie"].split(";")[0]
        assert nonce.startswith("__Host-shipworthy-form=")
        fields = {"form_token": form_token(form), "key": scene.key().token}
        answer = client.post("/login", data=fields, headers={"Cookie": nonce})
    cookies = answer.headers.get_list("set-cookie")
    (cookie,) = [each for each in cookies if each.startswith("__Host-shipworthy-session=")]
    assert {"secure", "httponly", "samesite=strict", "path=/"} <= {
        part.strip().lower() for part in cookie.split(";")
    }
    assert "domain" not in cookie.lower()


@pytest.mark.parametrize("token", ["", "sw_", "x" * 89, "wrong checksum", "wrong secret"])
def test_key_that_is_none_is_refused_without_saying_why(sqlite_scene: Scene, token: str) -> None:
    good = sqlite_scene.key().token
    if token == "wrong checksum":
        token = good[:-1] + ("0" if good[-1] != "0" else "1")
    elif token == "wrong secret":
        token = sqlite_scene.key().token[:16] + good[16:]
    with httpx.Client(base_url=sqlite_scene.service.url, headers=HTML) as client:
        answer = sign_in(client, token)
        assert answer.status_code == 401
        assert "malformed, unknown, expired or revoked" in answer.text
        assert SESSION not in client.cookies
        assert not is_signed_in(client)


@pytest.mark.parametrize("with_cookie", [True, False])
@pytest.mark.parametrize("token", ["", "0" * 64])
def test_form_that_no_page_of_ours_sent_signs_nobody_in(
    sqlite_scene: Scene, with_cookie: bool, token: str
) -> None:
    with httpx.Client(base_url=sqlite_scene.service.url, headers=HTML) as client:
        if with_cookie:
            client.get("/login")
        answer = client.post("/login", data={"form_token": token, "key": sqlite_scene.key().token})
        assert answer.status_code == 403
        assert SESSION not in client.cookies


def test_form_token_of_another_browser_is_refused(sqlite_scene: Scene) -> None:
    url = sqlite_scene.service.url
    with httpx.Client(base_url=url, headers=HTML) as ours, httpx.Client(base_url=url, headers=HTML) as theirs:
        ours.get("/login")
        token = form_token(theirs.get("/login"))
        answer = ours.post("/login", data={"form_token": token, "key": sqlite_scene.key().token})
    assert answer.status_code == 403


def test_sign_out_ends_copies_of_the_cookie_too(scene: Scene) -> None:
    client = scene.browser()
    copy = dict(client.cookies)
    page = client.get("/contract-checks")
    answer = client.post("/logout", data={"form_token": form_token(page)})
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    assert SESSION not in client.cookies
    with httpx.Client(base_url=scene.service.url, headers=HTML, cookies=copy) as thief:
        assert not is_signed_in(thief)
        assert thief.get("/v1/runs").status_code == 401


def test_sign_out_of_one_session_leaves_another_of_the_key(scene: Scene) -> None:
    key = scene.key()
    first, second = scene.browser(key), scene.browser(key)
    first.post("/logout", data={"form_token": form_token(first.get("/"))})
    assert (is_signed_in(first), is_signed_in(second)) == (False, True)


def test_sign_out_needs_the_form_of_the_own_session(scene: Scene) -> None:
    client, other = scene.browser(), scene.browser()
    stolen = form_token(other.get("/"))
    for token in ("", stolen):
        assert client.post("/logout", data={"form_token": token}).status_code == 403
    assert is_signed_in(client)


def test_revoked_key_ends_its_sessions_at_once(scene: Scene) -> None:
    key = scene.key()
    client = scene.browser(key)
    assert is_signed_in(client)
    scene.revoke(key)
    assert not is_signed_in(client)


def test_session_ends_after_its_hours_and_can_not_be_made_up(sqlite_scene: Scene) -> None:
    key, sealer = sqlite_scene.key(), sqlite_scene.service.services.authenticator.sealer
    now = datetime.now(UTC)
    fresh = new_session(key.key_id, now)
    over = replace(fresh, expires_at=now - timedelta(seconds=1))
    foreign = Sealer(bytes(32)).seal(fresh)
    stretched = sealer.seal(over).replace(
        str(int(over.expires_at.timestamp())), str(int(fresh.expires_at.timestamp()))
    )
    for cookie, expected in (
        (sealer.seal(fresh), True),
        (sealer.seal(over), False),
        (foreign, False),
        (stretched, False),
        ("1.x", False),
        ("", False),
    ):
        with httpx.Client(base_url=sqlite_scene.service.url, headers=HTML) as client:
            client.cookies.set(SESSION, cookie)
            assert is_signed_in(client) is expected, cookie


def test_session_lasts_twelve_hours_to_the_second() -> None:
    sealer = Sealer(bytes(range(32)))
    session = new_session("a" * 12, NOW)
    assert session.expires_at - NOW == timedelta(hours=12)
    cookie = sealer.seal(session)
    assert sealer.unseal(cookie, session.expires_at - timedelta(seconds=1)) == session
    assert sealer.unseal(cookie, session.expires_at) is None


def test_session_reads_json_that_pages_link_to_and_writes_nothing(scene: Scene) -> None:
    client = scene.browser(scene.key("recorder", "author"))
    assert client.get("/v1/runs", headers={"Accept": "application/json"}).status_code == 200
    for method, path in (("POST", "/v1/runs"), ("POST", "/v1/contract-checks"), ("PUT", "/v1/contracts/x")):
        answer = client.request(method, path, content=b"{}", headers={"Accept": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (401, "token_missing"), path


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "evil",
        "/a b",
        "/" + "a" * 3000,
    ],
)
def test_sign_in_leads_to_no_other_place(sqlite_scene: Scene, address: str) -> None:
    with httpx.Client(base_url=sqlite_scene.service.url, headers=HTML) as client:
        form = client.get("/login", params={"next": address})
        assert 'name="next" value="/"' in form.text
        assert sign_in(client, sqlite_scene.key().token, next=address).headers["location"] == "/"


def test_link_on_another_site_finds_the_strict_cookie_on_the_second_step(sqlite_scene: Scene) -> None:
    """The browser holds the cookie back while another site leads; our page leads on, and then it is sent."""
    with httpx.Client(base_url=sqlite_scene.service.url, headers=HTML) as client:
        address = "/login?next=/contract-checks"
        assert "http-equiv" not in client.get(address).text.replace("htmx-config", "")
        led = client.get(address, headers={"Sec-Fetch-Site": "cross-site"})
    assert '<meta http-equiv="refresh" content="0; url=/contract-checks">' in led.text


def test_many_wrong_keys_from_one_address_have_to_wait(sqlite_scene: Scene) -> None:
    with httpx.Client(base_url=sqlite_scene.service.url, headers=HTML) as client:
        answers = [sign_in(client, "sw_wrong") for _ in range(12)]
        assert [answer.status_code for answer in answers] == [401] * 10 + [429] * 2
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
        assert sign_in(client, sqlite_scene.key().token).status_code == 429


def test_open_mode_needs_no_sign_in_and_answers_loopback_names_only(
    sqlite_urls: DatabaseUrls, tmp_path: Path
) -> None:
    with (
        running_service(sqlite_urls, tmp_path / "data", open_mode=True) as service,
        httpx.Client(base_url=service.url, headers=HTML) as client,
    ):
        page = client.get("/")
        assert page.status_code == 200
        assert "open mode" in page.text
        assert "/logout" not in page.text
        assert client.get("/login").headers["location"] == "/"
        rebound = client.get("/", headers={"Host": "evil.example"})
        assert rebound.status_code == 401
        assert "open mode takes calls to loopback names only" in rebound.text


def test_unknown_address_has_the_menu_for_who_is_signed_in(sqlite_scene: Scene) -> None:
    page = sqlite_scene.browser().get("/nowhere").text
    assert 'href="/decisions"' in page
    assert "The menu leads to every page" in page
    assert "openapi" not in page
    with httpx.Client(base_url=sqlite_scene.service.url, headers=HTML) as stranger:
        assert 'href="/decisions"' not in stranger.get("/nowhere").text
