"""Where the program runs: Python, system, packages, lock file, image, GPU libraries, some variables."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from shipworthy.capture.loaded import attribute, called
from shipworthy.capture.redaction import is_secret_name, redact_text
from shipworthy.capture.texts import free_text, label, one_line
from shipworthy.formats.digests import is_digest, sha256_digest
from shipworthy.values import Body, Json

MAX_PACKAGES: Final = 5000
MAX_PACKAGE_CHARACTERS: Final = 128 * 1024
"""Of all names and versions: a record of the service may have 256 KiB."""
MAX_LOCKFILE_BYTES: Final = 64 * 1024 * 1024
MAX_VARIABLES: Final = 200
LOCKFILES: Final = (
    "uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "Pipfile.lock", "pixi.lock", "conda-lock.yml",
)  # fmt: skip
"""Looked for in this order, in the folder of the program and those above it up to the one that holds .git.
requirements.txt is not among them: it may pin nothing. It is hashed when it is given."""

VARIABLES: Final = frozenset((
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_LAUNCH_BLOCKING", "CUBLAS_WORKSPACE_CONFIG",
    "NVIDIA_TF32_OVERRIDE", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "KMP_AFFINITY",
    "PYTHONHASHSEED", "PYTHONOPTIMIZE", "TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC",
    "TF_ENABLE_ONEDNN_OPTS", "TF_XLA_FLAGS", "XLA_FLAGS", "TOKENIZERS_PARALLELISM", "HF_HUB_OFFLINE",
    "TRANSFORMERS_OFFLINE", "CONDA_DEFAULT_ENV",
))  # fmt: skip
VARIABLE_STARTS: Final = ("NCCL_", "RCCL_", "TORCH_NCCL_", "TORCH_CUDNN_", "JAX_")
"""Variables that change what a program computes. No other is looked at, so none with a secret is kept."""

_IMAGE: Final = (
    r"(?P<name>[^@\s]+?)??(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?"
    r"(?:@?(?P<digest>sha256:[0-9a-f]{64}))?"
)
_CONTAINER_FILE: Final = Path("/run/.containerenv")
_DRIVER_FILE: Final = Path("/proc/driver/nvidia/version")


def capture_environment(
    folder: Path, environ: Mapping[str, str] = os.environ, lockfile: str | os.PathLike[str] | None = None
) -> tuple[Body, list[str]]:
    """An `Environment` of the service, and why parts of it are missing."""
    import platform

    reasons: list[str] = []
    document: Body = {
        "python": label(f"{platform.python_implementation()} {platform.python_version()}"),
        "os": label(platform.platform()),
        "packages": _packages(reasons),
    }
    if image := find_image(environ):
        document["image"] = image
    if digest := _lockfile(folder, lockfile, reasons):
        document["lockfile"] = digest
    nccl = called("torch", "cuda.nccl.version")
    for name, value in (
        ("cuda", attribute("torch", "version.cuda")),
        ("driver", driver_version()),
        ("nccl", ".".join(map(str, nccl)) if isinstance(nccl, tuple) else nccl),
    ):
        if isinstance(value, str | int) and (text := label(str(value))):
            document[name] = text
    if variables := _variables(environ):
        document["variables"] = variables
    return document, reasons


def find_image(environ: Mapping[str, str], container_file: Path = _CONTAINER_FILE) -> Body | None:
    """The container image as SHIPWORTHY_IMAGE (name:tag@sha256:…) and IMAGE_DIGEST say; None when nothing
    does.

    A digest is taken only from a variable that whoever deployed the image has set. Ids of containers and
    images in /proc and in podman's file are digests of other things, and Kubernetes does not tell a pod its
    own image.
    """
    image: Body = {}
    given = _image_of(environ.get("SHIPWORTHY_IMAGE", "").strip())
    if not given.get("name") and not given.get("digest"):
        # podman names the image in containers that may know it: image="docker.io/library/python:3.11"
        try:
            named = re.search(r'^image="([^"]+)"$', container_file.read_text(errors="replace"), re.MULTILINE)
        except OSError:
            named = None
        given = _image_of(named[1]) if named is not None else {}
    stated = environ.get("IMAGE_DIGEST", "").strip().rpartition("@")[2]
    digest = given.get("digest") or (stated if is_digest(stated) else None)
    for name, value in (("name", given.get("name")), ("digest", digest), ("tag", given.get("tag"))):
        if value and (text := one_line(redact_text(value))):
            image[name] = text
    return image or None


def _image_of(text: str) -> Mapping[str, str | None]:
    match = re.fullmatch(_IMAGE, text) if text else None
    return {} if match is None else match.groupdict()


def driver_version() -> str | None:
    """Of the NVIDIA kernel module, from its line "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15 …"."""
    try:
        match = re.search(r"Kernel Module\D*\s(\d+(?:\.\d+)+)", _DRIVER_FILE.read_text(errors="replace"))
    except OSError:
        return None
    return match[1] if match is not None else None


def _packages(reasons: list[str]) -> dict[str, Json]:
    """Version by normalised name (PEP 503), sorted; of two under one name the one that is imported."""
    from importlib.metadata import distributions

    found: dict[str, str] = {}
    for distribution in distributions():
        try:
            # Not `.metadata`: it parses the whole description as an e-mail, a hundred times as slow.
            text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
        except (OSError, UnicodeDecodeError):
            continue
        header = dict(
            re.findall(r"^(Name|Version):[ \t]*(\S.*?)[ \t]*$", text.partition("\n\n")[0], re.MULTILINE)
        )
        name = label(re.sub(r"[-_.]+", "-", header.get("Name", "")).lower())
        if name and (version := label(header.get("Version", ""))):
            found.setdefault(name, version)
    packages: dict[str, Json] = {}
    characters = 0
    for name in sorted(found):
        characters += len(name) + len(found[name]) + 6
        if len(packages) == MAX_PACKAGES or characters > MAX_PACKAGE_CHARACTERS:
            reasons.append(f"{len(found)} packages are installed, of which {len(packages)} are recorded")
            break
        packages[name] = found[name]
    return packages


def _lockfile(folder: Path, given: str | os.PathLike[str] | None, reasons: list[str]) -> str | None:
    path = Path(given) if given is not None else _find_lockfile(folder)
    if path is None:
        return None
    try:
        if path.stat().st_size > MAX_LOCKFILE_BYTES:
            reasons.append(
                f"the lock file {path.name} is over {MAX_LOCKFILE_BYTES // 2**20} MiB and was not hashed"
            )
            return None
        return sha256_digest(path.read_bytes())
    except OSError as error:
        reasons.append(f"the lock file {path} can't be read: {error.strerror}")
        return None


def _find_lockfile(folder: Path) -> Path | None:
    for place in (folder, *folder.parents[:8]):
        for name in LOCKFILES:
            if (path := place / name).is_file():
                return path
        if (place / ".git").exists():
            return None
    return None


def _variables(environ: Mapping[str, str]) -> dict[str, Json]:
    kept: dict[str, Json] = {}
    for name in sorted(environ):
        if _is_told(name) and not is_secret_name(name) and len(kept) < MAX_VARIABLES:
            kept[name] = free_text(redact_text(environ[name]), 1024)
    return kept


def _is_told(name: str) -> bool:
    if name in VARIABLES:
        return True
    is_of_family = name.startswith(VARIABLE_STARTS) or (
        name.startswith("PYTORCH_") and name.endswith("ALLOC_CONF")
    )
    return is_of_family and name.isascii() and name.isidentifier()
