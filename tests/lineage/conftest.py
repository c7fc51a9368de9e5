"""Who records and asks in tests of lineage."""

import httpx
import pytest

from tests.support.service import RunningService


@pytest.fixture
def client(service: RunningService) -> httpx.Client:
    return service.client("recorder", "author")
