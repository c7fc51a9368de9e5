"""A service with an SLO's people, on either database."""

import pytest

from tests.support.service import RunningService
from tests.support.slos import SloScene


@pytest.fixture
def scene(service: RunningService) -> SloScene:
    return SloScene(service)


@pytest.fixture
def sqlite_scene(sqlite_service: RunningService) -> SloScene:
    """For what doesn't depend on which database."""
    return SloScene(sqlite_service)
