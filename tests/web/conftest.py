"""Scenes over either database."""

import pytest

from tests.support.service import RunningService
from tests.web.scenes import Scene


@pytest.fixture
def scene(service: RunningService) -> Scene:
    """The test runs twice, as [sqlite] and as [postgresql]."""
    return Scene(service)


@pytest.fixture
def sqlite_scene(sqlite_service: RunningService) -> Scene:
    """For what doesn't depend on which database."""
    return Scene(sqlite_service)
