"""Nothing lies on something else, and what belongs together stays on one line."""

from typing import Final

import pytest
from playwright.sync_api import Browser, ViewportSize

from tests.live.web.visits import Visit, visit, visit_as
from tests.support.gates import MODEL
from tests.support.promotions import PromotionScene
from tests.support.service import RunningService
from tests.support.slos import SloScene
from tests.web.registry_scenes import promoted
from tests.web.scenes import Scene, make_checks
from tests.web.slo_scenes import NEVER, token_of, window_path, with_outcomes

WIDE: Final[ViewportSize] = {"width": 1280, "height": 900}
NARROW: Final[ViewportSize] = {"width": 400, "height": 900}
_ON_OTHERS: Final = """
[...document.querySelectorAll(".badge")].filter((badge) => badge.nextElementSibling).flatMap((badge) => {
  const text = badge.lastElementChild.getBoundingClientRect();
  const next = badge.nextElementSibling.getBoundingClientRect();
  const apart = text.right <= next.left || text.bottom <= next.top || next.bottom <= text.top;
  return apart ? [] : [badge.textContent.trim()];
})
"""
_TORN: Final = """
[...document.querySelectorAll(".command .word")].filter((word) => {
  const room = word.closest("code").clientWidth, line = parseFloat(getComputedStyle(word).lineHeight);
  return word.offsetHeight > 1.5 * line && word.offsetWidth < room;
}).map((word) => word.textContent)
"""
_APART: Final = """
[...document.querySelectorAll(".copied")].filter((pair) => {
  const [text, button] = [pair.firstElementChild, pair.lastElementChild].map((each) => each.getBoundingClientRect());
  return button.top > text.bottom || button.bottom < text.top || button.left < text.right;
}).map((pair) => pair.textContent)
"""
"""Digests whose button stands on another line."""


def found_amiss(seen: Visit) -> list[str]:
    found: list[str] = [
        *seen.page.evaluate(_ON_OTHERS),
        *seen.page.evaluate(_TORN),
        *seen.page.evaluate(_APART),
    ]
    return found


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_long_outcome_lies_on_nothing(
    browser: Browser, sqlite_service: RunningService, size: ViewportSize
) -> None:
    scene = SloScene(sqlite_service)
    with_outcomes(scene)
    with visit_as(browser, sqlite_service.url, token_of(scene), viewport=size) as seen:
        page = seen.open(window_path(scene, NEVER))
        assert page.get_by_text("Missed: never came").is_visible()
        assert found_amiss(seen) == []


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_words_of_commands_and_digests_with_their_buttons_stay_whole(
    browser: Browser, scene: Scene, size: ViewportSize
) -> None:
    check = scene.checked(scene.publish(), make_checks())
    with visit(browser, scene, viewport=size, permissions=["clipboard-write"]) as seen:
        page = seen.page
        for path in (f"/contract-checks/{check}", "/registry", "/"):
            seen.open(path)
            assert found_amiss(seen) == [], path
            if size is WIDE:
                assert page.locator(".top").evaluate("top => top.offsetHeight") < 70, "one line"
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url("**/login")
        assert page.locator(".command .word").count() > 4
        assert found_amiss(seen) == []


def test_pages_of_models_are_accessible_and_whole(browser: Browser, sqlite_service: RunningService) -> None:
    scene = PromotionScene(sqlite_service)
    promoted(scene)
    token = scene.token("rob", "reader")
    with visit_as(browser, sqlite_service.url, token, viewport=WIDE) as seen:
        for path in ("/models", f"/models/{MODEL}", f"/search?q={MODEL[:4]}", "/nowhere"):
            seen.open(path)
            assert seen.found_in_light_and_dark() == []
            assert found_amiss(seen) == [], path
            with seen.on_a_phone():
                assert found_amiss(seen) == [], path
