"""Files by which processes that share a journal folder agree on who is what, without a word between them."""

import os
from hashlib import sha256
from pathlib import Path
from typing import Final

CLAIMS_FOLDER: Final = "launches"
"""Below the journal folder. Its files are empty or hold a run id, and may be deleted when no job runs."""


def claims_of(folder: Path, key: str) -> Path:
    """The folder of the claims under one key; `folder` is the journal folder. Nothing is made."""
    return folder / CLAIMS_FOLDER / sha256(key.encode("utf-8", "replace")).hexdigest()[:32]


def create_file(path: Path, content: bytes = b"") -> bool:
    """Whether this process made the file, as exactly one of all that try does, on NFS from version 3."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return False
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)
    return True
