"""What a person does on pages: signs in, follows a check, works by keyboard, comes from and to other sites."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from tests.api.socket_server import serving
from tests.live.web.visits import visit
from tests.web.scenes import Scene, make_checks, with_trouble


def test_a_check_is_followed_to_its_result_without_a_reload(browser: Browser, scene: Scene) -> None:
    published = scene.publish()
    check = scene.ask()
    with visit(browser, scene) as seen:
        page = seen.open(f"/contract-checks/{check}")
        page.evaluate("window.kept = true")
        heading = page.get_by_role("heading", level=1)
        expect(heading).to_have_text("This check waits for a worker.")
        page.get_by_role("button", name="Cancel this check").focus()
        work = scene.claim()
        scene.progress(work, 7, 18, "counting nulls")
        expect(heading).to_have_text("This check is running: 7 of 18 checks done.", timeout=10_000)
        expect(page.get_by_text("counting nulls")).to_be_visible()
        expect(page.get_by_role("button", name="Cancel this check")).to_be_focused()
        scene.finish(work, published, with_trouble(make_checks()))
        expect(heading).to_contain_text("This data does not keep its contract", timeout=10_000)
        expect(page).to_have_title(
            "This data does not keep its contract: 3 failed, 1 error, 1 not evaluated of 18. · Shipworthy"
        )
        assert page.evaluate("window.kept") is True
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.wait_for_timeout(2500)
        assert asked == []
        assert seen.complaints() == []


def test_a_page_that_looks_again_says_when_the_key_was_revoked(browser: Browser, scene: Scene) -> None:
    scene.publish()
    check, key = scene.ask(), scene.key()
    with visit(browser, scene, key) as seen:
        page = seen.open(f"/contract-checks/{check}")
        scene.revoke(key)
        expect(page.get_by_role("heading", level=1)).to_have_text("You are not signed in.", timeout=10_000)
        page.get_by_role("link", name="Sign in").click()
        page.get_by_label("Key").fill(scene.key().token)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("This check waits for a worker.")


def test_a_check_is_cancelled_by_its_button(browser: Browser, scene: Scene) -> None:
    scene.publish()
    check = scene.ask()
    with visit(browser, scene) as seen:
        page = seen.open(f"/contract-checks/{check}")
        page.get_by_role("button", name="Cancel this check").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("This check was cancelled")


def test_keyboard_reaches_everything_in_reading_order(browser: Browser, scene: Scene) -> None:
    check = scene.checked(scene.publish(), with_trouble(make_checks()))
    with visit(browser, scene) as seen:
        page = seen.open("/contract-checks")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="To the content")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()
        names = walk(page)
        assert names.index("Contract") < names.index("Outcome") < names.index("Data") < names.index("Show")
        page.get_by_role("link", name="taxi/green/2020-04.parquet").focus()
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/contract-checks/{check}")
        page.locator("summary").first.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("cell", name="46.6")).to_be_visible()
        page.get_by_role("searchbox").focus()
        page.keyboard.type("taxi")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("1 thing found for “taxi”.")


def walk(page: Page) -> list[str]:
    """Labels of what Tab reaches from here on, each shown with an outline of 2 pixels."""
    names = []
    for _ in range(6):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            "(() => { const it = document.activeElement; return ["
            "it.labels?.[0]?.textContent || it.textContent.trim(), getComputedStyle(it).outlineWidth]; })()"
        )
        assert outline == "2px", name
        names.append(name)
    return names


@contextmanager
def another_site(target: str) -> Iterator[str]:
    """A page of another site that links to `target` and posts a form to it; `localhost` is not 127.0.0.1."""
    address = urlsplit(target)
    page = f"""<!doctype html><a href="{target}">see the check</a>
      <form method="post" action="{address.scheme}://{address.netloc}/logout"><button>win a prize</button></form>"""
    app = Starlette(routes=[Route("/", lambda request: HTMLResponse(page))])
    with serving(app) as port:
        yield f"http://localhost:{port}/"


@pytest.mark.parametrize("action", ["link", "form"])
def test_another_site_may_lead_here_and_do_nothing(browser: Browser, scene: Scene, action: str) -> None:
    check = scene.checked(scene.publish(), make_checks())
    address = f"{scene.service.url}/contract-checks/{check}"
    with visit(browser, scene) as seen, another_site(address) as elsewhere:
        page = seen.page
        page.goto(elsewhere)
        if action == "link":
            page.get_by_role("link").click()
            expect(page.get_by_role("heading", level=1)).to_have_text(
                "This data keeps its contract: 18 of 18 passed."
            )
        else:
            page.get_by_role("button").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("You are not signed in.")
            seen.open(f"/contract-checks/{check}")
            expect(page.get_by_role("heading", level=1)).to_contain_text("This data keeps its contract")
