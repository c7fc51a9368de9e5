"""A checkpoint loaded as far as that is possible without running code of it: file by file, by the ends of their names.

Only what is loaded to its last byte counts. What another format holds stays unproven, and is said so.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from gates.checkpoints.arrays import load_npy, load_npz
from gates.checkpoints.plain import load_json, load_text
from gates.checkpoints.safetensors import load_safetensors
from gates.checkpoints.verdict import Broken, NotLoadable, OpenFile, Read

MAX_NAMED: Final = 20
"""Files that an answer names; the others are counted."""
_TEXTS: Final = frozenset(
    {
        ".txt",
        ".md",
        ".yaml",
        ".yml",
        ".csv",
        ".tsv",
        ".toml",
        ".ini",
        ".cfg",
        ".jsonl",
        ".ndjson",
        ".jinja",
        ".log",
    }
)
_INDEX: Final = ".safetensors.index.json"
"""How a model in several files says which holds which tensor (Hugging Face's convention)."""

Progress = Callable[[int, int, str], None]
"""Bytes read of all bytes, and what is done."""


def load_checkpoint(files: Iterable[OpenFile], progress: Progress) -> dict[str, Any]:
    """{loaded: count, broken: {path: reason}, not_loaded: {path: reason}, more_broken, more_not_loaded: counts}.

    Raises what reading the descriptors raises, MemoryError, and what `progress` raises.
    """
    listed = list(files)
    total, done = sum(file.size for file in listed), 0

    def read(count: int) -> None:
        nonlocal done
        done += count
        # Of a compressed archive more bytes come out than there are.
        progress(min(done, total), total, "loading")

    broken: dict[str, str] = {}
    refused: dict[str, str] = {}
    tensors: dict[str, frozenset[str]] = {}
    indexes: dict[str, Any] = {}
    loaded = 0
    for file in listed:
        try:
            _load(file, read, tensors, indexes)
            loaded += 1
        except Broken as error:
            broken[file.path] = error.reason
        except NotLoadable as error:
            refused[file.path] = error.reason
    known = {file.path for file in listed}
    for path, index in indexes.items():
        reason = _index_problem(path, index, known, tensors)
        if reason is not None:
            broken[path] = reason
            loaded -= 1
    return {
        "loaded": loaded,
        "broken": _first(broken),
        "more_broken": max(0, len(broken) - MAX_NAMED),
        "not_loaded": _first(refused),
        "more_not_loaded": max(0, len(refused) - MAX_NAMED),
    }


def _load(file: OpenFile, read: Read, tensors: dict[str, frozenset[str]], indexes: dict[str, Any]) -> None:
    """Raises Broken, NotLoadable."""
    suffix = PurePosixPath(file.path).suffix.lower()
    if file.size == 0 and suffix not in (".safetensors", ".npy", ".npz", ".json"):
        return  # Marks such as _SUCCESS hold nothing that could be broken.
    if suffix == ".safetensors":
        tensors[file.path] = load_safetensors(file, read)
    elif suffix == ".npz":
        load_npz(file, read)
    elif suffix == ".npy":
        load_npy(file, read)
    elif suffix == ".json":
        value = load_json(file, read)
        if file.path.endswith(_INDEX):
            indexes[file.path] = value
    elif suffix in _TEXTS:
        load_text(file, read)
    else:
        raise NotLoadable("is of a format that is not loaded here")


def _index_problem(
    path: str, index: object, known: set[str], tensors: Mapping[str, frozenset[str]]
) -> str | None:
    """What is wrong with an index of tensors, by the files beside it; one that was refused is not told twice."""
    named = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(named, dict) or not all(isinstance(value, str) for value in named.values()):
        return "it names no files of tensors: weight_map is missing or no object of texts"
    folder = path.rpartition("/")[0]
    for tensor, name in named.items():
        where = f"{folder}/{name}" if folder else name
        if where not in known:
            return f"it names the file {name[:200]!r}, which is not there"
        if where in tensors and tensor not in tensors[where]:
            return f"it says that {name[:200]!r} holds the tensor {tensor[:80]!r}, and it does not"
    return None


def _first(found: Mapping[str, str]) -> dict[str, str]:
    return dict(list(found.items())[:MAX_NAMED])
