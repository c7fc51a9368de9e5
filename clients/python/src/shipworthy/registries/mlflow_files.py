"""Files of an artifact as it was trained: without what MLflow writes into it later. Standard library only: the guard
runs where no other package of ours is."""

from typing import Final

WRITTEN_BY_LOADING: Final = "registered_model_meta"
"""MLflow writes this file beside MLmodel whenever a model is loaded by its registered name from a folder. It holds that
name and version, and is no part of what was trained."""
_LARGEST: Final = 4096
"""Bytes; a name has at most 256 characters. Larger ones hold something else and count."""


def is_of_loading(path: str, size: int | None) -> bool:
    """Whether a file at this path of an artifact's folder is left out of its digest."""
    return path == WRITTEN_BY_LOADING and (size is None or size <= _LARGEST)
