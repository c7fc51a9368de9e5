"""Names that take a decision because a setting says so."""

from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from prometheus_client import CollectorRegistry

from api.app import create_app
from api.settings import read_settings
from models.errors import StartRefused
from tests.api.socket_server import serving
from tests.support.service import RunningService


def test_setting_protects_names_before_any_gate_stands_there(
    sqlite_service: RunningService, tmp_path: Path
) -> None:
    settings = read_settings(tmp_path, {"SHIPWORTHY_PROTECT": "shadow, champion,,*"})
    services = sqlite_service.services
    changed = replace(
        services,
        settings=replace(services.settings, protect=settings.protect),
        registry=CollectorRegistry(),
    )
    with serving(create_app(changed)) as port:
        headers = sqlite_service.client("registry").headers
        found = httpx.get(f"http://127.0.0.1:{port}/v1/protections", headers=headers).json()
    assert (found["all"], found["targets"]) == (True, ["Production", "champion", "shadow"])


@pytest.mark.parametrize("text", ["champion; shadow", "-x", "Ｃhampion"])
def test_setting_that_names_no_alias_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(StartRefused, match="SHIPWORTHY_PROTECT names"):
        read_settings(tmp_path, {"SHIPWORTHY_PROTECT": text})


def test_without_the_setting_nothing_more_is_protected(tmp_path: Path) -> None:
    assert read_settings(tmp_path, {}).protect == ()
