"""The overview: what needs somebody now, worst first, with who acts; and the stream that tells of news."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from api import watching
from models.fields import instant_text
from tests.support.bodies import make_event, make_run, make_start
from tests.support.gates import MODEL, TO, GateScene
from tests.support.service import RunningService
from tests.support.slos import SloScene, make_slo
from tests.web.decision_scenes import blocked, waiting
from tests.web.decision_scenes import signed_in as signed_in_at_gate
from tests.web.scenes import HOSTILE, Scene, make_checks, with_trouble
from tests.web.slo_scenes import signed_in
from tests.web.test_decision_pages import text_of


@pytest.fixture
def scene(service: RunningService) -> SloScene:
    """The test runs twice, as [sqlite] and as [postgresql]."""
    return SloScene(service)


@pytest.fixture
def sqlite_scene(sqlite_service: RunningService) -> SloScene:
    return SloScene(sqlite_service)


def make_lost(**changes: object) -> dict[str, object]:
    """Silent for an hour, with a minute's limit."""
    began = datetime.now(UTC) - timedelta(hours=1)
    return make_start(
        started_at=instant_text(began),
        heartbeat={"limit_seconds": 60},
        events=[make_event(at=instant_text(began), step=400)],
        **changes,
    )


def test_nothing_recorded_says_what_to_do_first(sqlite_scene: SloScene) -> None:
    said = text_of(signed_in(sqlite_scene).get("/").text)
    assert "Nothing is recorded yet." in said
    commands = (
        "shipworthy exec",
        "shipworthy contract publish",
        "shipworthy gate publish",
        "shipworthy slo lint",
    )
    places = [said.index(command) for command in commands]
    assert places == sorted(places)


def test_nothing_wrong_says_so_and_keeps_what_is_left_to_do(sqlite_scene: SloScene) -> None:
    sqlite_scene.record("/v1/runs", make_run())
    said = text_of(signed_in(sqlite_scene).get("/").text)
    assert "Nothing needs you." in said
    assert "Last record in the log: 20" in said
    assert "shipworthy exec" not in said
    assert "shipworthy slo lint" in said


def test_lost_runs_and_broken_promises_name_who_acts(scene: SloScene) -> None:
    lost = make_lost(team="vision")
    scene.record("/v1/runs", lost)
    scene.published(make_slo(**scene.past))
    scene.judged()
    page = signed_in(scene).get("/").text
    said = text_of(page)
    assert "2 things need you." in said
    assert said.index("Broken") < said.index("Lost"), "what is broken is worse than what is lost"
    assert "Who acts: team risk" in said
    assert "Who acts: team vision" in said
    assert "at step 400" in said
    assert f'href="/runs/{lost["run_id"]}"' in page
    scene.record(
        f"/v1/runs/{lost['run_id']}/events", make_event(state="failed", at=instant_text(datetime.now(UTC)))
    )
    assert "1 thing needs you." in text_of(signed_in(scene).get("/").text)


def test_blocked_places_and_waiting_reviews_are_listed_until_they_are_settled(
    service: RunningService,
) -> None:
    gate = GateScene(service)
    waiting(gate)
    browser = signed_in_at_gate(gate, "rob", "reader")
    said = text_of(browser.get("/").text)
    assert "1 thing needs you." in said
    assert f"Needs review {MODEL} version 1 as {TO}" in said
    assert "Who acts: approvers" in said
    blocked(gate)
    said = text_of(browser.get("/").text)
    assert said.index(f"May not ship {MODEL} version 2 as {TO}") < said.index(f"{MODEL} version 1 as {TO}")
    assert "To unblock it, auc: A better artifact is needed." in said
    assert "Who acts: whoever trains it" in said


def test_only_the_newest_check_of_the_same_data_counts(sqlite_service: RunningService) -> None:
    scene = Scene(sqlite_service)
    published = scene.publish()
    scene.checked(published, with_trouble(make_checks()))
    client = scene.browser()
    assert "By taxi-trips version 1: 3 failed, 1 error, 1 not evaluated of 18." in text_of(
        client.get("/").text
    )
    scene.checked(published, make_checks())
    assert "taxi/green" not in text_of(client.get("/").text)


