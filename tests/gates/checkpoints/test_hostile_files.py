"""Files that are made to harm whoever loads them: nothing runs, nothing fills the memory, and all are refused."""

import io
import os
import pickle
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from gates.checkpoints.arrays import load_npz
from gates.checkpoints.safetensors import load_safetensors
from gates.checkpoints.verdict import Broken, NotLoadable, OpenFile
from tests.gates.checkpoints.files import WEIGHTS, loaded, opened, safetensors_bytes, tensor


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str, int]]:
        return os.open, (str(self.path), os.O_CREAT)


SAFETENSORS = {
    "header longer than the file": (safetensors_bytes({}, length=2**40), "header is said to have"),
    "header of 2^64 - 1 bytes": (safetensors_bytes({}, length=2**64 - 1), "header is said to have"),
    "shorter than a length": (b"\x02\0\0", "at least 8"),
    "no JSON": (safetensors_bytes(b"{not json}"), "not the JSON"),
    "JSON nested too deep": (safetensors_bytes(b'{"a":' + b"[" * 100_000), "not the JSON"),
    "no UTF-8": (safetensors_bytes(b'{"\xff": 1}'), "no UTF-8"),
    "a list": (safetensors_bytes([]), "no JSON object"),
    "one name twice": (
        safetensors_bytes(b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{}}'),
        "a name twice",
    ),
    "overlapping offsets": (
        safetensors_bytes({"a": tensor(0, 8), "b": tensor(4, 12)}, bytes(12)),
        "overlap",
    ),
    "one inside the other": (
        safetensors_bytes({"a": tensor(0, 12), "b": tensor(4, 8)}, bytes(12)),
        "overlap",
    ),
    "offsets beyond the end": (safetensors_bytes({"a": tensor(0, 80)}, bytes(8)), "was cut off"),
    "a gap": (safetensors_bytes({"a": tensor(0, 4), "b": tensor(8, 12)}, bytes(12)), "belong to none"),
    "a gap at the start": (safetensors_bytes({"a": tensor(4, 8)}, bytes(8)), "belong to none"),
    "more behind the end": (safetensors_bytes({"a": tensor(0, 4)}, bytes(9)), "belong to none"),
    "bytes without tensors": (safetensors_bytes({}, bytes(9)), "belong to no tensor"),
    "negative offsets": (safetensors_bytes({"a": tensor(-4, 4)}, bytes(4)), "no lists of whole numbers"),
    "offsets turned round": (
        safetensors_bytes({"a": tensor(4, 0, shape=[4])}, bytes(4)),
        "no lists of whole",
    ),
    "true for a length": (
        safetensors_bytes({"a": tensor(0, 1, shape=[True])}, bytes(1)),
        "no lists of whole",
    ),
    "a shape that is too large": (
        safetensors_bytes({"a": tensor(0, 4, "F32", [2**62, 2**62])}, bytes(4)),
        "by type and shape",
    ),
    "half a byte": (safetensors_bytes({"a": tensor(0, 1, "F4", [1])}, bytes(1)), "by type and shape"),
    "a member too many": (safetensors_bytes({"a": {**tensor(0, 1), "x": 1}}, bytes(1)), "other members"),
    "metadata of numbers": (safetensors_bytes({"__metadata__": {"step": 1}}), "__metadata__"),
}


