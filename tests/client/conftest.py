"""Runs that tests begin in their own process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shipworthy.process import PROCESS


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("SHIPWORTHY_URL", "SHIPWORTHY_TOKEN", "SHIPWORTHY_RUN_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SHIPWORTHY_DIR", str(tmp_path / "journal"))
    # What these runs leave unsent is not to be told at the end of the tests.
    monkeypatch.setattr(PROCESS, "_offline", [])
    yield
    while PROCESS.runs:
        PROCESS.runs[-1].finish("aborted")
