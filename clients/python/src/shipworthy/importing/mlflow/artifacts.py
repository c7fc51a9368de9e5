"""The bytes behind a model version as the digest that `run.artifact(path)` would have recorded; none is kept."""

import hashlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Protocol
from urllib.parse import unquote, urlsplit

from shipworthy.formats.manifest import ManifestEntry, ManifestError, hash_tree, manifest_digest
from shipworthy.importing.mlflow.answers import MlflowRun
from shipworthy.importing.mlflow.reading import Reading
from shipworthy.registries.mlflow_artifacts import (
    ListedFile,
    Remote,
    Unreadable,
    resolved_address,
    unreadable,
    where,
)
from shipworthy.registries.mlflow_files import is_of_loading
from shipworthy.registries.mlflow_models import ModelVersion
from shipworthy.registries.mlflow_server import MlflowRefused

_LOGGED_MODEL: Final = "models:/m-"


class Watch(Protocol):
    """Who is told how far reading an artifact is; the number of bytes is None where MLflow doesn't say it."""

    def begin(self, name: str, total: int | None) -> None: ...
    def advance(self, count: int) -> None: ...


@dataclass(frozen=True, slots=True)
class HashedArtifact:
    """`address` is where MLflow keeps it, `size` in bytes."""

    digest: str
    size: int
    address: str


def hash_artifact(reading: Reading, version: ModelVersion, watch: Watch) -> HashedArtifact:
    """Reads all of it, from this machine where it lies here, else through MLflow.

    Raises Unreadable with a sentence, and MlflowAway when MLflow can't be asked.
    """
    name = f"{version.model} {version.version}"
    try:
        address = reading.patiently(lambda: resolved_address(reading.server, version))
        place = reading.patiently(lambda: where(reading.server, version))
        if isinstance(place, Path):
            entries = _read_here(place, name, watch)
        else:
            entries = _read_remote(reading, place, _last_part(address), name, watch)
        return HashedArtifact(manifest_digest(entries), sum(each.size for each in entries), address)
    except MlflowRefused as error:
        raise unreadable(error) from error
    except ManifestError as error:
        raise Unreadable(str(error)) from error
    except OSError as error:
        raise Unreadable(f"it can't be read here: {error.strerror or error}") from error


def was_made_by(reading: Reading, version: ModelVersion, artifact: HashedArtifact, run: MlflowRun) -> bool:
    """Whether MLflow itself knows the artifact as one of this run's: a version may name any run with any source."""
    if ".." in artifact.address.split("/"):
        return False
    if run.artifact_uri and f"{artifact.address}/".startswith(f"{run.artifact_uri}/"):
        return True
    if not (version.source or "").startswith(_LOGGED_MODEL):
        return False
    try:
        model = reading.logged_model(str(version.source).removeprefix("models:/"))
    except MlflowRefused:
        return False
    return model.get("source_run_id") == run.id and model.get("artifact_uri") == artifact.address


def _read_here(path: Path, name: str, watch: Watch) -> list[ManifestEntry]:
    # Links that lead to the artifact are the operator's; below it none is followed.
    root = path.resolve(strict=True)
    total = sum(each.stat().st_size for each in root.rglob("*") if each.is_file()) if root.is_dir() else None
    watch.begin(name, total)
    entries = hash_tree(root, watch.advance)
    return [each for each in entries if not (root.is_dir() and is_of_loading(each.path, each.size))]


def _read_remote(
    reading: Reading, place: Remote, file_name: str, name: str, watch: Watch
) -> list[ManifestEntry]:
    listed = reading.patiently(lambda: place.files(reading.server, _nothing))
    sizes = [each.size for each in listed]
    watch.begin(name, None if None in sizes else sum(each for each in sizes if each is not None))
    entries = [_entry(reading, place, file, file_name, watch) for file in listed]
    if reading.patiently(lambda: place.files(reading.server, _nothing)) != listed:
        raise Unreadable("its files changed while they were read; import it when it is complete")
    return entries


def _entry(reading: Reading, place: Remote, file: ListedFile, file_name: str, watch: Watch) -> ManifestEntry:
    def read() -> tuple[str, int]:
        address, parameters = place.reading(file.path)
        hasher, size = hashlib.sha256(), 0
        with reading.server.download(address, parameters) as download:
            for block in download.blocks or ():
                hasher.update(block)
                size += len(block)
                watch.advance(len(block))
        return hasher.hexdigest(), size

    sha256, size = reading.patiently(read)
    if file.size is not None and size != file.size:
        raise Unreadable(f"{file.path or file_name} has {size} bytes, and MLflow lists it with {file.size}")
    # A single file has its own name in its manifest, as where it was trained.
    return ManifestEntry(file.path or file_name, size, sha256)


def _last_part(address: str) -> str:
    return PurePosixPath(unquote(urlsplit(address).path)).name


def _nothing() -> None:
    """Between files nothing asks an import to stop: it may be killed at any point."""
