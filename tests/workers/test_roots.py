"""Registered roots: nothing outside of them is opened, whatever a path or the folder holds."""

import os
import socket
from pathlib import Path

import pytest

from api.workers.failures import DATA_REFUSED, WorkFailed
from api.workers.files import hash_opened
from api.workers.roots import opened_below
from shipworthy.formats.manifest import hash_tree, manifest_digest


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "months" / "2019").mkdir(parents=True)
    (folder / "months" / "2019" / "january.csv").write_bytes(b"n\n1\n")
    (folder / "months" / "2019" / "february.csv").write_bytes(b"n\n2\n")
    (folder / "months" / "notes.txt").write_bytes(b"two months")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "keys.csv").write_bytes(b"key\nsw_\n")
    return folder


def refused(root: Path, path: str) -> str:
    """The sentence with which a path is refused."""
    with pytest.raises(WorkFailed) as caught, opened_below(root, path):
        pass
    assert (caught.value.code, caught.value.retry) == (DATA_REFUSED, False)
    return caught.value.message


@pytest.mark.parametrize("path", ["months/2019/january.csv", "months/2019", "months"])
def test_manifest_of_opened_files_is_the_one_that_training_records(root: Path, path: str) -> None:
    with opened_below(root, path) as files:
        hashed = hash_opened(files, lambda count: None)
    assert manifest_digest(each.entry for each in hashed) == manifest_digest(hash_tree(root / path))


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("s3://bucket/data.parquet", "URL"),
        ("http://169.254.169.254/latest", "URL"),
        ("file:///etc/passwd", "URL"),
        ("simplecache::s3://bucket/data", "URL"),
        ("/etc/passwd", "absolute"),
        ("../secret/keys.csv", "'..'"),
        ("months/../../secret/keys.csv", "'..'"),
        ("months//2019", "empty"),
        ("./months", "'.'"),
        ("", "empty"),
        ("months\\2019", "backslash"),
        ("months/\x00", "control characters"),
        ("months/2018", "there is no months/2018"),
        ("months/notes.txt/january.csv", "no folder"),
    ],
)
def test_paths_that_are_no_plain_path_below_the_root_are_refused(root: Path, path: str, word: str) -> None:
    assert word in refused(root, path)


def test_symbolic_link_out_of_the_root_is_refused(root: Path, tmp_path: Path) -> None:
    (root / "months" / "link.csv").symlink_to(tmp_path / "secret" / "keys.csv")
    assert "months/link.csv is a symbolic link" in refused(root, "months/link.csv")


def test_symbolic_link_as_a_folder_of_the_path_is_refused_even_within_the_root(root: Path) -> None:
    (root / "latest").symlink_to(root / "months")
    assert "latest is a symbolic link" in refused(root, "latest/2019/january.csv")


def test_symbolic_link_within_a_folder_is_refused_by_its_name(root: Path, tmp_path: Path) -> None:
    (root / "months" / "2019" / "march").symlink_to(tmp_path / "secret")
    assert "2019/march is a symbolic link" in refused(root, "months")


def test_pipe_is_refused_without_waiting_for_a_writer(root: Path) -> None:
    os.mkfifo(root / "pipe.csv")
    assert "is a pipe" in refused(root, "pipe.csv")


def test_socket_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)  # Addresses of sockets are short.
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("door.csv")
        assert "is a socket" in refused(root, "door.csv")


def test_device_is_refused() -> None:
    assert "null is a device" in refused(Path("/dev"), "null")


def test_empty_folder_is_refused(root: Path) -> None:
    (root / "empty").mkdir()
    assert "holds no file" in refused(root, "empty")


def test_file_name_that_no_manifest_takes_is_refused(root: Path) -> None:
    (root / "months" / "new\nline.csv").write_bytes(b"n\n")
    assert "control characters" in refused(root, "months")


def test_root_that_is_itself_a_link_is_followed_because_its_owner_registered_it(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "registered").symlink_to(root)
    with opened_below(tmp_path / "registered", "months/2019/january.csv") as files:
        assert os.pread(files[0].fd, 10, 0) == b"n\n1\n"


def test_descriptors_are_closed_afterwards_also_when_a_later_file_is_refused(root: Path) -> None:
    (root / "months" / "z").symlink_to(root)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        refused(root, "months")
        with opened_below(root, "months/2019") as files:
            assert len(files) == 2
    assert len(os.listdir("/proc/self/fd")) == before


def test_file_that_cannot_be_read_is_an_error_of_the_worker_not_a_pass(root: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (root / "months" / "notes.txt").chmod(0)
    with pytest.raises(WorkFailed, match=r"notes\.txt can't be read"), opened_below(root, "months"):
        pass
