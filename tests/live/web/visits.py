"""A person at a browser: signs in, opens pages, and everything that the browser complains about is kept."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Dialog, Page, ViewportSize

from models.keys.administration import CreatedKey
from tests.web.scenes import HOSTILE, Scene, make_checks, make_suite, with_trouble

PHONE: Final[ViewportSize] = {"width": 360, "height": 740}
AXE: Final = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
_OF_COLOURS: Final = ("color-contrast", "link-in-text-block")
"""axe's rules whose answer another colour scheme can change; style.css changes nothing else in the dark."""
_NOTE_VIOLATIONS: Final = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""


@dataclass
class Visit:
    page: Page
    url: str
    dialogs: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def dismiss(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def open(self, path: str) -> Page:
        self.page.goto(self.url + path)
        return self.page

    def axe(self, *rules: str) -> list[str]:
        """What axe-core finds, a line each, by these rules or by all: its best practices are asked for too."""
        if not self.page.evaluate("'axe' in window"):
            # By the browser's own protocol: the page's policy would refuse a script element.
            self.page.evaluate(AXE)
        # What passes is looked at like the rest, and not told in full.
        options = {"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {})
        found: dict[str, Any] = self.page.evaluate("options => axe.run(options)", options)
        return [
            f"{self.page.url} {violation['id']}: {node['target']} {node['failureSummary']}"
            for violation in found["violations"]
            for node in violation["nodes"]
        ]

    def found_in_light_and_dark(self) -> list[str]:
        """What axe finds on the open page in either scheme, and what the browser complains about."""
        found = self.axe()
        self.page.emulate_media(color_scheme="dark")
        ground = self.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        found += [f"{line} (dark)" for line in self.axe(*_OF_COLOURS)]
        self.page.emulate_media(color_scheme="light")
        if ground == self.page.evaluate("getComputedStyle(document.documentElement).backgroundColor"):
            found.append(f"{self.page.url} is not dark for those who want it dark")
        return found + self.complaints()

    @contextmanager
    def on_a_phone(self) -> Iterator[None]:
        """The open page as a phone shows it; nothing may have to be scrolled sideways."""
        before = self.page.viewport_size
        assert before is not None
        self.page.set_viewport_size(PHONE)
        assert self.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], self.page.url
        yield
        self.page.set_viewport_size(before)

    def complaints(self) -> list[str]:
        """Dialogs, errors of scripts, and what the content security policy had to stop."""
        violations: list[str] = self.page.evaluate("window.violations ?? []")
        refused = [text for text in self.messages if "Content Security Policy" in text]
        return [*self.dialogs, *violations, *refused]


@contextmanager
def visit(browser: Browser, scene: Scene, key: CreatedKey | None = None, **options: Any) -> Iterator[Visit]:
    """As a new recorder, or with this key."""
    token = (key or scene.key("recorder")).token
    with visit_as(browser, scene.service.url, token, **options) as made:
        yield made


@contextmanager
def visit_as(browser: Browser, url: str, token: str, **options: Any) -> Iterator[Visit]:
    """A new browser profile, signed in by typing a key."""
    context = browser.new_context(**options)
    page = context.new_page()
    page.add_init_script(_NOTE_VIOLATIONS)
    made = Visit(page, url)
    page.on("dialog", made.dismiss)
    page.on("console", lambda message: made.messages.append(message.text))
    page.on("pageerror", lambda error: made.dialogs.append(str(error)))
    made.open("/login")
    page.get_by_label("Key").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(url + "/")
    yield made
    context.close()


def furnished(scene: Scene) -> list[str]:
    """Every kind of page with something on it: the addresses. One check waits, one runs."""
    checks = make_checks()
    rules = [{"rule": "/schema/0/quality/3", "reason": HOSTILE[2], "blocking": True}]
    published = scene.publish(suite=make_suite(checks, not_evaluated=rules))
    bad = scene.checked(published, with_trouble(checks))
    good = scene.checked(published, checks, "green/2019-02.parquet")
    hostile = [
        check | {"column": HOSTILE[0], "reason": HOSTILE[1], "outcome": "failed"} for check in checks[:2]
    ]
    named = scene.checked(published, [*hostile, *checks[2:]], HOSTILE[0])
    running = scene.ask(path="green/2020-05.parquet")
    scene.progress(scene.claim(), 12, 18, "counting nulls")
    waiting = scene.ask(path="green/2020-06.parquet")
    return [
        "/",
        "/contract-checks",
        "/contract-checks?outcome=passed",
        f"/contract-checks/{bad}",
        f"/contract-checks/{bad}?outcome=error",
        f"/contract-checks/{good}",
        f"/contract-checks/{named}",
        f"/contract-checks/{running}",
        f"/contract-checks/{waiting}",
        "/contract-checks/none",
        "/docs/errors",
        "/contracts",
        "/contracts/taxi-trips/versions/1",
        "/search?q=taxi",
        "/search?q=javascript:alert(1)",
    ]
