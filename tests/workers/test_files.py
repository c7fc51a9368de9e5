"""Time of check is time of use: what was hashed is what was read, or the run is void."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from api.workers.failures import DATA_CHANGED, WorkFailed
from api.workers.files import HashedFile, hash_opened, require_unchanged
from api.workers.roots import opened_below


def nothing(count: int) -> None:
    """Progress that nobody looks at."""


@contextmanager
def hashed(folder: Path, name: str = "data.csv") -> Iterator[list[HashedFile]]:
    with opened_below(folder, name) as files:
        yield hash_opened(files, nothing)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.csv").write_bytes(b"n\n" + b"1\n" * 2_000_000)
    return tmp_path


def void(files: list[HashedFile]) -> None:
    with pytest.raises(WorkFailed, match=r"the data changed while it was checked: data\.csv") as caught:
        require_unchanged(files, nothing)
    assert (caught.value.code, caught.value.retry) == (DATA_CHANGED, False)


def test_untouched_file_is_unchanged(folder: Path) -> None:
    with hashed(folder) as files:
        require_unchanged(files, nothing)


def test_file_overwritten_in_place_voids_the_run(folder: Path) -> None:
    with hashed(folder) as files:
        with (folder / "data.csv").open("r+b") as file:
            file.seek(3_000_000)
            file.write(b"9")
        void(files)


def test_file_that_grew_voids_the_run(folder: Path) -> None:
    with hashed(folder) as files:
        with (folder / "data.csv").open("ab") as file:
            file.write(b"1\n")
        void(files)


def test_file_that_was_cut_voids_the_run(folder: Path) -> None:
    with hashed(folder) as files:
        os.truncate(folder / "data.csv", 100)
        void(files)


def test_file_changed_and_put_back_with_its_old_time_voids_the_run(folder: Path) -> None:
    """What was read in between is unknown, and modification times can be set by anybody."""
    path = folder / "data.csv"
    with hashed(folder) as files:
        times = path.stat()
        content = path.read_bytes()
        with path.open("r+b") as file:
            file.write(b"x")
            file.seek(0)
            file.write(content[:1])
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        void(files)


def test_file_replaced_by_another_keeps_the_bytes_that_were_opened_and_voids_the_run(folder: Path) -> None:
    with hashed(folder) as files:
        (folder / "new.csv").write_bytes(b"n\n7\n")
        (folder / "new.csv").rename(folder / "data.csv")
        assert os.pread(files[0].file.fd, 4, 0) == b"n\n1\n"
        void(files)


def test_file_that_changes_while_it_is_hashed_is_refused(folder: Path) -> None:
    def touch(count: int) -> None:
        with (folder / "data.csv").open("ab") as file:
            file.write(b"1\n")

    with opened_below(folder, "data.csv") as files, pytest.raises(WorkFailed, match="the data changed"):
        hash_opened(files, touch)


def test_progress_counts_all_bytes_and_may_stop_the_reading(folder: Path) -> None:
    counted: list[int] = []
    with opened_below(folder, "data.csv") as files:
        hash_opened(files, counted.append)
        assert sum(counted) == (folder / "data.csv").stat().st_size
        assert len(counted) > 2

        def stop(count: int) -> None:
            raise WorkFailed("time_limit", "over")

        with pytest.raises(WorkFailed, match="over"):
            hash_opened(files, stop)
