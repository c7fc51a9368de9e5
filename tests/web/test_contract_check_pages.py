"""Contract checks as a person reads them: asked for, running, done, cancelled, revoked."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from sqlalchemy import event

from tests.support.calls import post
from tests.support.gates import GateScene
from tests.support.slos import SloScene
from tests.web.scenes import HOSTILE, Scene, form_token, make_checks, make_suite, with_trouble


def text_of(page: httpx.Response) -> str:
    """What is read: tags away, spaces made one."""
    assert page.status_code == 200, page.text
    return " ".join(re.sub(r"<[^>]+>", " ", page.text).split())


@contextmanager
def counted_statements(scene: Scene | SloScene | GateScene) -> Iterator[list[str]]:
    engine, statements = scene.service.services.database.engine, list[str]()

    def note(*arguments: object) -> None:
        statements.append(str(arguments[2]))

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(engine, "before_cursor_execute", note)


def selects(statements: list[str]) -> list[str]:
    return [each for each in statements if each.lstrip().upper().startswith(("SELECT", "WITH"))]


def test_result_page_opens_with_the_verdict_and_shows_every_check(scene: Scene) -> None:
    published = scene.publish()
    check = scene.checked(published, with_trouble(make_checks()))
    page = scene.browser().get(f"/contract-checks/{check}")
    read = text_of(page)
    verdict = "This data does not keep its contract: 3 failed, 1 error, 1 not evaluated of 18."
    assert f"<h1>{verdict}</h1>" in page.text
    assert f"<title>{verdict} · Shipworthy</title>" in page.text
    assert "The share of “Cash” in payment_type went from 28.4 % to 46.6 %" in read
    for words in (
        "0.1237",
        "at most 0.01",
        "1,237",
        "12.4 % of the rows have no payment_type, at most 1 % may",
    ):
        assert words in read
    for listed in make_checks():
        assert listed["id"] in page.text
    headings = re.findall(r'<h2 id="group-\w+">([\w ]+) <span class="quiet">(\d+)', page.text)
    assert headings == [("Failed", "3"), ("Error", "1"), ("Not evaluated", "1"), ("Passed", "13")]


def test_evidence_leads_to_what_the_answer_rests_on(scene: Scene) -> None:
    published = scene.publish()
    check = scene.checked(published, make_checks())
    client = scene.browser()
    page = client.get(f"/contract-checks/{check}").text
    record = scene.recorder.get(f"/v1/contract-checks/{check}").json()["record"]
    for value, address in (
        (published["suite_digest"], f"/v1/blobs/{published['suite_digest']}"),
        (published["digest"], f"/v1/blobs/{published['digest']}"),
        (record, f"/v1/records/{record}"),
    ):
        assert f'data-copy="{value}"' in page
        assert f'href="{address}"' in page
        assert client.get(address).status_code == 200
    assert client.get(f"/contract-checks/{record}").text.count(record) >= 2


def test_drift_is_drawn_with_words_and_a_table(sqlite_scene: Scene) -> None:
    check = sqlite_scene.checked(sqlite_scene.publish(), with_trouble(make_checks()))
    page = sqlite_scene.browser().get(f"/contract-checks/{check}").text
    assert 'aria-label="Baseline of payment_type: Credit card 70.3\u00a0%, Cash 28.4\u00a0%' in page
    assert 'aria-label="Observed of payment_type: Credit card 51.3\u00a0%, Cash 46.6\u00a0%' in page
    assert "<td>28.4\u00a0%</td><td>46.6\u00a0%</td>" in page


def test_one_outcome_can_be_listed_and_its_address_sent(sqlite_scene: Scene) -> None:
    check = sqlite_scene.checked(sqlite_scene.publish(), with_trouble(make_checks()))
    read = text_of(sqlite_scene.browser().get(f"/contract-checks/{check}?outcome=error"))
    assert "fare_amount quantiles" in read
    assert "payment_type share of nulls" not in read
    assert "List all 18 checks" in read
    assert "3 failed, 1 error, 1 not evaluated of 18" in read


def test_check_is_followed_from_waiting_to_its_result(scene: Scene) -> None:
    published = scene.publish()
    check = scene.ask()
    client = scene.browser()
    waiting = client.get(f"/contract-checks/{check}")
    assert "This check waits for a worker." in waiting.text
    assert 'hx-trigger="every 2s"' in waiting.text
    work = scene.claim()
    scene.progress(work, 7, 18, "counting nulls")
    read = text_of(client.get(f"/contract-checks/{check}"))
    assert "This check is running: 7 of 18 checks done." in read
    assert "counting nulls" in read
    scene.finish(work, published, make_checks())
    done = client.get(f"/contract-checks/{check}")
    assert "This data keeps its contract: 18 of 18 passed." in done.text
    assert "hx-get" not in done.text
    assert "htmx" not in done.text.replace("htmx-config", "")


def test_failure_of_the_work_says_that_nothing_is_known(scene: Scene) -> None:
    scene.publish()
    check = scene.ask()
    work = scene.claim()
    error = {"code": "worker.killed", "message": "the child was killed at its memory limit", "retry": False}
    sent = {"lease": work["lease"], "error": error}
    assert scene.worker.post(f"/v1/work/{work['id']}:complete", json=sent).status_code == 200
    client = scene.browser()
    read = text_of(client.get(f"/contract-checks/{check}"))
    assert "nothing is known of the data" in read
    assert "the child was killed at its memory limit." in read.lower()
    assert (
        "shipworthy contract check taxi-trips --root taxi --path green/2020-04.parquet --table trips --wait"
        in read
    )
    assert "1 of 1 check needs you" in text_of(client.get("/contract-checks"))


def test_cancelling_needs_the_role_and_the_form(scene: Scene) -> None:
    scene.publish()
    check = scene.ask()
    reader, recorder = scene.browser(), scene.browser(scene.key("recorder"))
    address = f"/contract-checks/{check}"
    assert "Cancel this check" not in reader.get(address).text
    page = recorder.get(address)
    assert "Cancel this check" in page.text
    assert recorder.post(f"{address}/cancel", data={"form_token": "0" * 64}).status_code == 403
    token = form_token(reader.get(address))
    assert reader.post(f"{address}/cancel", data={"form_token": token}).status_code == 403
    assert "waits for a worker" in recorder.get(address).text
    answer = recorder.post(f"{address}/cancel", data={"form_token": form_token(page)})
    assert (answer.status_code, answer.headers["location"]) == (303, address)
    assert "This check was cancelled" in recorder.get(address).text


def test_revoked_result_is_no_evidence(scene: Scene) -> None:
    check = scene.checked(scene.publish(), make_checks())
    record = scene.recorder.get(f"/v1/contract-checks/{check}").json()["record"]
    revocation = {"record": record, "effect": "revoked", "reason": "the wrong month was read"}
    assert post(scene.service.client("author"), "/v1/revocations", revocation).status_code == 201
    client = scene.browser()
    page = client.get(f"/contract-checks/{check}")
    assert "This result was revoked: it is no evidence" in page.text
    assert "The wrong month was read." in page.text
    assert "Revoked" in text_of(client.get("/contract-checks"))


def test_list_has_the_worst_first_and_takes_filters_from_the_address(scene: Scene) -> None:
    published = scene.publish()
    scene.checked(published, with_trouble(make_checks()), "green/2020-04.parquet")
    scene.checked(published, make_checks(), "green/2019-02.parquet")
    scene.ask(path="green/2020-05.parquet")
    client = scene.browser()
    read = text_of(client.get("/contract-checks"))
    assert "1 of 3 checks needs you." in read
    months = [read.index(month) for month in ("2020-04", "2020-05", "2019-02")]
    assert months == sorted(months)
    passed = text_of(client.get("/contract-checks?outcome=passed"))
    assert "2019-02" in passed
    assert "2020-04" not in passed
    assert "No check fits these filters" in text_of(client.get("/contract-checks?contract=other"))
    assert "2019-02" in text_of(client.get("/contract-checks?contract=taxi-trips&outcome=&snapshot="))


def test_list_goes_on_to_older_checks(sqlite_scene: Scene) -> None:
    published = sqlite_scene.publish()
    for number in range(3):
        sqlite_scene.checked(published, make_checks(), f"green/{number}.parquet")
    client = sqlite_scene.browser()
    first = client.get("/contract-checks", params={"contract": "taxi-trips", "limit": 2})
    older = re.search(r'href="(/contract-checks\?[^"]+)" rel="next"', first.text)
    assert older is not None
    assert ["green/2" in first.text, "green/1" in first.text, "green/0" in first.text] == [True, True, False]
    second = client.get(older[1].replace("&amp;", "&"))
    assert ["green/2" in second.text, "green/1" in second.text, "green/0" in second.text] == [
        False,
        False,
        True,
    ]
    assert 'rel="next"' not in second.text


def test_empty_pages_show_the_command_that_fills_them(sqlite_scene: Scene) -> None:
    client = sqlite_scene.browser()
    assert "shipworthy contract check NAME" in client.get("/contract-checks").text
    assert "shipworthy contract publish NAME" in client.get("/contracts").text
    assert "Nothing is recorded yet." in client.get("/").text


def test_hostile_names_are_shown_and_do_nothing(sqlite_scene: Scene) -> None:
    checks = make_checks()
    for check, name in zip(checks, HOSTILE, strict=False):
        check |= {"column": name.replace("\u202e", ""), "reason": name.replace("\u202e", ""), "rule": "/x"}
    rules = [{"rule": HOSTILE[1], "reason": name, "blocking": True} for name in HOSTILE]
    published = sqlite_scene.publish(suite=make_suite(checks, not_evaluated=rules))
    id = sqlite_scene.checked(published, checks, HOSTILE[0])
    client = sqlite_scene.browser()
    pages = [
        client.get(path).text
        for path in (
            "/",
            "/contract-checks",
            f"/contract-checks/{id}",
            "/contracts/taxi-trips/versions/1",
            f"/search?q={HOSTILE[0]}",
            f"/contract-checks?contract={HOSTILE[0]}",
            f"/contracts/{HOSTILE[0]}/versions/1",
        )
    ]
    for page in pages:
        assert "<img" not in page
        assert not re.search(r'(?:href|src|action)="\s*javascript:', page)
        assert "\u202e" not in page
    assert "⟨U+202E⟩" in pages[3]
    assert "&lt;img src=x onerror=alert(1)&gt;" in pages[2]


@pytest.mark.parametrize("checks", [1, 6])
def test_pages_ask_a_fixed_number_of_statements(scene: Scene, checks: int) -> None:
    published = scene.publish()
    ids = [scene.checked(published, make_checks(), f"green/{number}.parquet") for number in range(checks)]
    client = scene.browser()
    for path, most in (
        ("/", 9),
        ("/slo", 2),
        ("/runs", 2),
        ("/registry", 4),
        ("/contract-checks", 6),
        (f"/contract-checks/{ids[0]}", 3),
        ("/contracts", 1),
        ("/contracts/taxi-trips/versions/1", 2),
        ("/search?q=taxi", 1),
    ):
        client.get(path)
        with counted_statements(scene) as statements:
            assert client.get(path).status_code == 200
        # The key and the session are asked for once a second at most.
        asked = [
            each for each in selects(statements) if "api_key" not in each and "ended_session" not in each
        ]
        assert len(asked) <= most, (path, asked)
