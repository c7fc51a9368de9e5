"""The digest of what lies behind a version."""

import os
from pathlib import Path

import pytest

from shipworthy.formats.manifest import ManifestError
from shipworthy.mlflow.hashing import Digests
from shipworthy.promises import What, digest_files, promise_of_files


def make_model(folder: Path) -> Path:
    model = folder / "model"
    (model / "data").mkdir(parents=True)
    (model / "MLmodel").write_text("flavors: {}\n")
    (model / "data" / "weights.bin").write_bytes(b"\x00\x01" * 100)
    return model


@pytest.mark.parametrize("name", ["", "MLmodel"])
def test_digest_is_what_run_artifact_records(tmp_path: Path, name: str) -> None:
    path = make_model(tmp_path) / name
    recorded, _ = digest_files(promise_of_files(What.ARTIFACT, "key", "run", path, {}))
    assert Digests().of(path) == recorded


def test_swapped_file_of_the_same_size_and_time_has_another_digest(tmp_path: Path) -> None:
    model = make_model(tmp_path)
    digests = Digests()
    before = digests.of(model)
    assert digests.of(model) == before
    weights = model / "data" / "weights.bin"
    status = weights.stat()
    weights.write_bytes(b"\x00\x02" * 100)
    os.utime(weights, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert digests.of(model) != before


def test_file_that_is_not_regular_has_no_digest(tmp_path: Path) -> None:
    model = make_model(tmp_path)
    (model / "link").symlink_to(tmp_path)
    with pytest.raises(ManifestError, match="symbolic link"):
        Digests().of(model)


def test_unchanged_files_are_not_read_again(tmp_path: Path) -> None:
    model = make_model(tmp_path)
    digests = Digests()
    before = digests.of(model)
    opened: list[str] = []
    import sys

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and watching and str(arguments[0]).startswith(str(model)):
            opened.append(str(arguments[0]))

    watching = True
    sys.addaudithook(watch)
    try:
        assert digests.of(model) == before
    finally:
        watching = False
    assert opened == []
