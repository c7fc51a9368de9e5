"""Python, packages, lock file, image, GPU libraries and variables, each only as far as it is known."""

import importlib.metadata
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from models.kinds.ingredients import Environment, Image
from shipworthy.capture.environment import capture_environment, find_image
from shipworthy.formats.digests import sha256_digest

DIGEST = "sha256:" + "5" * 64
NO_FILE = Path("/nonexistent/.containerenv")


def capture(
    folder: Path, environ: Mapping[str, str] | None = None, lockfile: Path | None = None
) -> tuple[Environment, list[str]]:
    document, reasons = capture_environment(folder, environ or {}, lockfile)
    return Environment.model_validate(document), reasons


def make_package(site: Path, name: str, version: str) -> None:
    folder = site / f"{name}-{version}.dist-info"
    folder.mkdir(parents=True)
    description = "\n\nName: not-this\nVersion: 9.9\n"
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}{description}")


def test_packages_are_those_that_importlib_knows(tmp_path: Path) -> None:
    environment, _ = capture(tmp_path)
    assert environment.packages["pydantic"] == importlib.metadata.version("pydantic")
    assert environment.packages["hypothesis"] == importlib.metadata.version("hypothesis")
    assert list(environment.packages) == sorted(environment.packages)
    assert environment.python == f"CPython {'.'.join(map(str, sys.version_info[:3]))}"


def test_package_names_are_normalised_and_the_first_on_the_path_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_package(tmp_path / "first", "Flash_Attn.Two", "2.1")
    make_package(tmp_path / "second", "flash-attn-two", "1.0")
    (tmp_path / "first" / "broken-1.0.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "first"), str(tmp_path / "second")])
    assert capture(tmp_path)[0].packages == {"flash-attn-two": "2.1"}


def test_more_packages_than_a_record_holds_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(700):
        make_package(tmp_path, f"{'long-name-' * 22}{number}", "1.0")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    environment, reasons = capture(tmp_path)
    assert 300 < len(environment.packages) < 700
    assert reasons == [f"700 packages are installed, of which {len(environment.packages)} are recorded"]


def test_lock_file_is_found_from_a_folder_below_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "uv.lock").write_text("version = 1\n")
    (tmp_path / "poetry.lock").write_text("# other\n")
    (tmp_path / "src" / "train").mkdir(parents=True)
    assert capture(tmp_path / "src" / "train")[0].lockfile == sha256_digest(b"version = 1\n")


def test_lock_file_of_another_project_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text("version = 1\n")
    (tmp_path / "mine" / ".git").mkdir(parents=True)
    (tmp_path / "mine" / "requirements.txt").write_text("numpy\n")
    assert capture(tmp_path / "mine")[0].lockfile is None


def test_given_lock_file_wins_and_a_missing_one_is_said(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text("version = 1\n")
    given = tmp_path / "requirements-gpu.txt"
    given.write_text("torch==2.7.0\n")
    assert capture(tmp_path, lockfile=given)[0].lockfile == sha256_digest(b"torch==2.7.0\n")
    environment, reasons = capture(tmp_path, lockfile=tmp_path / "gone.txt")
    assert environment.lockfile is None
    assert "gone.txt can't be read" in reasons[0]


@pytest.mark.parametrize(
    ("environ", "image"),
    [
        (
            {"SHIPWORTHY_IMAGE": f"registry.example.org:5000/team/train:v3@{DIGEST}"},
            Image(name="registry.example.org:5000/team/train", tag="v3", digest=DIGEST),
        ),
        ({"SHIPWORTHY_IMAGE": f"team/train@{DIGEST}"}, Image(name="team/train", digest=DIGEST)),
        ({"SHIPWORTHY_IMAGE": DIGEST}, Image(digest=DIGEST)),
        ({"SHIPWORTHY_IMAGE": "localhost:5000/train"}, Image(name="localhost:5000/train")),
        (
            {"SHIPWORTHY_IMAGE": "train:v3", "IMAGE_DIGEST": DIGEST},
            Image(name="train", tag="v3", digest=DIGEST),
        ),
        ({"IMAGE_DIGEST": f"team/train@{DIGEST}"}, Image(digest=DIGEST)),
        # An image id is no digest of an image in a registry, and a text that isn't one is nothing.
        ({"IMAGE_DIGEST": "5" * 64}, None),
        ({"SHIPWORTHY_IMAGE": "two words"}, None),
        ({}, None),
    ],
)
def test_image_is_what_the_deployment_says(environ: dict[str, str], image: Image | None) -> None:
    found = find_image(environ, NO_FILE)
    assert (Image.model_validate(found) if found else None) == image


def test_podman_names_the_image_but_not_its_digest(tmp_path: Path) -> None:
    file = tmp_path / ".containerenv"
    file.write_text(f'engine="podman-4.9.3"\nimage="docker.io/library/python:3.11"\nimageid="{"a" * 64}"\n')
    assert find_image({}, file) == {"name": "docker.io/library/python", "tag": "3.11"}


def test_only_listed_variables_are_kept_and_without_secrets(tmp_path: Path) -> None:
    environ = {
        "NCCL_DEBUG": "INFO",
        "CUDA_VISIBLE_DEVICES": "0,1",
        "XLA_FLAGS": "--dump=https://ada:hunter2@files.example.org/",
        "AWS_SECRET_ACCESS_KEY": "hunter2",
        "NCCL_SECRET_TOKEN": "hunter2",
        "HOME": "/users/ada",
        "MY_MODEL": "resnet",
    }
    assert capture(tmp_path, environ)[0].variables == {
        "CUDA_VISIBLE_DEVICES": "0,1",
        "NCCL_DEBUG": "INFO",
        "XLA_FLAGS": "--dump=https://***@files.example.org/",
    }


def test_gpu_libraries_are_read_from_a_torch_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> object:
        raise RuntimeError("no NCCL in this build")

    torch = SimpleNamespace(
        version=SimpleNamespace(cuda="12.8"),
        cuda=SimpleNamespace(nccl=SimpleNamespace(version=lambda: (2, 26, 2))),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    environment, _ = capture(tmp_path)
    assert (environment.cuda, environment.nccl) == ("12.8", "2.26.2")
    torch.cuda.nccl.version = broken
    assert capture(tmp_path)[0].nccl is None


def test_no_library_is_imported_for_it(tmp_path: Path) -> None:
    before = {"torch", "numpy", "tensorflow", "jax"} & set(sys.modules)
    capture(tmp_path)
    assert {"torch", "numpy", "tensorflow", "jax"} & set(sys.modules) == before
