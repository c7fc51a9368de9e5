"""The deployment's three secrets as files: the log key, the decision key, the token pepper.

They lie outside the database folder and outside every backup: whoever holds the database and the log key can
rebuild a log that verifies. The two keys are PKCS#8 PEM (RFC 5958), the pepper is 32 bytes in hex.
"""

import fcntl
import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from models.errors import StartRefused

LOG_KEY: Final = "log-key.pem"
DECISION_KEY: Final = "decision-key.pem"
PEPPER: Final = "token-pepper.hex"
FILE_NAMES: Final = (LOG_KEY, DECISION_KEY, PEPPER)
PEPPER_BYTES: Final = 32
# Far above any of the files: a device or a log given by mistake is not read to its end.
_MAX_FILE_BYTES: Final = 16 * 1024


@dataclass(frozen=True, slots=True)
class KeyRing:
    """The secrets in memory: `log_key` signs tree heads, `decision_key` decisions, `pepper` (32 bytes) keys
    the HMACs of tokens and persons."""

    log_key: Ed25519PrivateKey = field(repr=False)
    decision_key: Ed25519PrivateKey = field(repr=False)
    pepper: bytes = field(repr=False)


def key_folder(data: Path) -> Path:
    """Where a deployment's secrets lie under its data folder."""
    return data / "keys"


def create_key_files(folder: Path) -> None:
    """Writes three new files, mode 0600, in a folder of mode 0700: all of them or none.

    Raises StartRefused when one of them exists: a key that is replaced can't sign on, nor can tokens be
    checked.
    """
    _make_folder(folder)
    with _locked(folder):
        _create(folder)


def ensure_key_files(folder: Path) -> KeyRing:
    """Loads the secrets, and makes them first when the folder has none; for the first start.

    Processes that start at once wait for one another and get the same ring.
    """
    _make_folder(folder)
    with _locked(folder):
        if not any(os.path.lexists(folder / name) for name in FILE_NAMES):
            _create(folder)
        return load_key_files(folder)


def load_key_files(folder: Path) -> KeyRing:
    """Reads the secrets. Raises StartRefused, with the command that mends it, when a file is missing, may be
    read by others, belongs to another user, can't be parsed, or when the log key is also the decision key."""
    _check_folder(folder)
    log_key = _parse_key(folder / LOG_KEY)
    decision_key = _parse_key(folder / DECISION_KEY)
    if log_key.public_key() == decision_key.public_key():
        raise StartRefused(
            f"{folder / DECISION_KEY} holds the same key as {folder / LOG_KEY}: whoever signs decisions "
            "could then sign the log. Put your own copy of the right file back; if no decision was ever "
            f"signed, run: openssl genpkey -algorithm ed25519 -out {_quoted(folder / DECISION_KEY)}"
        )
    return KeyRing(log_key, decision_key, _parse_pepper(folder / PEPPER))


def _make_folder(folder: Path) -> None:
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StartRefused(
            f"the key folder {folder} can't be made: {error.strerror}; choose a folder this user may write, with --data"
        ) from error
    _check_folder(folder)


def _check_folder(folder: Path) -> None:
    try:
        found = folder.stat()
    except OSError as error:
        raise StartRefused(
            f"there is no key folder {folder}; put your own copy back, or for a new deployment run: "
            "shipworthy-server keys init"
        ) from error
    if not stat.S_ISDIR(found.st_mode):
        raise StartRefused(f"{folder} is not a folder; name a folder for the key files")
    _check_owner(folder, found)
    if found.st_mode & 0o022:
        raise StartRefused(
            f"other users may replace files in {folder} (mode {stat.S_IMODE(found.st_mode):04o}); run: "
            f"chmod 700 {_quoted(folder)}"
        )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """An exclusive lock on the folder, freed by the kernel when the process ends."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _create(folder: Path) -> None:
    contents = {
        LOG_KEY: _new_key(),
        DECISION_KEY: _new_key(),
        PEPPER: os.urandom(PEPPER_BYTES).hex().encode() + b"\n",
    }
    written: list[Path] = []
    try:
        for name, content in contents.items():
            path = folder / name
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            written.append(path)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        _sync_folder(folder)
    except OSError as error:
        for path in written:
            path.unlink()
        if isinstance(error, FileExistsError):
            raise StartRefused(
                f"{error.filename} exists, and a key is never replaced: the log could not be signed on and "
                "no token would be valid. Nothing was written. To use the keys you have, start the service; "
                "for a new deployment name another data folder with --data"
            ) from error
        raise StartRefused(
            f"the key files can't be written to {folder}: {error.strerror}; nothing was left behind. Free "
            "some space or choose a folder this user may write"
        ) from error


def _sync_folder(folder: Path) -> None:
    """Makes the new names outlive a power cut: a signed log whose key is gone is at its end."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _new_key() -> bytes:
    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _parse_key(path: Path) -> Ed25519PrivateKey:
    content = _read(path)
    try:
        key = load_pem_private_key(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise StartRefused(_unparsable(path, "an unencrypted PKCS#8 PEM file")) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise StartRefused(_unparsable(path, "an Ed25519 key"))
    return key


def _parse_pepper(path: Path) -> bytes:
    try:
        pepper = bytes.fromhex(_read(path).decode("ascii").strip())
    except ValueError as error:
        raise StartRefused(_unparsable(path, f"{PEPPER_BYTES} bytes in hex")) from error
    if len(pepper) != PEPPER_BYTES:
        raise StartRefused(_unparsable(path, f"{PEPPER_BYTES} bytes in hex"))
    return pepper


def _unparsable(path: Path, wanted: str) -> str:
    return (
        f"{path} is not {wanted}; put your own copy of the file back, for instance: "
        f"install -m 600 COPY/{path.name} {_quoted(path)}"
    )


def _read(path: Path) -> bytes:
    """The bytes of one secret; mode and owner are asked of the opened file, so nobody can swap it in
    between."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except PermissionError as error:
        raise StartRefused(
            f"{path} can't be read: {error.strerror}; start this as the user to whom it belongs, or give another "
            "folder with --data"
        ) from error
    except OSError as error:
        raise StartRefused(
            f"{path} can't be read: {error.strerror}; put your own copy back with: "
            f"install -m 600 COPY/{path.name} {_quoted(path)} – or, if this deployment never recorded "
            f"anything, remove the other key files in {path.parent} and run: shipworthy-server keys init"
        ) from error
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise StartRefused(
                f"{path} is not a regular file; put your own copy of the key file in its place"
            )
        _check_owner(path, found)
        if stat.S_IMODE(found.st_mode) & ~0o600:
            raise StartRefused(
                f"{path} has mode {stat.S_IMODE(found.st_mode):04o}, looser than 0600: others may have read "
                f"the secret; run: chmod 600 {_quoted(path)}"
            )
        return file.read(_MAX_FILE_BYTES)


def _check_owner(path: Path, found: os.stat_result) -> None:
    user = os.geteuid()
    if found.st_uid != user:
        raise StartRefused(
            f"{path} belongs to user {found.st_uid}, this process runs as user {user}; start it as that "
            f"user, or run: chown {user} {_quoted(path)}"
        )


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
