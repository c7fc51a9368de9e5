"""Pages with nothing on them yet: what to do next, which works when it is pasted."""

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from api.web.templating import starter_text
from tests.support.databases import DatabaseUrls
from tests.support.service import running_service
from tests.web.scenes import HTML, Scene
from tests.web.test_decision_pages import text_of

EMPTY = ("/", "/runs", "/contracts", "/contract-checks", "/decisions", "/slo")


@pytest.mark.parametrize("path", EMPTY)
def test_an_empty_page_says_where_the_service_is_and_repeats_nothing(sqlite_scene: Scene, path: str) -> None:
    client = sqlite_scene.browser()
    page = client.get(path).text
    said = text_of(page)
    assert f"export SHIPWORTHY_URL={str(client.base_url).rstrip('/')}" in said
    assert "export SHIPWORTHY_TOKEN=sw_" in said
    if path == "/runs":
        assert said.count("No run was recorded yet") == 1
    if path == "/":
        assert "Last record in the log" not in said


def test_open_mode_asks_for_no_token(sqlite_urls: DatabaseUrls, tmp_path: Path) -> None:
    with (
        running_service(sqlite_urls, tmp_path / "data", open_mode=True) as service,
        httpx.Client(base_url=service.url, headers=HTML) as local,
    ):
        for path in EMPTY:
            page = local.get(path).text
            assert f"SHIPWORTHY_URL={service.url}" in page
            assert "SHIPWORTHY_TOKEN" not in page


def test_who_follows_the_steps_sees_the_run_and_what_was_published(
    sqlite_urls: DatabaseUrls, tmp_path: Path
) -> None:
    with (
        running_service(sqlite_urls, tmp_path / "data", open_mode=True) as service,
        httpx.Client(base_url=service.url, headers=HTML, timeout=60) as local,
    ):
        steps = text_of(local.get("/runs").text)
        assert "shipworthy exec -- python train.py" in steps
        environ = {**os.environ, "SHIPWORTHY_URL": service.url, "SHIPWORTHY_DIR": str(tmp_path / "journal")}
        environ.pop("SHIPWORTHY_TOKEN", None)
        main = "from shipworthy.cli.main import app; app()"
        command = [sys.executable, "-c", main, "exec", "--", sys.executable, "-c", "pass"]
        subprocess.run(command, env=environ, cwd=tmp_path, check=True, capture_output=True, timeout=60)
        assert "1 run listed" in local.get("/runs").text
        for path, name in (
            ("/v1/contracts/trips", "contract"),
            ("/v1/gates/champion-gate", "policy"),
            ("/v1/slos/nightly-training", "slo"),
        ):
            text = starter_text(f"{name}.yaml")
            answer = local.put(path, content=text, headers={"Content-Type": "application/yaml"})
            assert answer.status_code == 201, answer.text
