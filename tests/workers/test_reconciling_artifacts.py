"""Digests of what stands behind model versions: the same that training recorded, and no byte read twice for nothing."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.workers.reconciling_artifacts import UNPROVEN_SECONDS, ArtifactDigests
from shipworthy.formats.manifest import hash_tree, manifest_digest
from shipworthy.registries.mlflow_artifacts import Unreadable
from shipworthy.registries.mlflow_models import ModelVersion
from shipworthy.registries.mlflow_server import MlflowServer
from tests.support.mlflow_like import MlflowLike, mlflow_like

FILES = {"MLmodel": b"flavors: {}\n", "data/model.pkl": b"\x00" * 3_000_000, "data/ö.txt": b"text"}
ROOT = "0/abc/artifacts/model"


@pytest.fixture
def mlflow() -> Iterator[MlflowLike]:
    with mlflow_like() as server:
        server.files = {f"{ROOT}/{path}": data for path, data in FILES.items()}
        server.register("fraud", "1", f"mlflow-artifacts:/{ROOT}")
        yield server


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The same files on this machine."""
    return written(tmp_path / "model")


def written(folder: Path) -> Path:
    for path, data in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


class Reader:
    """One worker's memory, and the blocks that it read since it was asked last."""

    def __init__(self, mlflow: MlflowLike) -> None:
        self._mlflow = mlflow
        self.now = 0.0
        self.digests = ArtifactDigests(lambda: self.now)

    def digest(self) -> str:
        version = ModelVersion("fraud", "1", "None", None, None, None)
        with MlflowServer(self._mlflow.url) as server:
            try:
                return self.digests.digest(server, version, lambda: None)
            finally:
                self.digests.end_pass()


def test_artifact_behind_mlflow_has_the_digest_that_training_recorded(
    mlflow: MlflowLike, model: Path
) -> None:
    assert Reader(mlflow).digest() == manifest_digest(hash_tree(model))


def test_artifact_on_this_machine_has_it_too_and_nothing_is_fetched(mlflow: MlflowLike, model: Path) -> None:
    for address in (str(model), model.as_uri()):
        mlflow.versions[0].address = address
        assert Reader(mlflow).digest() == manifest_digest(hash_tree(model))
    assert not mlflow.served


def test_single_file_is_a_manifest_of_one(mlflow: MlflowLike, model: Path) -> None:
    recorded = manifest_digest(hash_tree(model / "MLmodel"))
    for address in (f"mlflow-artifacts:/{ROOT}/MLmodel", str(model / "MLmodel")):
        mlflow.versions[0].address = address
        assert Reader(mlflow).digest() == recorded


def test_what_loading_a_model_writes_beside_it_changes_nothing(mlflow: MlflowLike, model: Path) -> None:
    before = manifest_digest(hash_tree(model))
    mlflow.files[f"{ROOT}/registered_model_meta"] = b"model_name: fraud\n"
    assert Reader(mlflow).digest() == before
    (model / "registered_model_meta").write_text("model_name: fraud\n")
    mlflow.versions[0].address = str(model)
    assert Reader(mlflow).digest() == before
    (model / "registered_model_meta").write_bytes(b"#" * 10_000)
    assert Reader(mlflow).digest() != before


def test_unchanged_file_is_not_read_again_and_a_changed_one_is(mlflow: MlflowLike) -> None:
    reader = Reader(mlflow)
    before = reader.digest()
    read = mlflow.served.total()
    assert reader.digest() == before
    assert mlflow.served.total() == read
    # As many bytes as before: only the ETag tells.
    mlflow.files[f"{ROOT}/MLmodel"] = b"flavors: []\n"
    assert reader.digest() != before
    assert mlflow.served.total() == read + len(FILES["MLmodel"])


@pytest.mark.parametrize("etags", ["none", "new"])
def test_without_an_etag_that_lasts_the_size_counts_for_an_hour(mlflow: MlflowLike, etags: str) -> None:
    mlflow.etags = etags
    reader = Reader(mlflow)
    before = reader.digest()
    read = mlflow.served.total()
    mlflow.files[f"{ROOT}/MLmodel"] = b"flavors: []\n"
    assert reader.digest() == before
    assert mlflow.served.total() == read
    reader.now += UNPROVEN_SECONDS
    changed = reader.digest()
    assert changed != before
    mlflow.files[f"{ROOT}/MLmodel"] = b"longer than before"
    assert reader.digest() not in (before, changed)


def test_file_on_this_machine_is_read_again_although_its_size_and_date_are_the_same(
    mlflow: MlflowLike, model: Path
) -> None:
    mlflow.versions[0].address = str(model)
    reader = Reader(mlflow)
    before = reader.digest()
    file = model / "MLmodel"
    status = file.stat()
    file.write_bytes(b"flavors: []\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert reader.digest() == manifest_digest(hash_tree(model)) != before


def test_links_within_an_artifact_lead_nowhere(mlflow: MlflowLike, model: Path) -> None:
    (model / "weights.bin").symlink_to("/etc/hostname")
    mlflow.versions[0].address = str(model)
    with pytest.raises(Unreadable, match="symbolic link"):
        Reader(mlflow).digest()


@pytest.mark.parametrize(
    ("address", "word"),
    [
        ("s3://bucket/model", "neither be read here nor through MLflow"),
        ("/of/another/machine", "a path of another machine"),
        (f"mlflow-artifacts:/{ROOT}/none", "MLflow does not give its artifact"),
    ],
)
def test_what_can_not_be_read_says_why(mlflow: MlflowLike, address: str, word: str) -> None:
    mlflow.versions[0].address = address
    with pytest.raises(Unreadable, match=word):
        Reader(mlflow).digest()


def test_listing_that_would_lead_elsewhere_is_refused(mlflow: MlflowLike) -> None:
    mlflow.files[f"{ROOT}/.."] = b"x"
    with pytest.raises(Unreadable, match=r"'\.\.'"):
        Reader(mlflow).digest()
