"""Pages of promises: the arithmetic, the strip of windows, and why a window's outcome is what it is."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from models.fields import instant_text
from tests.support.bodies import make_start
from tests.support.service import RunningService
from tests.support.slos import NAME, SloScene, make_freshness, make_slo
from tests.web.scenes import HOSTILE
from tests.web.slo_scenes import EXCLUDED, LATE, NEVER, UNSURE, signed_in, window_path, with_outcomes
from tests.web.test_contract_check_pages import counted_statements, selects
from tests.web.test_decision_pages import text_of


@pytest.fixture
def scene(service: RunningService) -> SloScene:
    """The test runs twice, as [sqlite] and as [postgresql]."""
    return SloScene(service)


@pytest.fixture
def sqlite_scene(sqlite_service: RunningService) -> SloScene:
    return SloScene(sqlite_service)


def shapes(page: str) -> list[str]:
    """What is drawn of each window, strip by strip; the key's shapes are left out."""
    drawn = re.findall(r'<svg class="strip".*?</svg>', page, flags=re.DOTALL)
    return [" ".join(re.findall(r'class="(w-\w+)"', each)) for each in drawn]


def test_a_line_each_worst_first_with_its_arithmetic_and_its_windows(scene: SloScene) -> None:
    with_outcomes(scene)
    # Asked for over a span that holds all ten windows: its own period may begin between them.
    # To the minute: in the afternoon the deadline of the last one is past midnight.
    span = {"from": instant_text(scene.at(0)), "to": instant_text(scene.at(10))}
    page = signed_in(scene).get("/slo", params=span).text
    said = text_of(page)
    assert "Of 2 promises 1 is broken" in said
    assert said.index("nightly") < said.index(UNSURE)
    assert "7 of 9 windows on time, target 90 %: 0.9 misses allowed, 2 used" in said
    assert "1 excluded." in said
    assert "promised afterwards" not in said, "a mark on each line says so, and one sentence what it means"
    assert said.count("backfilled") == 3
    broken, unsure = shapes(page)
    assert broken.split() == ["w-met"] * 3 + ["w-missed", "w-met", "w-missed", "w-excluded"] + ["w-met"] * 3
    assert unsure.split()[NEVER] == "w-unknown"
    assert 'aria-label="Latest 10 windows: 2 missed, 1 excluded, 7 met"' in page
    assert "Its source airflow is silent" in said


def test_the_day_of_a_live_run_is_drawn_as_far_as_it_has_come(sqlite_scene: SloScene) -> None:
    sqlite_scene.published(make_freshness("PT30M", rolling="7d", **sqlite_scene.past))
    live = make_start(started_at=instant_text(datetime.now(UTC) - timedelta(minutes=40)))
    sqlite_scene.record("/v1/runs", live)
    sqlite_scene.record(f"/v1/runs/{live['run_id']}/progress", {"step": 1})
    sqlite_scene.judged()
    client = signed_in(sqlite_scene)
    (strip,) = shapes(client.get("/slo").text)
    assert "w-pending" in strip
    page = client.get(f"/slo/{NAME}").text
    assert f'href="/slo/{NAME}/windows/{live["run_id"]}/' in page
    assert re.search(r"\d of \d+ slices? good", page)


def test_a_broken_age_names_the_run_and_the_slices_that_it_missed(scene: SloScene) -> None:
    scene.published(make_freshness("PT10M", rolling="7d", **scene.past))
    live = make_start(started_at=instant_text(datetime.now(UTC) - timedelta(minutes=40)))
    scene.record("/v1/runs", live)
    scene.record(f"/v1/runs/{live['run_id']}/progress", {"step": 1})
    scene.judged()
    client = signed_in(scene)
    assert shapes(client.get("/slo").text)[-1].startswith("w-missed"), "missed before the day is over"
    page = client.get(f"/slo/{NAME}").text
    said = text_of(page)
    assert "Slices missed by runs that go on" in said
    assert f'href="/runs/{live["run_id"]}"' in page
    found = re.search(r"Missed (\d\d:\d\d) to \d\d:\d\d UTC, \d slices?: no checkpoint counted yet", said)
    assert found is not None, said
    window = re.search(rf'href="(/slo/{NAME}/windows/{live["run_id"]}/[^"]+)"', page)
    assert window is not None
    said = text_of(client.get(window[1]).text)
    assert re.search(r"Not over yet: \d of \d+ slices good, \d+ missed so far", said)
    assert f"Missed {found[1]} to" in said


def test_filters_are_in_the_address_and_go_on(sqlite_scene: SloScene) -> None:
    with_outcomes(sqlite_scene)
    client = signed_in(sqlite_scene)
    day = f"{sqlite_scene.at(0):%Y-%m-%d}"
    page = client.get("/slo", params={"team": "data", "from": day}).text
    assert f">{UNSURE}</a>" in page
    assert ">nightly</a>" not in page
    assert f'href="/slo/{UNSURE}?from={day}"' in page
    assert "No promise fits these filters." in client.get("/slo?team=nobody").text
    for query in (f"to={day}", "from=yesterday", f"from={day}&to={day}"):
        answer = client.get(f"/slo?{query}")
        assert answer.status_code == 422, query
        assert "can’t be answered" in answer.text


