"""A release, clicked through by the people it takes: who trained is refused, two others approve, then it may ship."""

import pytest
from playwright.sync_api import Browser, expect

from tests.live.web.visits import visit_as
from tests.support.bodies import Body
from tests.support.gates import MODEL, GateScene
from tests.support.service import RunningService
from tests.web.decision_scenes import blocked, waiting


@pytest.fixture
def releases(sqlite_service: RunningService) -> GateScene:
    return GateScene(sqlite_service)


def pages_of(waits: Body, failed: Body) -> list[str]:
    return [
        "/decisions",
        "/decisions?verdict=blocked",
        "/decisions?model=none",
        f"/decisions/{waits['decision']}",
        f"/decisions/{failed['decision']}",
        f"/models/{MODEL}/versions/1",
        f"/models/{MODEL}/versions/2",
    ]


def test_axe_and_the_policy_find_nothing_in_any_look(browser: Browser, releases: GateScene) -> None:
    paths = pages_of(waiting(releases), blocked(releases))
    with visit_as(browser, releases.service.url, releases.token("grace", "approver")) as seen:
        for path in paths:
            seen.open(path)
            assert seen.found_in_light_and_dark() == []
            with seen.on_a_phone():
                assert seen.axe() == []


def test_two_people_other_than_the_trainer_let_it_pass(browser: Browser, releases: GateScene) -> None:
    decision = waiting(releases)
    path = f"/decisions/{decision['decision']}"
    url = releases.service.url
    with visit_as(browser, url, releases.token("ada", "approver")) as trainer:
        page = trainer.open(path)
        expect(page.get_by_text("The model was trained by the person who would approve it")).to_be_visible()
        expect(page.get_by_role("button", name="Approve")).to_have_count(0)
        expect(page.get_by_text("Nobody has said anything")).to_be_visible()
    for person in ("grace", "heidi"):
        with visit_as(browser, url, releases.token(person, "approver")) as approver:
            page = approver.open("/decisions")
            expect(page.get_by_role("heading", level=1)).to_have_text("1 decision needs a review.")
            page.get_by_role("link", name=f"{MODEL} version 1").click()
            page.get_by_label("Reason").fill(f"{person} looked at the slices")
            page.get_by_role("button", name="Approve").click()
            expect(page.get_by_text(f"{person} looked at the slices")).to_be_visible()
    assert releases.decided(version="1")["verdict"] == "passed"
    with visit_as(browser, url, releases.token("rob", "reader")) as reader:
        page = reader.open(f"/models/{MODEL}/versions/1")
        expect(page.get_by_role("heading", level=1)).to_have_text(f"{MODEL}:1 may ship as champion.")
