import hashlib
import os
import re
import socket
from pathlib import Path

import pytest

from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.manifest import (
    BLOCK_SIZE,
    ManifestEntry,
    ManifestError,
    hash_file,
    hash_tree,
    manifest_bytes,
    manifest_digest,
    parse_manifest,
    validate_path,
)

A, B = "a" * 64, "b" * 64


def test_manifest_is_sorted_canonical_json_and_survives_a_round_trip() -> None:
    entries = [ManifestEntry("weights/é.bin", 7, B), ManifestEntry("config.json", 0, A)]
    data = manifest_bytes(entries)
    assert data.decode() == (
        f'[{{"path":"config.json","sha256":"{A}","size":0}},{{"path":"weights/é.bin","sha256":"{B}","size":7}}]'
    )
    assert manifest_digest(reversed(entries)) == sha256_digest(data)
    assert parse_manifest(data) == (entries[1], entries[0])


def test_manifest_refuses_duplicates_and_emptiness() -> None:
    with pytest.raises(ManifestError, match="'x' appears twice"):
        manifest_bytes([ManifestEntry("x", 1, A), ManifestEntry("y", 1, A), ManifestEntry("x", 2, B)])
    with pytest.raises(ManifestError, match="no entry"):
        manifest_bytes([])


@pytest.mark.parametrize("path", ["a", "a/b.c/d", ".hidden", "..a/b", "a b", "模型.bin", "x" * 1024])
def test_validate_path_accepts_plain_relative_paths(path: str) -> None:
    validate_path(path)
    assert ManifestEntry(path, 1, A).path == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/a",
        "a/",
        "a//b",
        ".",
        "..",
        "a/../b",
        "./a",
        "a/.",
        "a\\b",
        "a\x00b",
        "a\nb",
        "a\x7f",
        "a\x85b",
        "\udcff",
        "x" * 1025,
    ],
)
def test_validate_path_refuses(path: str) -> None:
    with pytest.raises(ManifestError):
        validate_path(path)
    with pytest.raises(ManifestError):
        ManifestEntry(path, 1, A)


@pytest.mark.parametrize(
    ("size", "sha256"), [(-1, A), (2**53, A), (1, A.upper()), (1, "sha256:" + A), (1, A + "\n")]
)
def test_entries_refuse_impossible_sizes_and_hashes(size: int, sha256: str) -> None:
    with pytest.raises(ManifestError):
        ManifestEntry("a", size, sha256)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b"[1]",
        b"[" * 100_000,
        f'[{{"path":"a","size":1,"sha256":"{A}"}}]'.encode(),
        f'[{{"path":"a","sha256":"{A}","size":1}}] '.encode(),
        f'[{{"path":"a","sha256":"{A}","size":1.0}}]'.encode(),
        f'[{{"path":"a","sha256":"{A}","size":true}}]'.encode(),
        f'[{{"path":"a","sha256":"{A}","size":1,"size":1}}]'.encode(),
        f'[{{"path":"a","sha256":"{A}","size":1,"mode":2}}]'.encode(),
        f'[{{"path":1,"sha256":"{A}","size":1}}]'.encode(),
        f'[{{"path":"\\u0061","sha256":"{A}","size":1}}]'.encode(),
        f'[{{"path":"b","sha256":"{A}","size":1}},{{"path":"a","sha256":"{A}","size":1}}]'.encode(),
        f'[{{"path":"a","sha256":"{A}","size":1}},{{"path":"a","sha256":"{A}","size":1}}]'.encode(),
    ],
)
def test_parse_manifest_refuses_what_is_not_canonical(data: bytes) -> None:
    with pytest.raises(ManifestError):
        parse_manifest(data)


def make_tree(root: Path) -> dict[str, bytes]:
    files = {
        "config.json": b"{}",
        "weights/part-0": os.urandom(BLOCK_SIZE * 2 + 5),
        "weights/empty": b"",
        "a.b": b"x",
    }
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    (root / "no files").mkdir()
    return files