def test_a_promise_shows_what_is_left_and_links_every_window(sqlite_scene: SloScene) -> None:
    late = with_outcomes(sqlite_scene)
    client = signed_in(sqlite_scene)
    page = client.get(f"/slo/{NAME}", params={"from": f"{sqlite_scene.at(0):%Y-%m-%d}"}).text
    said = text_of(page)
    assert "“nightly” is broken." in said
    assert "the lake moved" in said
    assert "Judged anew" in said
    assert "2 h after the deadline" in said
    assert f'href="/runs/{late}"' in page
    assert said.count("backfilled") == 10
    links = re.findall(r'<li><a href="(/slo/nightly/windows/[^"]+)" title', page)
    assert len(links) >= 10
    assert client.get(links[0]).status_code == 200
    missed = text_of(client.get(f"/slo/{NAME}?status=breached").text)
    assert ("Missed: late" in missed, "Missed: never came" in missed) == (True, True)
    assert "Met 20" not in missed


def test_a_promise_has_one_name_and_a_time_is_said_once(sqlite_scene: SloScene) -> None:
    document = make_slo(**sqlite_scene.past).replace(
        b'"name": "nightly"', b'"name": "nightly", "displayName": "Done by 6"'
    )
    sqlite_scene.published(document)
    sqlite_scene.judged()
    client = signed_in(sqlite_scene)
    assert ">Done by 6</a>" in client.get("/").text
    assert ">Done by 6</a>" in client.get("/slo").text
    said = text_of(client.get(f"/slo/{NAME}").text)
    assert "“Done by 6” is broken." in said
    assert "+00:00" not in said
    said = text_of(client.get(window_path(sqlite_scene, NEVER)).text)
    assert re.search(r"Deadline \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC Judged", said)


def test_windows_are_paged_by_their_deadlines(sqlite_scene: SloScene) -> None:
    with_outcomes(sqlite_scene)
    client, path, seen = signed_in(sqlite_scene), f"/slo/{NAME}?limit=4", list[str]()
    while path:
        page = client.get(path).text
        seen += re.findall(r'<th scope="row"><a class="nowrap" href="([^"]+)"', page)
        following = re.search(r'href="([^"]+)" rel="next"', page)
        path = following[1].replace("&amp;", "&") if following else ""
        assert not path or "limit=4" in path
    assert len(seen) == len(set(seen)) == 10
    assert client.get(f"/slo/{NAME}?after=odd").status_code == 422


def test_a_window_tells_why(sqlite_scene: SloScene) -> None:
    late = with_outcomes(sqlite_scene)
    client = signed_in(sqlite_scene)
    said = text_of(client.get(window_path(sqlite_scene, LATE)).text)
    assert "Missed: it came 2 h after the deadline." in said
    assert late in said
    assert "run.registered" in said
    said = text_of(client.get(window_path(sqlite_scene, EXCLUDED)).text)
    assert "Left out of count." in said
    assert "The lake moved (by" in said
    assert said.index("Revision 2") < said.index("Revision 1"), "what was found before stays on record"
    said = text_of(client.get(window_path(sqlite_scene, NEVER, UNSURE)).text)
    assert "Nobody knows what became of it." in said
    assert "airflow gave signs of life over 0 % of the window: too little to prove" in said
    assert client.get(f"/slo/{NAME}/windows/none").status_code == 404
    assert client.get("/slo/none").status_code == 404


def test_a_run_for_half_the_data_is_shown_and_does_not_count(sqlite_scene: SloScene) -> None:
    sqlite_scene.published(make_slo(**sqlite_scene.past))
    opens = sqlite_scene.at(1)
    half = {"start": instant_text(opens - timedelta(hours=12)), "end": instant_text(opens)}
    body = make_start(data_interval=half, started_at=instant_text(opens))
    sqlite_scene.record("/v1/runs", body)
    sqlite_scene.judged()
    said = text_of(signed_in(sqlite_scene).get(window_path(sqlite_scene, 1)).text)
    assert "Missed: nothing came. Look at the runs near it" in said
    assert f"{body['run_id']} team-a/train" in said


def test_pages_cost_a_fixed_number_of_statements(sqlite_scene: SloScene) -> None:
    with_outcomes(sqlite_scene)
    client = signed_in(sqlite_scene)
    for path, most in (("/slo", 9), (f"/slo/{NAME}", 11), (window_path(sqlite_scene, LATE), 10), ("/", 17)):
        client.get(path)
        with counted_statements(sqlite_scene) as statements:
            assert client.get(path).status_code == 200
        asked = [
            each for each in selects(statements) if "api_key" not in each and "ended_session" not in each
        ]
        assert len(asked) <= most, (path, len(asked), asked)


def test_names_and_reasons_are_text(sqlite_scene: SloScene) -> None:
    with_outcomes(sqlite_scene)
    span = {
        "from": f"{sqlite_scene.at(8):%Y-%m-%dT%H:%M:%SZ}",
        "to": f"{sqlite_scene.at(9):%Y-%m-%dT%H:%M:%SZ}",
    }
    sqlite_scene.record(
        f"/v1/slos/{NAME}/exclusions",
        span | {"reason": HOSTILE[0], "retroactive": True},
        sqlite_scene.approver,
    )
    sqlite_scene.judged()
    client = signed_in(sqlite_scene)
    for path in ("/slo", f"/slo/{NAME}", window_path(sqlite_scene, 8), f"/slo?team={HOSTILE[0]}"):
        page = client.get(path).text
        assert "<img" not in page
        assert not re.search(r"<style|\sstyle=|<script(?![^>]*\ssrc=)", page), path
    assert "&lt;img src=x onerror=alert(1)&gt;" in client.get(window_path(sqlite_scene, 8)).text


def test_another_tenant_sees_none_of_it(sqlite_scene: SloScene) -> None:
    with_outcomes(sqlite_scene)
    client = signed_in(sqlite_scene, "team-b")
    assert "Nothing is promised yet." in client.get("/slo").text
    assert client.get(f"/slo/{NAME}").status_code == 404
    assert client.get(window_path(sqlite_scene, LATE)).status_code == 404