def test_more_than_it_shows_is_said_and_linked(sqlite_scene: SloScene) -> None:
    for _ in range(11):
        sqlite_scene.record("/v1/runs", make_lost())
    page = signed_in(sqlite_scene).get("/").text
    assert "More than 10 things need you." in text_of(page)
    assert 'href="/runs?state=lost"' in page


def test_a_clockwork_that_stands_still_is_one_thing(sqlite_scene: SloScene) -> None:
    for name in ("one", "two"):
        sqlite_scene.published(make_slo(name, **sqlite_scene.past), name)
    # The last round of the tick ended five minutes ago.
    sqlite_scene.judged(datetime.now(UTC) - timedelta(minutes=5))
    said = text_of(signed_in(sqlite_scene).get("/").text)
    assert "1 thing needs you." in said
    assert "2 promises are not judged any more" in said


def test_a_clockwork_that_stands_still_is_told_before_anything_of_the_period_was_judged(
    sqlite_scene: SloScene,
) -> None:
    """As after the first of a month: what was judged is of the month before."""
    sqlite_scene.published(make_slo())
    sqlite_scene.judged(datetime.now(UTC) - timedelta(minutes=5))
    (entry,) = sqlite_scene.report()["slos"]
    assert (entry["status"], entry["counts"]["breached"]) == ("no_data", 0)
    assert "look at the service" in entry["sentence"]
    assert "1 promise is not judged any more" in text_of(signed_in(sqlite_scene).get("/").text)


def test_hostile_names_are_text_and_other_tenants_see_none(sqlite_scene: SloScene) -> None:
    job = {"namespace": "team-a", "name": HOSTILE[0]}
    sqlite_scene.record("/v1/runs", make_lost(job=job, team=HOSTILE[1]))
    page = signed_in(sqlite_scene).get("/").text
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "Nothing is recorded yet." in signed_in(sqlite_scene, "team-b").get("/").text


@contextmanager
def listening(client: httpx.Client) -> Iterator[Iterator[tuple[str, str]]]:
    """Events as (name, data) as they come; a comment is ("", its text)."""
    with client.stream("GET", "/events", timeout=60) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"

        def events() -> Iterator[tuple[str, str]]:
            name = ""
            for line in answer.iter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, line.removeprefix("data: ")
                elif line.startswith(": "):
                    yield "", line.removeprefix(": ")

        yield events()


def test_a_stream_names_the_version_of_the_page_and_each_new_one(sqlite_scene: SloScene) -> None:
    client = signed_in(sqlite_scene)
    shown = client.get("/").text
    with listening(client) as events:
        versions = (data for name, data in events if name == "version")
        first = next(versions)
        assert f'data-version="{first}"' in shown
        sqlite_scene.record("/v1/runs", make_run())
        sqlite_scene.record("/v1/runs", make_lost())
        second = next(versions)
        assert second != first
        assert f'data-version="{second}"' in client.get("/").text


def test_a_stream_is_for_who_is_signed_in(sqlite_scene: SloScene) -> None:
    answer = httpx.get(f"{sqlite_scene.service.url}/events", headers={"Accept": "text/event-stream"})
    assert answer.status_code == 401


def test_a_stream_says_that_it_lives_and_ends_with_its_key(
    sqlite_service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "ALIVE_SECONDS", 0.0)
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.05)
    scene = Scene(sqlite_service)
    key = scene.key()
    with listening(scene.browser(key)) as events:
        assert next(data for name, data in events if (name, data) == ("", "alive"))
        scene.revoke(key)
        assert list(events)[-1:] != [("version", "")], "the stream ended"


def test_a_key_has_only_so_many_streams(sqlite_scene: SloScene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MAX_STREAMS_OF_KEY", 1)
    client, other = signed_in(sqlite_scene), signed_in(sqlite_scene)
    with listening(client) as events:
        next(events)
        refused = client.get("/events")
        assert refused.status_code == 429
        assert "too many pages are open" in refused.text
        with listening(other) as others:
            assert next(others)
