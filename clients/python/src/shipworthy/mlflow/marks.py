"""What is being released at this moment, told to all processes of this MLflow server on this machine.

From before its files are hashed until the registry has committed, a version is no release yet that its files could be
kept for, and who writes to them then would release something that nobody hashed.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final
from uuid import uuid4

_UNFINISHED: Final = "."


@dataclass(frozen=True, slots=True)
class Mark:
    """`place` is where the files lie, `location` what the registry calls that."""

    place: str
    location: str


class Marks:
    """A folder with a file for each mark, which is locked as long as its process lives and means it."""

    def __init__(self, database_uri: str, root: Path | None = None) -> None:
        name = f"shipworthy-mlflow-{os.getuid()}-{sha256(database_uri.encode()).hexdigest()[:16]}"
        self._folder = (root or Path(tempfile.gettempdir())) / name

    @contextmanager
    def put(self, mark: Mark) -> Iterator[None]:
        """OSError when it can't be told to anybody."""
        name = uuid4().hex
        path, unfinished = f"{self._folder}/{name}", f"{self._folder}/{_UNFINISHED}{name}"
        file = self._made(unfinished)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            os.write(file, f"{mark.place}\n{mark.location}".encode(errors="surrogateescape"))
            os.rename(unfinished, path)
            try:
                yield
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(path)
        finally:
            os.close(file)

    def _made(self, path: str) -> int:
        """By its descriptor: each move of a name makes one, and Python's files cost more than the move's lock."""
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            return os.open(path, flags, 0o600)

    def standing(self) -> list[Mark]:
        """Those that somebody means now; what a process left that was killed is cleared away."""
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return []
        found = []
        for name in names:
            if name.startswith(_UNFINISHED):
                continue
            with (
                suppress(FileNotFoundError),
                (self._folder / name).open(encoding="utf-8", errors="surrogateescape") as file,
            ):
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    place, _, location = file.read().partition("\n")
                    found.append(Mark(place, location))
                else:
                    (self._folder / name).unlink()
        return found
