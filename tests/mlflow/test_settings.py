"""A guard that could not ask anybody must not start."""

import pytest

from shipworthy.errors import UsageError
from shipworthy.mlflow.settings import read_guard_settings

COMPLETE = {"SHIPWORTHY_URL": "http://localhost:8470/", "SHIPWORTHY_TOKEN": "sw_key"}


def test_registry_is_the_default_one_and_each_workspace_another() -> None:
    settings = read_guard_settings(COMPLETE)
    assert (settings.url, settings.registry) == ("http://localhost:8470", "default")
    assert settings.registry_of("default") == "default"
    assert settings.registry_of("team-b") == "default@team-b"
    assert "sw_key" not in repr(settings)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"SHIPWORTHY_URL": ""}, "SHIPWORTHY_URL is not set"),
        ({"SHIPWORTHY_URL": "localhost:8470"}, "is no address"),
        ({"SHIPWORTHY_TOKEN": " "}, "SHIPWORTHY_TOKEN is not set"),
        ({"SHIPWORTHY_REGISTRY": "our registry"}, "SHIPWORTHY_REGISTRY 'our registry' is no name"),
    ],
)
def test_incomplete_settings_are_refused_by_name(changes: dict[str, str], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        read_guard_settings(COMPLETE | changes)
