"""Promises, runs and the overview in a real browser: in each look, and the overview as something happens."""

from datetime import UTC, datetime

from playwright.sync_api import Browser, expect

from models.fields import instant_text
from tests.live.web.visits import visit_as
from tests.support.bodies import make_event, make_run
from tests.support.service import RunningService
from tests.support.slos import NAME, SloScene
from tests.web.scenes import HOSTILE
from tests.web.slo_scenes import EXCLUDED, LATE, NEVER, UNSURE, token_of, window_path, with_outcomes
from tests.web.test_overview import make_lost


def test_axe_and_the_policy_find_nothing_in_any_look(
    browser: Browser, sqlite_service: RunningService
) -> None:
    scene = SloScene(sqlite_service)
    with_outcomes(scene)
    run = make_run(job={"namespace": "team-a", "name": HOSTILE[0]}, team=HOSTILE[1])
    scene.record("/v1/runs", run)
    scene.record("/v1/runs", make_lost(team=HOSTILE[0]))
    paths = ["/", "/slo", f"/slo/{NAME}", f"/slo/{UNSURE}?status=unknown", "/runs", f"/runs/{run['run_id']}"]
    paths += [window_path(scene, LATE), window_path(scene, EXCLUDED), window_path(scene, NEVER, UNSURE)]
    with visit_as(browser, sqlite_service.url, token_of(scene)) as seen:
        for path in paths:
            seen.open(path)
            assert seen.found_in_light_and_dark() == []
            with seen.on_a_phone():
                assert seen.complaints() == []
    with visit_as(browser, sqlite_service.url, token_of(scene, "team-empty")) as seen:
        for path in ("/", "/slo", "/runs"):
            seen.open(path)
            assert seen.axe() == []


def test_the_overview_follows_what_happens_without_a_reload(
    browser: Browser, sqlite_service: RunningService
) -> None:
    scene = SloScene(sqlite_service)
    scene.record("/v1/runs", make_run())
    with visit_as(browser, sqlite_service.url, token_of(scene)) as seen:
        page = seen.open("/")
        page.evaluate("window.kept = true")
        heading = page.get_by_role("heading", level=1)
        expect(heading).to_have_text("Nothing needs you.")
        lost = make_lost(team=HOSTILE[0])
        scene.record("/v1/runs", lost)
        expect(heading).to_have_text("1 thing needs you.", timeout=60_000)
        expect(page.get_by_role("link", name=f"train {lost['run_id']}")).to_be_visible()
        expect(page).to_have_title("1 thing needs you. · Shipworthy")
        ended = make_event(state="completed", at=instant_text(datetime.now(UTC)))
        scene.record(f"/v1/runs/{lost['run_id']}/events", ended)
        expect(heading).to_have_text("Nothing needs you.", timeout=60_000)
        assert page.evaluate("window.kept") is True
        assert seen.axe() == []
        assert seen.complaints() == []


def test_print_has_the_strips_the_date_and_no_filters(
    browser: Browser, sqlite_service: RunningService
) -> None:
    scene = SloScene(sqlite_service)
    with_outcomes(scene)
    with visit_as(browser, sqlite_service.url, token_of(scene), color_scheme="dark") as seen:
        page = seen.open("/slo")
        expect(page.get_by_text("As of 20")).to_be_hidden()
        page.emulate_media(media="print")
        expect(page.get_by_text("As of 20")).to_be_visible()
        expect(page.locator("svg.strip").first).to_be_visible()
        expect(page.locator(".filters")).to_be_hidden()