@pytest.mark.parametrize("what", SAFETENSORS)
def test_hostile_safetensors_file_is_broken(tmp_path: Path, what: str) -> None:
    content, reason = SAFETENSORS[what]
    (tmp_path / "model.safetensors").write_bytes(content)
    assert reason in loaded(tmp_path)["broken"]["model.safetensors"]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_what_the_real_reader_refuses_is_never_loaded(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(save(WEIGHTS, metadata={"format": "np"}))
    for _ in range(data.draw(st.integers(0, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(0, len(content)) | st.just(len(content)))]
    path = tmp_path_factory.getbasetemp() / "mutated.safetensors"
    path.write_bytes(content)
    try:
        with safe_open(path, "numpy") as file:
            names: set[str] | None = set(file.keys())
    except SafetensorError:
        names = None
    fd = os.open(path, os.O_RDONLY)
    try:
        ours: set[str] | None = set(
            load_safetensors(OpenFile(path.name, fd, len(content)), lambda count: None)
        )
    except (Broken, NotLoadable):
        ours = None
    finally:
        os.close(fd)
    if ours is not None:
        assert ours == names
    elif names is not None:
        # Stricter than it only about what could be read in two ways.
        assert bytes(content) != save(WEIGHTS, metadata={"format": "np"})


def test_pickle_that_is_named_like_an_array_is_never_unpickled(tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    for name in ("weights.npz", "weights.npy", "weights.safetensors", "weights.json"):
        (folder / name).write_bytes(pickle.dumps(Trap(trap)))
    assert set(loaded(folder)["broken"]) == {
        "weights.npz",
        "weights.npy",
        "weights.safetensors",
        "weights.json",
    }
    (folder / "weights.pkl").write_bytes(pickle.dumps(Trap(trap)))
    assert set(loaded(folder)["not_loaded"]) == {"weights.pkl"}
    assert not trap.exists()


def test_object_arrays_are_never_unpickled(tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    objects = np.array([Trap(trap)], dtype=object)
    np.savez(folder / "state.npz", plain=np.zeros(3), state=objects)
    np.save(folder / "state.npy", objects)
    found = loaded(folder)
    assert set(found["not_loaded"].values()) == {"holds Python objects, which only unpickling could read"}
    assert (found["loaded"], len(found["not_loaded"]), trap.exists()) == (0, 2, False)


def test_archive_of_something_else_is_broken(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "torch.npz", "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x04N.")
    assert "is no array" in loaded(tmp_path)["broken"]["torch.npz"]


def test_zip_bomb_is_refused_before_it_expands(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "|u1", "fortran_order": False, "shape": (3 * 2**30,)}
    )
    path = tmp_path / "bomb.npz"
    zeros = bytes(2**16)
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open("a.npy", "w") as member,
    ):
        member.write(header.getvalue())
        member.write(zeros)
    # Its directory says 3 GiB; making them in truth would take this test half a minute.
    content = path.read_bytes()
    said = (len(header.getvalue()) + len(zeros)).to_bytes(4, "little")
    assert content.count(said) >= 1
    path.write_bytes(content.replace(said, (3 * 2**30).to_bytes(4, "little")))
    assert "more than 100 times as many" in loaded(tmp_path)["not_loaded"]["bomb.npz"]


def test_archive_that_expands_to_more_than_its_memory_is_read_in_blocks(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "zeros.npz", moments=np.zeros(2**21))
    with opened(tmp_path) as (file,):
        tracemalloc.start()
        try:
            load_npz(file, lambda count: None)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert most < 8 * 2**20, "16 MiB of zeros came out"


@pytest.mark.parametrize("shape", ["(10,)", "(2**60,)", "(-1,)", "(9,)", "(1.5,)", "'x'"])
def test_array_whose_header_lies_is_broken(tmp_path: Path, shape: str) -> None:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".encode().ljust(117) + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(88)
    (tmp_path / "a.npy").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.npy", content)
    assert set(loaded(tmp_path)["broken"]) == {"a.npy", "a.npz"}


@pytest.mark.parametrize("version", [(0, 0), (4, 0), (1, 1)])
def test_array_of_a_version_that_nobody_knows_is_broken(tmp_path: Path, version: tuple[int, int]) -> None:
    np.save(tmp_path / "a.npy", np.zeros(3))
    content = bytearray((tmp_path / "a.npy").read_bytes())
    content[6:8] = bytes(version)
    (tmp_path / "a.npy").write_bytes(content)
    assert "version" in loaded(tmp_path)["broken"]["a.npy"]


def test_archive_with_a_flipped_bit_is_broken(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=np.arange(100_000))
    content = bytearray((tmp_path / "a.npz").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "a.npz").write_bytes(content)
    assert "no whole .npz archive (BadZipFile)" in loaded(tmp_path)["broken"]["a.npz"]


@pytest.mark.parametrize("left", [0, 3, 500, -1])
def test_archive_that_was_cut_off_is_broken(tmp_path: Path, left: int) -> None:
    np.savez(tmp_path / "a.npz", a=np.arange(1000))
    (tmp_path / "a.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:left])
    assert "no whole .npz archive" in loaded(tmp_path)["broken"]["a.npz"]
