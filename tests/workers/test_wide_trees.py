"""Folders that hold more than a check reads are refused while they are walked, on disk and in a store."""

from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.spec import AbstractFileSystem

from api.workers import roots
from api.workers.failures import DATA_REFUSED, DATA_UNREADABLE, WorkDropped, WorkFailed
from api.workers.roots import opened_below
from api.workers.staging import staged

MOST = 20


class EndlessStore(AbstractFileSystem):  # type: ignore[misc] # fsspec is not typed
    """Below every folder lies another one; those named "secret" may not be listed."""

    protocol = "endless"

    def info(self, path: str, **_: object) -> dict[str, Any]:
        return {"name": path, "type": "directory", "size": 0}

    def ls(self, path: str, detail: bool = True, **_: object) -> list[dict[str, Any]]:
        if path.endswith("/secret"):
            raise PermissionError(path)
        if path.endswith("/odd"):
            return [{"name": f"{path}/", "type": "directory", "size": 0}]
        deeper = "secret" if "/shut" in path else "deeper"
        return [
            {"name": f"{path}/n.csv", "type": "file", "size": 4},
            {"name": f"{path}/{deeper}", "type": "directory", "size": 0},
        ]


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test reaches soon."""
    monkeypatch.setattr(roots, "MAX_FILES", MOST)
    monkeypatch.setattr(roots, "MAX_FOLDERS", MOST)


fsspec.register_implementation("endless", EndlessStore, clobber=True)


def refused(path: str, folder: Path, code: str = DATA_REFUSED) -> str:
    with pytest.raises(WorkFailed) as caught, staged("endless://srv/data", path, folder, lambda *_: None):
        pass
    assert caught.value.code == code
    return caught.value.message


def refused_on_disk(root: Path, path: str) -> str:
    with pytest.raises(WorkFailed) as caught, opened_below(root, path):
        pass
    assert caught.value.code == DATA_REFUSED
    return caught.value.message


def test_tree_of_empty_folders_is_refused_on_disk(tmp_path: Path) -> None:
    for number in range(MOST + 1):
        (tmp_path / "wide" / str(number % 5) / str(number)).mkdir(parents=True)
    assert "wide holds more than 20 folders" in refused_on_disk(tmp_path, "wide")


def test_files_of_all_folders_together_are_counted_on_disk(tmp_path: Path) -> None:
    for number in range(MOST + 1):
        folder = tmp_path / "many" / str(number % 5)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.csv").write_text("n\n")
    assert "many holds more than 20 files" in refused_on_disk(tmp_path, "many")
    (tmp_path / "many" / "0" / "0.csv").unlink()
    with opened_below(tmp_path, "many") as files:
        assert len(files) == MOST


def test_names_of_one_folder_are_not_read_without_end(tmp_path: Path) -> None:
    (tmp_path / "flat").mkdir()
    for number in range(2 * MOST + 1):
        (tmp_path / "flat" / str(number)).touch()
    assert "holds more than 40 entries" in refused_on_disk(tmp_path, "flat")


def test_store_whose_folders_have_no_end_is_refused(tmp_path: Path) -> None:
    assert "data holds more than 20" in refused("data", tmp_path)


def test_listing_of_a_store_stops_when_nobody_wants_the_work(tmp_path: Path) -> None:
    asked = 0

    def stop(done: int, total: int) -> None:
        nonlocal asked
        asked += 1
        if asked == 3:
            raise WorkDropped("it was cancelled")

    with pytest.raises(WorkDropped), staged("endless://srv/data", "data", tmp_path, stop):
        pass


def test_folder_of_a_store_that_can_not_be_listed_is_never_left_out(tmp_path: Path) -> None:
    assert "PermissionError" in refused("shut", tmp_path, DATA_UNREADABLE)


def test_object_whose_name_has_an_empty_part_is_refused(tmp_path: Path) -> None:
    assert "empty part in its name" in refused("odd", tmp_path)