def test_hash_tree_lists_every_file_and_reports_every_byte(tmp_path: Path) -> None:
    files = make_tree(tmp_path)
    reported: list[int] = []
    entries = hash_tree(tmp_path, reported.append)
    assert entries == tuple(
        ManifestEntry(path, len(content), hashlib.sha256(content).hexdigest())
        for path, content in sorted(files.items())
    )
    assert sum(reported) == sum(map(len, files.values()))
    assert max(reported) <= BLOCK_SIZE
    assert parse_manifest(manifest_bytes(entries)) == entries


def test_hash_tree_of_a_file_is_one_entry_under_its_name(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"abc")
    assert hash_tree(tmp_path / "model.bin") == (
        ManifestEntry("model.bin", 3, hashlib.sha256(b"abc").hexdigest()),
    )


def test_hash_tree_refuses_links_by_name(tmp_path: Path) -> None:
    make_tree(tmp_path / "tree")
    (tmp_path / "tree" / "weights" / "latest").symlink_to("part-0")
    (tmp_path / "tree-link").symlink_to("tree")
    for root, name in ((tmp_path / "tree", "latest"), (tmp_path / "tree-link", "tree-link")):
        with pytest.raises(ManifestError, match=f"{name} is a symbolic link"):
            hash_tree(root)


def test_hash_tree_refuses_links_to_folders(tmp_path: Path) -> None:
    make_tree(tmp_path)
    (tmp_path / "loop").symlink_to(tmp_path)
    with pytest.raises(ManifestError, match="loop is a symbolic link"):
        hash_tree(tmp_path)


def test_hash_tree_refuses_pipes_and_sockets_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ManifestError, match=re.escape(f"{tmp_path}/pipe is a pipe")):
        hash_tree(tmp_path)
    os.remove(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # A socket's address is short, the folder's path may not be.
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        with pytest.raises(ManifestError, match="socket is a socket"):
            hash_tree(tmp_path)


def test_hash_file_refuses_devices_and_folders(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="is a device"):
        hash_file(Path("/dev/null"))
    with pytest.raises(ManifestError, match="is a folder"):
        hash_file(tmp_path)


def test_hash_tree_refuses_a_tree_without_files(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(ManifestError, match="holds no file"):
        hash_tree(tmp_path)


@pytest.mark.parametrize("change", ["grow", "shrink", "overwrite", "replace", "link", "vanish"])
def test_hash_file_refuses_a_file_that_changes_meanwhile(tmp_path: Path, change: str) -> None:
    path, other = tmp_path / "weights", tmp_path / "other"
    content = bytes(BLOCK_SIZE * 3)
    path.write_bytes(content)
    os.utime(path, ns=(0, 0))
    other.write_bytes(content)
    os.utime(other, ns=(0, 0))

    def interfere(_: int) -> None:
        if change == "replace":
            if other.exists():
                other.replace(path)
        elif change == "vanish":
            path.unlink(missing_ok=True)
        elif change == "link":
            path.unlink()
            path.symlink_to(other)
        else:
            with path.open("r+b") as file:
                if change == "shrink":
                    file.truncate(BLOCK_SIZE)
                else:
                    file.seek(0, os.SEEK_END if change == "grow" else os.SEEK_SET)
                    file.write(b"x" * 10)
            if change != "overwrite":  # The size alone must give the change away.
                os.utime(path, ns=(0, 0))

    with pytest.raises(ManifestError, match=r"changed while it was hashed|is a symbolic link"):
        hash_file(path, interfere)


@pytest.mark.parametrize("change", ["add", "remove"])
def test_hash_tree_refuses_files_that_come_or_go_meanwhile(tmp_path: Path, change: str) -> None:
    make_tree(tmp_path)

    def interfere(_: int) -> None:
        if change == "add":
            (tmp_path / "weights" / "part-1").write_bytes(b"late")
        else:
            (tmp_path / "config.json").unlink(missing_ok=True)

    with pytest.raises(ManifestError, match=f"{re.escape(str(tmp_path))} gained or lost files"):
        hash_tree(tmp_path, interfere)
