"""Debian's Chromium over a running service: `apt-get install chromium` brings it, nothing is downloaded."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.support.service import RunningService
from tests.web.scenes import Scene

CHROMIUM = "/usr/bin/chromium"
# Other live tests run beside these: what comes within a second on an idle machine may take its time.
expect.set_options(timeout=20_000)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Closed with the last test of the folder: as long as Playwright runs, no other event loop may."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def scene(sqlite_service: RunningService) -> Scene:
    return Scene(sqlite_service)
