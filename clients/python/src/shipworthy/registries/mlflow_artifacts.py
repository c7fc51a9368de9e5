"""Where the artifact of a model version lies, and what is there: on this machine, or as MLflow lists and serves it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from shipworthy.formats.manifest import ManifestError, validate_path
from shipworthy.registries.mlflow_files import is_of_loading
from shipworthy.registries.mlflow_models import ModelVersion, address_of
from shipworthy.registries.mlflow_server import MlflowError, MlflowRefused, MlflowServer

MAX_FILES: Final = 10_000
MAX_DEPTH: Final = 32

_API: Final = "/api/2.0/mlflow"
_PROXY: Final = "/api/2.0/mlflow-artifacts/artifacts"


class Unreadable(Exception):
    """The artifact can't be read from here; `sentence` says why, and what to do."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class ListedFile:
    """`path` is relative to the artifact, "" when the artifact is this one file; `size` None when MLflow has none."""

    path: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Remote:
    """How MLflow lists and serves an artifact: `prefix` goes before each path, which is given as the parameters
    `list_as` and `read_as`, or with `read_as` "" as a part of the address."""

    list_at: str
    list_as: str
    read_at: str
    read_as: str
    parameters: tuple[tuple[str, str], ...]
    prefix: str

    def reading(self, path: str) -> tuple[str, Mapping[str, str]]:
        """Address and parameters for the bytes of one file."""
        whole = _joined(self.prefix, path)
        if not self.read_as:
            return f"{self.read_at}/{quote(whole)}", {}
        return self.read_at, {**dict(self.parameters), self.read_as: whole}

    def files(self, server: MlflowServer, go_on: Callable[[], None]) -> list[ListedFile]:
        """All files below, sorted by path. Raises Unreadable, MlflowError, and what `go_on` raises."""
        found = sorted(self._below(server, "", 0, go_on), key=lambda each: each.path)
        # A file has no children, and neither has what does not exist: reading it tells them apart.
        return found or [ListedFile("", None)]

    def _below(
        self, server: MlflowServer, folder: str, depth: int, go_on: Callable[[], None]
    ) -> Iterator[ListedFile]:
        if depth > MAX_DEPTH:
            raise Unreadable(f"it is nested deeper than {MAX_DEPTH} levels at {folder[:200]}")
        go_on()
        whole = _joined(self.prefix, folder)
        asked = {**dict(self.parameters), **({self.list_as: whole} if whole else {})}
        count = 0
        for each in server.get(self.list_at, asked).get("files") or ():
            path = _joined(folder, str(each["path"]).rstrip("/").rpartition("/")[2])
            _require_plain(path)
            if each.get("is_dir"):
                yield from self._below(server, path, depth + 1, go_on)
                continue
            count += 1
            if count > MAX_FILES:
                raise Unreadable(f"a folder of it holds more than {MAX_FILES:,} files")
            size = None if each.get("file_size") is None else int(each["file_size"])
            if not is_of_loading(path, size):
                yield ListedFile(path, size)


def local_path(address: str) -> Path | None:
    """The path of an artifact that lies on this machine; None for any other address."""
    parts = urlsplit(address)
    if parts.scheme not in ("", "file") or parts.netloc not in ("", "localhost"):
        return None
    path = Path(unquote(parts.path) if parts.scheme else address)
    return path if path.is_absolute() and path.exists() else None


def resolved_address(server: MlflowServer, version: ModelVersion) -> str:
    """Where its artifact lies; `runs:/ID/path`, which a registry keeps as it was given, as the place below that run's
    artifacts. Raises MlflowError."""
    address = address_of(server, version)
    if not address.startswith("runs:/"):
        return address
    run_id, _, path = address.removeprefix("runs:/").strip("/").partition("/")
    run = server.get(f"{_API}/runs/get", {"run_id": run_id})
    return _joined(str(run["run"]["info"].get("artifact_uri") or "").rstrip("/"), path)


def where(server: MlflowServer, version: ModelVersion) -> Path | Remote:
    """The place from which its bytes can be had. Raises Unreadable and MlflowError."""
    address = resolved_address(server, version)
    if (path := local_path(address)) is not None:
        return path
    return (
        _proxied(address)
        or _of_logged_model(version)
        or _of_run(server, version, address)
        or _nowhere(address)
    )


def _proxied(address: str) -> Remote | None:
    parts = urlsplit(address)
    if parts.scheme == "mlflow-artifacts":
        root = parts.path
    elif parts.scheme in ("http", "https") and f"{_PROXY}/" in parts.path:
        root = parts.path.partition(f"{_PROXY}/")[2]
    else:
        return None
    return Remote(_PROXY, "path", _PROXY, "", (), root.strip("/"))


def _of_logged_model(version: ModelVersion) -> Remote | None:
    model_id = version.model_id
    if model_id is None and (version.source or "").startswith("models:/m-"):
        model_id = str(version.source).removeprefix("models:/")
    if model_id is None:
        return None
    name = quote(model_id, "")
    return Remote(
        f"{_API}/logged-models/{name}/artifacts/directories",
        "artifact_directory_path",
        f"/ajax-api/2.0/mlflow/logged-models/{name}/artifacts/files",
        "artifact_file_path",
        (),
        "",
    )


def _of_run(server: MlflowServer, version: ModelVersion, address: str) -> Remote | None:
    """Only when the artifact lies below what its run wrote: a version may name any run."""
    if version.run_id is None:
        return None
    try:
        run = server.get(f"{_API}/runs/get", {"run_id": version.run_id})
    except MlflowRefused:
        return None
    root = str(run["run"]["info"].get("artifact_uri") or "").rstrip("/")
    if not root or not (address == root or address.startswith(f"{root}/")):
        return None
    asked = (("run_id", version.run_id),)
    prefix = address.removeprefix(root).strip("/")
    return Remote(f"{_API}/artifacts/list", "path", "/get-artifact", "path", asked, prefix)


def _nowhere(address: str) -> Remote:
    scheme = urlsplit(address).scheme or "a path of another machine"
    raise Unreadable(
        f"its artifact at {address[:200]} ({scheme}) can neither be read here nor through MLflow; do this where "
        "it can be read, or register the version from an artifact of its run"
    )


def _joined(prefix: str, path: str) -> str:
    return "/".join(part for part in (prefix, path) if part)


def _require_plain(path: str) -> None:
    try:
        validate_path(path)
    except ManifestError as error:
        raise Unreadable(str(error)) from None


def unreadable(error: MlflowError) -> Unreadable:
    """What MLflow said when it was asked for an artifact, as the reason why that can't be read."""
    return Unreadable(f"MLflow does not give its artifact: {error}")
