"""Who talks to the service in most tests of recording."""

import httpx
import pytest

from tests.support.service import RunningService


@pytest.fixture
def recorder(service: RunningService) -> httpx.Client:
    return service.client("recorder")
