"""Debian's Chromium over a running service: `apt-get install chromium` brings it, nothing is downloaded."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.support.service import RunningService
from tests.web.scenes import Scene

CHROMIUM = "/usr/bin/chromium"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def scene(sqlite_service: RunningService) -> Scene:
    return Scene(sqlite_service)
