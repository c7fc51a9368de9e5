"""The page of the registry and the overview above it, in each look, with everything on them and with nothing."""

from playwright.sync_api import Browser, expect

from tests.live.web.visits import visit_as
from tests.support.gates import MODEL
from tests.support.promotions import PromotionScene
from tests.support.service import RunningService
from tests.web.registry_scenes import promoted, reconciled, troubled


def test_axe_and_the_policy_find_nothing_in_any_look(
    browser: Browser, sqlite_service: RunningService
) -> None:
    scenes = [PromotionScene(sqlite_service, f"team-{name}") for name in ("empty", "good", "bad")]
    promoted(scenes[1])
    reconciled(scenes[1])
    troubled(scenes[2])
    for scene in scenes:
        with visit_as(browser, sqlite_service.url, scene.token("rob", "reader")) as seen:
            for path in ("/registry", "/"):
                seen.open(path)
                assert seen.found_in_light_and_dark() == []
                with seen.on_a_phone():
                    assert seen.axe() == []


def test_from_the_overview_to_the_decision_behind_a_finding(
    browser: Browser, sqlite_service: RunningService
) -> None:
    scene = PromotionScene(sqlite_service)
    troubled(scene)
    with visit_as(browser, sqlite_service.url, scene.token("rob", "reader")) as seen:
        page = seen.open("/")
        page.get_by_role("link", name=f"{MODEL} version 1 at champion").click()
        heading = page.get_by_role("heading", level=1)
        expect(heading).to_have_text("The registry is not what was decided: 4 findings need you.")
        page.get_by_role("link", name="why it may be there").click()
        expect(page).to_have_url(f"{sqlite_service.url}/decisions/{scene.in_force()['decision']['decision']}")
