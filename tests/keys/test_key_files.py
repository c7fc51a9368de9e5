"""Key files: made whole and private or not at all, refused when others could have read them."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from models.errors import StartRefused
from models.keys.key_files import (
    DECISION_KEY,
    FILE_NAMES,
    LOG_KEY,
    PEPPER,
    create_key_files,
    ensure_key_files,
    load_key_files,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "deployment" / "keys"
    create_key_files(folder)
    return folder


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    before = os.umask(0)
    try:
        create_key_files(folder)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == dict.fromkeys(
        FILE_NAMES, 0o600
    )


def test_files_load_as_three_different_secrets(folder: Path) -> None:
    ring = load_key_files(folder)
    assert ring.log_key.private_bytes_raw() != ring.decision_key.private_bytes_raw()
    assert len(ring.pepper) == 32
    assert ring.pepper.hex() not in repr(ring)


def test_two_deployments_share_nothing(folder: Path, tmp_path: Path) -> None:
    create_key_files(tmp_path / "other")
    assert not set(_contents(folder).values()) & set(_contents(tmp_path / "other").values())


@pytest.mark.parametrize("name", FILE_NAMES)
def test_an_existing_file_is_never_replaced_and_nothing_is_added(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "keys"
    folder.mkdir(mode=0o700)
    (folder / name).write_bytes(b"mine")
    with pytest.raises(StartRefused, match=rf"{name} exists, .* --data"):
        create_key_files(folder)
    assert _contents(folder) == {name: b"mine"}


def test_a_dangling_link_is_not_written_through(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    folder.mkdir(mode=0o700)
    (folder / PEPPER).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StartRefused, match="exists"):
        create_key_files(folder)
    assert not (tmp_path / "elsewhere").exists()


def test_ensure_makes_files_once(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    first = ensure_key_files(folder)
    before = _contents(folder)
    assert ensure_key_files(folder).pepper == first.pepper
    assert _contents(folder) == before


def test_first_starts_at_once_get_the_same_ring(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        rings = list(threads.map(lambda _: ensure_key_files(tmp_path / "keys"), range(8)))
    assert len({ring.pepper for ring in rings}) == 1


@pytest.mark.parametrize("name", FILE_NAMES)
def test_ensure_does_not_fill_up_a_folder_that_lost_a_file(folder: Path, name: str) -> None:
    (folder / name).unlink()
    before = _contents(folder)
    with pytest.raises(StartRefused, match=rf"{name} can't be read.*install -m 600"):
        ensure_key_files(folder)
    assert _contents(folder) == before


def test_missing_folder_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(StartRefused, match="shipworthy-server keys init"):
        load_key_files(tmp_path / "nowhere")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o700, 0o4600])
@pytest.mark.parametrize("name", FILE_NAMES)
def test_looser_modes_are_refused_with_the_chmod_that_mends_them(folder: Path, name: str, mode: int) -> None:
    (folder / name).chmod(mode)
    with pytest.raises(StartRefused, match=rf"mode {mode:04o}.*chmod 600 .*{name}"):
        load_key_files(folder)
    (folder / name).chmod(0o600)
    load_key_files(folder)


def test_read_only_files_are_fine(folder: Path) -> None:
    for path in folder.iterdir():
        path.chmod(0o400)
    load_key_files(folder)


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_folder_in_which_others_may_replace_files_is_refused(folder: Path, mode: int) -> None:
    folder.chmod(mode)
    with pytest.raises(StartRefused, match="chmod 700"):
        load_key_files(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("name", [*FILE_NAMES, "."])
def test_another_users_file_is_refused(folder: Path, name: str) -> None:
    os.chown(folder / name, 65534, -1)
    with pytest.raises(StartRefused, match=r"belongs to user 65534.*chown"):
        load_key_files(folder)


def test_log_key_used_as_decision_key_is_refused(folder: Path) -> None:
    (folder / DECISION_KEY).write_bytes((folder / LOG_KEY).read_bytes())
    with pytest.raises(StartRefused, match=r"same key.*openssl genpkey -algorithm ed25519"):
        load_key_files(folder)


def _encrypted(pem: bytes) -> bytes:
    key = load_pem_private_key(pem, None)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x"))


def test_unusable_keys_are_refused(folder: Path) -> None:
    good = (folder / LOG_KEY).read_bytes()
    other_type = X25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    for content in (b"", good[:40], b"\xff" * 100, _encrypted(good), other_type):
        (folder / LOG_KEY).write_bytes(content)
        with pytest.raises(StartRefused, match=rf"{LOG_KEY} is not .*install -m 600"):
            load_key_files(folder)


@pytest.mark.parametrize("content", [b"", b"ab" * 31, b"ab" * 33, b"xy" * 32, b"\xff" * 64])
def test_unusable_pepper_is_refused(folder: Path, content: bytes) -> None:
    (folder / PEPPER).write_bytes(content)
    with pytest.raises(StartRefused, match="32 bytes in hex"):
        load_key_files(folder)


def test_a_pipe_in_place_of_a_file_does_not_hang(folder: Path) -> None:
    (folder / PEPPER).unlink()
    os.mkfifo(folder / PEPPER, 0o600)
    with pytest.raises(StartRefused, match="not a regular file"):
        load_key_files(folder)
