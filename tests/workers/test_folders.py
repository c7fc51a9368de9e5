"""Private folders: nothing of the data stays behind, whatever ended the worker."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from api.workers.folders import private_base, private_folder

_KILLED = """
import os, signal
from api.workers.folders import private_base, private_folder
with private_base() as base, private_folder(base) as folder:
    (folder / "staged").write_bytes(b"data")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_folder_is_private_and_gone_afterwards(temporary: Path) -> None:
    with private_base() as base, private_folder(base) as folder:
        (folder / "below").mkdir()
        (folder / "below" / "spilled").write_bytes(b"data")
        assert folder.stat().st_mode & 0o777 == 0o700
        assert base.stat().st_mode & 0o777 == 0o700
    assert list(temporary.iterdir()) == []


def test_folder_of_a_killed_worker_is_swept_by_the_next(temporary: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", _KILLED], check=False)
    assert killed.returncode == -9
    assert len(list(temporary.iterdir())) == 1
    with private_base() as base:
        assert list(temporary.iterdir()) == [base]


def test_folder_of_a_worker_that_lives_is_left_alone(temporary: Path) -> None:
    with private_base() as first, private_base():
        assert first.is_dir()
