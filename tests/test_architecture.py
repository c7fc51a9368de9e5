"""The shape of the code: who imports whom, and what the API process never loads."""

import importlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

_IMPORT_AND_REPORT = """
import sys
from importlib.abc import MetaPathFinder

heavy = {*HEAVY}

class Watch(MetaPathFinder):
    # Asked before each first import: sees also the import of something that isn't installed here.
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in heavy:
            print(name)
        return None

sys.meta_path.insert(0, Watch())
import api.cli.main, api.cli.serving
"""
_DATA_SCIENCE = ("duckdb", "great_expectations", "mlflow", "numpy", "pandas", "pyarrow", "scipy", "sklearn")
_SELDOM = ("alembic", "greenlet", "jinja2", "mako", "open_data_contract_standard", "pygments", "rich")


def test_import_contracts_are_kept() -> None:
    lint_imports = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run(
        [lint_imports, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("package", ["api", "gates", "models", "migrations"])
def test_common_package_names_are_ours(package: str) -> None:
    """`api` and `models` are names that another distribution might install too."""
    file = importlib.import_module(package).__file__
    assert file is not None, f"{package} has no __init__.py"
    assert Path(file).resolve().is_relative_to(ROOT)


@pytest.mark.parametrize("packages", [_DATA_SCIENCE, _SELDOM], ids=["data science", "seldom needed"])
def test_serving_does_not_import_what_would_double_its_memory(packages: Sequence[str]) -> None:
    """The first take 119 MB, the second 13 before there is a page or a contract."""
    command = [sys.executable, "-c", _IMPORT_AND_REPORT.replace("*HEAVY", f"*{packages!r}")]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == []
