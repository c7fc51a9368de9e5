"""Vendored files are those that are pinned, each with its licence, and a change of one is found."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "tools" / "vendor.py"


@pytest.fixture
def vendor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The tool over a copy of what is vendored."""
    specification = importlib.util.spec_from_file_location("vendor", TOOL)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    pins = json.loads((ROOT / "tools" / "vendor.json").read_text(encoding="utf-8"))
    for package in pins.values():
        for file in package["files"]:
            target = tmp_path / file["target"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / file["target"]).read_bytes())
    (tmp_path / "vendor.json").write_text(json.dumps(pins), encoding="utf-8")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "PINS", tmp_path / "vendor.json")
    return module


def test_vendored_files_are_as_pinned() -> None:
    done = subprocess.run([sys.executable, TOOL, "check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "vendored files are as pinned\n")


def test_changed_missing_and_stray_files_are_found(vendor: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "api" / "web" / "static" / "vendor"
    assert vendor.check() == []
    (folder / "htmx.min.js").write_bytes(b"var htmx;")
    (folder / "htmx.LICENSE.txt").unlink()
    (folder / "stray.js").touch()
    found = "\n".join(vendor.check())
    assert "htmx.min.js is not the file of htmx.org" in found
    assert "htmx.LICENSE.txt is missing" in found
    assert "stray.js is in no package" in found
