"""Checkpoints as programs write them are loaded whole; what is broken is told from what isn't loaded here."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from gates.checkpoints.loading import MAX_NAMED, load_checkpoint
from tests.gates.checkpoints.files import WEIGHTS, loaded, opened, safetensors_bytes, tensor


def save_sharded(folder: Path) -> None:
    """A model in two files and their index, as Hugging Face writes it."""
    names = {"layer.weight": "model-1.safetensors", "layer.bias": "model-2.safetensors"}
    for name, file in names.items():
        save_file({name: WEIGHTS[name]}, folder / file)
    index = {"metadata": {"total_size": 54}, "weight_map": names}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def test_checkpoint_of_a_real_library_is_loaded_whole(tmp_path: Path) -> None:
    save_sharded(tmp_path)
    np.savez(tmp_path / "optimizer.npz", step=np.int64(600), moments=np.ones((100, 7)))
    np.savez_compressed(tmp_path / "moments.npz", zeros=np.zeros(100_000))
    np.save(tmp_path / "rng.npy", np.frombuffer(np.random.default_rng(7).bytes(64), np.uint32))
    np.save(tmp_path / "fields.npy", np.zeros(3, [("größe", "f8"), ("id", "i4")]))
    (tmp_path / "config.json").write_text('{"hidden_size": 64}')
    (tmp_path / "README.md").write_text("Größe 64\n", encoding="utf-8")
    (tmp_path / "_SUCCESS").touch()
    assert loaded(tmp_path) == {
        "loaded": 10,
        "broken": {},
        "more_broken": 0,
        "not_loaded": {},
        "more_not_loaded": 0,
    }


def test_every_byte_of_it_was_read(tmp_path: Path) -> None:
    save_file(WEIGHTS, tmp_path / "model.safetensors")
    np.save(tmp_path / "rng.npy", np.arange(1000))
    told: list[tuple[int, int, str]] = []
    with opened(tmp_path) as files:
        load_checkpoint(files, lambda *progress: told.append(progress))
    done, total, text = told[-1]
    # Headers are read besides.
    assert total * 0.9 < done <= total == sum(path.stat().st_size for path in tmp_path.iterdir())
    assert text == "loading"


def test_other_formats_are_named_and_neither_loaded_nor_broken(tmp_path: Path) -> None:
    save_file(WEIGHTS, tmp_path / "model.safetensors")
    (tmp_path / "optimizer.pt").write_bytes(b"PK\3\4 what torch.save writes")
    found = loaded(tmp_path)
    assert (found["loaded"], found["broken"]) == (1, {})
    assert found["not_loaded"] == {"optimizer.pt": "is of a format that is not loaded here"}


def test_answer_stays_short_for_a_folder_of_thousands_of_files(tmp_path: Path) -> None:
    for number in range(MAX_NAMED + 7):
        (tmp_path / f"{number:03}.bin").write_bytes(b"x")
    found = loaded(tmp_path)
    assert (len(found["not_loaded"]), found["more_not_loaded"]) == (MAX_NAMED, 7)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda folder: (folder / "model-2.safetensors").unlink(), "which is not there"),
        (
            lambda folder: save_file({"other": WEIGHTS["layer.bias"]}, folder / "model-2.safetensors"),
            "and it does not",
        ),
        (
            lambda folder: (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": 1}}'),
            "weight_map",
        ),
        (lambda folder: (folder / "model.safetensors.index.json").write_text("[]"), "weight_map"),
    ],
)
def test_model_that_lacks_what_its_index_names_is_broken(tmp_path: Path, change: Any, reason: str) -> None:
    save_sharded(tmp_path)
    change(tmp_path)
    found = loaded(tmp_path)
    assert list(found["broken"]) == ["model.safetensors.index.json"]
    assert reason in found["broken"]["model.safetensors.index.json"]
    assert found["loaded"] == sum(path.name.endswith("safetensors") for path in tmp_path.iterdir())


def test_truncated_shard_is_broken_and_its_index_is_not_blamed(tmp_path: Path) -> None:
    save_sharded(tmp_path)
    shard = tmp_path / "model-1.safetensors"
    shard.write_bytes(shard.read_bytes()[:-5])
    found = loaded(tmp_path)
    assert list(found["broken"]) == ["model-1.safetensors"]
    assert "was cut off" in found["broken"]["model-1.safetensors"]
    assert found["loaded"] == 2


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("config.json", b'{"a": ', "no JSON"),
        ("config.json", b"", "no JSON"),
        ("config.json", b"[" * 100_000, "no JSON"),
        ("notes.txt", b"caf\xe9", "no UTF-8"),
        ("notes.txt", b"cut in the middle of \xc3", "no UTF-8"),
        ("model.safetensors", b"", "cut off"),
        ("rng.npy", b"", "header"),
    ],
)
def test_plain_file_that_is_not_what_its_name_says_is_broken(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert reason in loaded(tmp_path)["broken"][name]


def test_tensor_of_an_unknown_type_is_not_judged(tmp_path: Path) -> None:
    header = {"a": tensor(0, 4, "F128", [1])}
    (tmp_path / "model.safetensors").write_bytes(safetensors_bytes(header, bytes(4)))
    found = loaded(tmp_path)
    assert found["broken"] == {}
    assert "a type that is not known here" in found["not_loaded"]["model.safetensors"]
