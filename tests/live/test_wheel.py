"""The distributions as a person installs them: wheels, in a new environment, away from the checkout."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

_DESCRIBE = """
import importlib.metadata, importlib.resources
for package in ("api", "gates", "models", "migrations", "shipworthy"):
    print(importlib.resources.files(package))
print(*importlib.metadata.metadata("shipworthy-server").get_all("Classifier"), sep="\\n")
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a new virtual environment that holds the two wheels and nothing else."""
    folder = tmp_path_factory.mktemp("wheels")
    pip = [sys.executable, "-m", "pip", "--quiet"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder / "built")]
    subprocess.run([*pip, *build, ROOT, ROOT / "clients" / "python"], check=True)
    venv.create(folder / "environment", symlinks=True)
    target = ["--python", str(folder / "environment" / "bin" / "python")]
    wheels = sorted((folder / "built").glob("*.whl"))
    subprocess.run([*pip, *target, "install", "--no-deps", "--no-index", *wheels], check=True)
    return folder / "environment"


def test_wheels_bring_all_packages_and_refuse_a_public_index(environment: Path) -> None:
    command = [str(environment / "bin" / "python"), "-I", "-c", _DESCRIBE]
    printed = subprocess.run(command, cwd=environment, check=True, capture_output=True, text=True).stdout
    folders, classifiers = printed.splitlines()[:5], printed.splitlines()[5:]
    assert all(Path(folder).is_relative_to(environment) for folder in folders)
    assert "Private :: Do Not Upload" in classifiers
    assert (environment / "bin" / "shipworthy-server").exists()


def test_wheel_of_the_server_brings_no_tests(environment: Path) -> None:
    assert list(environment.glob("lib/python*/site-packages/tests")) == []


def test_wheel_of_the_server_brings_the_pages(environment: Path) -> None:
    (folder,) = environment.glob("lib/python*/site-packages/api/web")
    for name in ("templates", "static"):
        shipped = {str(path.relative_to(folder)) for path in (folder / name).rglob("*") if path.is_file()}
        source = ROOT / "api" / "web"
        wanted = {str(path.relative_to(source)) for path in (source / name).rglob("*") if path.is_file()}
        assert shipped == wanted
        assert wanted
