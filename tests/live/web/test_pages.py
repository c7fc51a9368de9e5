"""Every page in a real browser: what axe finds, what the policy stops, on a phone, in print, without script."""

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.live.web.visits import PHONE, furnished, visit
from tests.web.scenes import Scene, make_checks, with_trouble

_SMALLEST = """
Math.min(...[...document.querySelectorAll('main *')].filter(e => e.childNodes.length && [...e.childNodes].some(
    n => n.nodeType === 3 && n.data.trim())).map(e => parseFloat(getComputedStyle(e).fontSize)))
"""
"""The size of the smallest text, in pixels."""


def test_axe_and_the_policy_find_nothing_and_a_phone_shows_everything(browser: Browser, scene: Scene) -> None:
    paths = furnished(scene)
    with visit(browser, scene) as seen:
        for path in paths:
            page = seen.open(path)
            assert seen.found_in_light_and_dark() == []
            with seen.on_a_phone():
                assert page.evaluate(_SMALLEST) >= 11, path
        seen.page.get_by_role("button", name="Sign out").click()
        seen.page.wait_for_url("**/login")
        assert seen.found_in_light_and_dark() == []


@pytest.mark.parametrize(
    "look", [{"forced_colors": "active"}, {"viewport": PHONE}], ids=["forced colours", "phone"]
)
def test_axe_finds_nothing_in_other_looks(browser: Browser, scene: Scene, look: dict[str, Any]) -> None:
    check = scene.checked(scene.publish(), with_trouble(make_checks()))
    with visit(browser, scene, **look) as seen:
        for path in ("/contract-checks", f"/contract-checks/{check}"):
            seen.open(path)
            assert seen.axe() == []


def test_policy_stops_what_would_be_injected(browser: Browser, scene: Scene) -> None:
    """The test above could not fail if violations were not seen."""
    with visit(browser, scene) as seen:
        page = seen.open("/")
        page.evaluate("document.body.setAttribute('style', 'color: red')")
        page.evaluate(
            "document.body.append(Object.assign(document.createElement('script'), {text: 'alert(1)'}))"
        )
        expect(page.locator("body")).not_to_have_css("color", "rgb(255, 0, 0)")
        assert len(seen.complaints()) >= 2
        assert seen.dialogs == []


def test_without_script_a_page_says_the_same(browser: Browser, scene: Scene) -> None:
    check = scene.checked(scene.publish(), with_trouble(make_checks()))
    waiting = scene.ask()
    with visit(browser, scene, java_script_enabled=False) as seen:
        page = seen.open(f"/contract-checks/{check}")
        expect(page.get_by_role("heading", level=1)).to_have_text(
            "This data does not keep its contract: 3 failed, 1 error, 1 not evaluated of 18."
        )
        assert page.locator("svg.histogram").count() == 4
        page.locator("summary").first.click()
        expect(page.get_by_role("cell", name="46.6")).to_be_visible()
        expect(page.locator(".copy").first).to_be_hidden()
        page = seen.open(f"/contract-checks/{waiting}")
        scene.claim()
        expect(page.get_by_role("heading", level=1)).to_have_text("This check is running.", timeout=15_000)
        page.get_by_role("searchbox").fill("taxi")
        page.get_by_role("button", name="Find").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("1 thing found for “taxi”.")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in with your key")


def test_print_has_the_numbers_and_no_buttons(browser: Browser, scene: Scene) -> None:
    check = scene.checked(scene.publish(), with_trouble(make_checks()))
    with visit(browser, scene, color_scheme="dark") as seen:
        page = seen.open(f"/contract-checks/{check}")
        page.emulate_media(media="print")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        # What is folded on the screen is unfolded on paper.
        expect(page.get_by_text("46.6\u00a0%", exact=True)).to_be_visible()
        for hidden in (".search", ".person", ".places", ".copy"):
            expect(page.locator(hidden).first).to_be_hidden()
        ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert ground == "rgb(255, 255, 255)"


def test_id_is_copied_whole(browser: Browser, scene: Scene) -> None:
    check = scene.checked(scene.publish(), make_checks())
    with visit(browser, scene, permissions=["clipboard-read", "clipboard-write"]) as seen:
        page = seen.open(f"/contract-checks/{check}")
        page.get_by_role("button", name="Copy Check", exact=True).click()
        expect(page.get_by_role("status")).to_have_text("Copied Check")
        assert page.evaluate("navigator.clipboard.readText()") == check
