"""What the repository may hold: no place of the machine it was written on, and pinned requirements."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements"

# Put together from parts, so that this file doesn't match itself.
_MACHINE_PATHS = (
    r"(?<![\w}])/(?:" + "|".join(["ro" + "ot", "tm" + "p"]) + r")\b",
    r"(?<![\w}])/wo" + r"rk/(?:main|shared)\b",
    r"(?<![\w}])/(?:home|Users)/\w+/",
    r"\.\./sha" + r"red\b",
)
_REGISTRY_HOSTS = (
    r"\bpy" + r"pi\.org\b",
    r"\bpython" + r"hosted\.org\b",
    r"\bregistry\.npm" + r"js\.org\b",
    r"\bdeb\.deb" + r"ian\.org\b",
    r"\bproxy\.gol" + r"ang\.org\b",
)
_FORBIDDEN = re.compile("|".join(_MACHINE_PATHS + _REGISTRY_HOSTS))

_PINNED = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;]+)")


def _written_files() -> list[Path]:
    """Tracked and new files that git doesn't ignore, less the verbatim records of others in tests/data."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = (ROOT / name for name in listed.split("\0") if name and not name.startswith("tests/data/"))
    return [path for path in paths if path.is_file()]


def _entries(name: str) -> list[str]:
    """The requirements of a compiled file, each as one line with its hashes."""
    joined = (REQUIREMENTS / name).read_text().replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def _pins(name: str) -> dict[str, str]:
    matches = [_PINNED.match(entry) for entry in _entries(name)]
    return {canonicalize_name(match["name"]): match["version"] for match in matches if match}


def test_files_name_no_machine_path_and_no_registry_host() -> None:
    found = []
    for path in _written_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if match := _FORBIDDEN.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {match.group()}")
    assert found == []


@pytest.mark.parametrize("host_or_path", ["py" + "pi.org", "files.python" + "hosted.org/x", "/tm" + "p/x"])
def test_search_for_forbidden_text_finds_it(host_or_path: str) -> None:
    assert _FORBIDDEN.search(f"see {host_or_path} for more")


def test_license_is_the_whole_apache_license() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text
    assert "9. Accepting Warranty or Additional Liability." in text
    assert "APPENDIX: How to apply the Apache License to your work." in text


@pytest.mark.parametrize("source", sorted(path.name for path in REQUIREMENTS.glob("*.in")))
def test_compiled_requirements_are_pinned_with_hashes(source: str) -> None:
    entries = _entries(source.removesuffix(".in") + ".txt")
    assert entries
    loose = [entry for entry in entries if not _PINNED.match(entry) or "--hash=sha256:" not in entry]
    assert loose == []


@pytest.mark.parametrize("source", sorted(path.name for path in REQUIREMENTS.glob("*.in")))
def test_compiled_requirements_name_no_index(source: str) -> None:
    text = (REQUIREMENTS / (source.removesuffix(".in") + ".txt")).read_text()
    lines = text.replace("--no-emit-index-url", "").splitlines()
    assert [line for line in lines if re.search(r"--(extra-)?index-url|--find-links|://", line)] == []


@pytest.mark.parametrize("source", sorted(path.name for path in REQUIREMENTS.glob("*.in")))
def test_every_wanted_package_is_pinned(source: str) -> None:
    pins = _pins(source.removesuffix(".in") + ".txt")
    lines = (line.partition("#")[0].strip() for line in (REQUIREMENTS / source).read_text().splitlines())
    wanted = [Requirement(line) for line in lines if line and not line.startswith("-r ")]
    assert [str(each) for each in wanted if canonicalize_name(each.name) not in pins] == []


def test_server_dependencies_allow_the_pinned_versions() -> None:
    """`pip install --no-deps` beside requirements/server.txt gives what pyproject.toml asks for."""
    pins = _pins("server.txt")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [Requirement(each) for each in project["dependencies"]]
    others = [each for each in asked if each.name != "shipworthy"]
    unmet = [str(each) for each in others if not each.specifier.contains(pins.get(each.name, "0"))]
    assert unmet == []


@pytest.mark.parametrize(("smaller", "larger"), [("server.txt", "dev.txt"), ("dev.txt", "live.txt")])
def test_environments_agree_on_versions(smaller: str, larger: str) -> None:
    """What is tested is what is shipped."""
    larger_pins = _pins(larger)
    different = {name: (version, larger_pins.get(name)) for name, version in _pins(smaller).items()}
    assert {name: pair for name, pair in different.items() if pair[0] != pair[1]} == {}
