"""Roots in an object store, with the file system in memory that fsspec brings."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from api.workers.failures import DATA_CHANGED, DATA_REFUSED, DATA_UNREADABLE, WorkFailed
from api.workers.files import hash_opened, require_unchanged
from api.workers.staging import staged
from shipworthy.formats.manifest import hash_tree, manifest_digest

ROOT = "memory://bucket/taxi"
FILES = {"2019/january.csv": b"n\n1\n", "2019/february.csv": b"n\n2\n" * 10_000, "2020.csv": b"n\n"}


def nothing(*counts: int) -> None:
    """Progress that nobody looks at."""


@pytest.fixture
def store() -> Iterator[Any]:
    system = fsspec.filesystem("memory")
    for name, content in FILES.items():
        system.pipe_file(f"/bucket/taxi/{name}", content)
    yield system
    system.rm("/bucket", recursive=True)


def refused(path: str, folder: Path, code: str = DATA_REFUSED, url: str = ROOT) -> str:
    with pytest.raises(WorkFailed) as caught, staged(url, path, folder, nothing):
        pass
    assert caught.value.code == code
    return caught.value.message


@pytest.mark.parametrize("path", ["2019", "2019/january.csv"])
def test_staged_files_have_the_manifest_of_the_same_local_files(
    store: Any, tmp_path: Path, path: str
) -> None:
    for name, content in FILES.items():
        local = tmp_path / "local" / name
        local.parent.mkdir(parents=True, exist_ok=True)
        local.write_bytes(content)
    (tmp_path / "staging").mkdir()
    with staged(ROOT, path, tmp_path / "staging", nothing) as files:
        hashed = hash_opened(files, nothing)
        require_unchanged(hashed, nothing)
    assert manifest_digest(each.entry for each in hashed) == manifest_digest(
        hash_tree(tmp_path / "local" / path)
    )


def test_staged_files_have_no_name_that_could_be_exchanged(store: Any, tmp_path: Path) -> None:
    with staged(ROOT, "2019", tmp_path, nothing) as files:
        assert len(files) == 2
        assert list(tmp_path.iterdir()) == []


def test_progress_tells_bytes_of_all(store: Any, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with staged(ROOT, "2019", tmp_path, lambda done, total: told.append((done, total))):
        pass
    assert told[-1] == (40_004, 40_004)


@pytest.mark.parametrize("path", ["../secret", "/bucket/secret", "s3://other/data", "2019/../../secret"])
def test_paths_that_lead_elsewhere_are_refused(store: Any, tmp_path: Path, path: str) -> None:
    assert refused(path, tmp_path)


def test_missing_object_is_named(store: Any, tmp_path: Path) -> None:
    assert "there is no 2021.csv below the root" in refused("2021.csv", tmp_path)


def test_object_that_became_another_while_it_was_fetched_voids_the_run(store: Any, tmp_path: Path) -> None:
    def overwrite(done: int, total: int) -> None:
        store.pipe_file("/bucket/taxi/2019/january.csv", b"n\n9\n")

    with (
        pytest.raises(WorkFailed, match=r"the data changed while it was checked") as caught,
        staged(ROOT, "2019/january.csv", tmp_path, overwrite),
    ):
        pass
    assert caught.value.code == DATA_CHANGED


def test_store_that_can_not_be_used_is_said_without_its_address(tmp_path: Path) -> None:
    message = refused("2019", tmp_path, DATA_UNREADABLE, "nosuchstore://user:secret@host/data")
    assert "secret" not in message
    assert "address can't be used" in message
