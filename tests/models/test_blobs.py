"""The blob store: whole blobs or none, per namespace, on a folder and on an fsspec URL."""

import hashlib
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from models.blobs import MAX_BLOB_BYTES, BlobStore
from models.errors import BlobDigestMismatch, BodyTooLarge, InvalidInput, NotFound, StartRefused
from shipworthy.formats.digests import sha256_digest

BYTES = b"shipworthy" * 1000
DIGEST = sha256_digest(BYTES)


@pytest.fixture(params=["folder", "file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BlobStore]:
    if request.param == "memory":
        yield BlobStore(f"memory://blobs-{tmp_path.name}", spool=tmp_path / "spool")
    else:
        root = tmp_path / "blobs"
        yield BlobStore(root if request.param == "folder" else f"file://{root}")
    leftovers = list(tmp_path.rglob("*.part"))
    assert leftovers == []


def put(store: BlobStore, data: bytes, namespace: str = "team-a", digest: str | None = None) -> bool:
    writer = store.writer(namespace, digest or sha256_digest(data))
    writer.update(data)
    return writer.commit()


def get(store: BlobStore, namespace: str = "team-a", digest: str = DIGEST) -> bytes:
    size, chunks = store.read(namespace, digest)
    data = b"".join(chunks)
    assert size == len(data)
    return data


def test_what_was_written_in_chunks_reads_back(store: BlobStore) -> None:
    writer = store.writer("team-a", DIGEST)
    for start in range(0, len(BYTES), 777):
        writer.update(BYTES[start : start + 777])
    assert writer.commit() is True
    assert get(store) == BYTES
    assert store.size("team-a", DIGEST) == len(BYTES)
    assert put(store, BYTES) is False


def test_the_empty_blob_is_a_blob(store: BlobStore) -> None:
    writer = store.writer("team-a", sha256_digest(b""))
    assert writer.commit() is True
    assert get(store, digest=sha256_digest(b"")) == b""


def test_read_gives_a_range(store: BlobStore) -> None:
    put(store, BYTES)
    size, chunks = store.read("team-a", DIGEST, 3, 14)
    assert (size, b"".join(chunks)) == (len(BYTES), BYTES[3:14])


def test_wrong_bytes_leave_nothing(store: BlobStore) -> None:
    writer = store.writer("team-a", DIGEST)
    writer.update(BYTES[:-1])
    with pytest.raises(BlobDigestMismatch, match="9,999 bytes"):
        writer.commit()
    writer.abort()
    with pytest.raises(NotFound):
        store.size("team-a", DIGEST)


def test_an_aborted_writer_takes_nothing_more(store: BlobStore) -> None:
    writer = store.writer("team-a", DIGEST)
    writer.update(BYTES)
    writer.abort()
    writer.abort()
    with pytest.raises(ValueError, match="aborted"):
        writer.update(BYTES)


def test_a_blob_of_another_namespace_is_unknown(store: BlobStore) -> None:
    put(store, BYTES, "team/a")
    for other in ("team:a", "team", "TEAM/A", "team/a/"):
        with pytest.raises(NotFound) as of_other:
            store.read(other, DIGEST)
        with pytest.raises(NotFound) as of_nobody:
            store.read(other, sha256_digest(b"never stored"))
        assert of_other.value.detail.replace(DIGEST, "") == of_nobody.value.detail.replace(
            sha256_digest(b"never stored"), ""
        )


@pytest.mark.parametrize("digest", ["sha256:" + "A" * 64, DIGEST + "\n", "sha256:../../../etc/passwd", ""])
def test_a_malformed_digest_is_refused(tmp_path: Path, digest: str) -> None:
    store = BlobStore(tmp_path)
    with pytest.raises(InvalidInput):
        store.writer("team-a", digest)
    with pytest.raises(InvalidInput):
        store.read("team-a", digest)


def test_no_namespace_escapes_the_folder(tmp_path: Path) -> None:
    root = tmp_path / "blobs"
    store = BlobStore(root)
    for namespace in ("..", "a/../../b", "a/b", "a:b", "x" * 256):
        put(store, BYTES, namespace)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 5
    assert all(path.parent.parent.parent == root for path in files)


def test_files_and_folders_are_private(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        put(BlobStore(tmp_path / "data" / "blobs"), BYTES)
    finally:
        os.umask(mask)
    modes = {
        path.is_dir(): stat.S_IMODE(path.stat().st_mode) for path in sorted((tmp_path / "data").rglob("*"))
    }
    assert modes == {True: 0o700, False: 0o600}
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


def test_more_than_256_mib_is_refused(tmp_path: Path) -> None:
    writer = BlobStore(tmp_path).writer("team-a", DIGEST)
    chunk = bytes(MAX_BLOB_BYTES // 4)
    for _ in range(4):
        writer.update(chunk)
    with pytest.raises(BodyTooLarge):
        writer.update(b"x")
    writer.abort()
    assert list(tmp_path.rglob("*.part")) == []


def test_half_received_files_are_swept_at_start_after_a_day(tmp_path: Path) -> None:
    for name in ("old", "new"):
        writer = BlobStore(tmp_path).writer("team-a", DIGEST)
        writer.update(BYTES)
        (part,) = [path for path in tmp_path.rglob("*.part") if path.name != "old.part"]
        part.rename(part.with_name(f"{name}.part"))
        if name == "old":
            os.utime(part.with_name("old.part"), (time.time() - 90_000,) * 2)
    BlobStore(tmp_path)
    assert [path.name for path in tmp_path.rglob("*.part")] == ["new.part"]


def test_writing_again_heals_a_damaged_file(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    put(store, BYTES)
    (stored,) = tmp_path.rglob(hashlib.sha256(BYTES).hexdigest())
    stored.write_bytes(b"damaged")
    assert put(store, BYTES) is False
    assert get(store) == BYTES


def test_a_location_that_cannot_work_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(StartRefused, match="spool"):
        BlobStore("memory://blobs")
    with pytest.raises(StartRefused, match="nosuchstore"):
        BlobStore("nosuchstore://bucket/key", spool=tmp_path)
