"""Checkpoints verified in real processes: what is recorded, what is lost, and what nobody can say."""

import multiprocessing
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from api.workers.client import Claim
from api.workers.failures import DATA_CHANGED, WorkFailed
from api.workers.settings import WorkerSettings
from api.workers.verifying import MAX_DETAIL, verify
from models.kinds.verifications import VerificationResult
from models.work.verifications import verification_request
from shipworthy.formats.manifest import hash_tree, manifest_digest
from tests.support.bodies import digest_of, new_run_id
from tests.workers.test_statistics import Unwatched


class Meddling(Unwatched):
    """Does something to the files once the worker is at a step."""

    def __init__(self, step: str, meddle: Callable[[], object]) -> None:
        self._step = step
        self._meddle = meddle
        self._done = False

    def report(self, done: int, total: int, text: str) -> None:
        if text == self._step and not self._done:
            self._done = True
            self._meddle()


@pytest.fixture(scope="module", autouse=True)
def preloaded() -> None:
    """What a worker's fork server loads, less the engine of contracts, which takes half a minute."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["api.workers.child", "gates.checkpoints.loading"])


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """Of a training at step 600, below the root."""
    folder = tmp_path / "lake" / "ckpt" / "600"
    folder.mkdir(parents=True)
    save_file({"weight": np.arange(1000, dtype=np.float32)}, folder / "model.safetensors")
    np.savez(folder / "optimizer.npz", step=np.int64(600), moments=np.ones(1000))
    (folder / "config.json").write_text('{"hidden_size": 64}')
    return folder


def digest(path: Path) -> str:
    return manifest_digest(hash_tree(path))


def verified(
    root: Path, wanted: str, watch: Unwatched | None = None, *, asked: bool = True, **settings: Any
) -> dict[str, Any]:
    """The result of looking at ckpt/600 below the root, as the service would take it."""
    request = verification_request(wanted, "lake", "ckpt/600", None if asked else new_run_id())
    claim = Claim("5c5b", "checkpoint_verification", "0" * 32, 1, request, {})
    base = root.parent / "private"
    base.mkdir(exist_ok=True)
    given = WorkerSettings("http://localhost", {"lake": str(root)}, **settings)
    result = verify(claim, given, base, watch or Unwatched())
    assert list(base.iterdir()) == [], "nothing is left of it"
    VerificationResult.model_validate(result)
    return result


def outcomes(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["level"], each["outcome"]) for each in result["outcomes"]]


def test_checkpoint_is_hashed_and_loaded(checkpoint: Path) -> None:
    result = verified(checkpoint.parents[1], digest(checkpoint))
    assert outcomes(result) == [("checksummed", "passed"), ("loaded", "passed")]
    assert [each["detail"] for each in result["outcomes"]] == [
        "3 files, as recorded",
        "3 files read to the last byte",
    ]
    assert result["bytes"] == sum(path.stat().st_size for path in checkpoint.iterdir())


def test_single_file_is_a_checkpoint_too(tmp_path: Path) -> None:
    (tmp_path / "lake" / "ckpt").mkdir(parents=True)
    path = tmp_path / "lake" / "ckpt" / "600"
    path.write_bytes(b"of no format that is known")
    result = verified(tmp_path / "lake", digest(path))
    assert outcomes(result) == [("checksummed", "passed")]
    assert "600 is of a format that is not loaded here" in result["outcomes"][0]["detail"]


def test_bytes_that_rotted_fail(checkpoint: Path) -> None:
    recorded = digest(checkpoint)
    path = checkpoint / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    result = verified(checkpoint.parents[1], recorded)
    assert outcomes(result) == [("checksummed", "failed")]
    assert result["manifest"] == digest(checkpoint)
    assert "not the bytes that were recorded" in result["outcomes"][0]["detail"]


def test_shard_that_is_missing_fails(checkpoint: Path) -> None:
    recorded = digest(checkpoint)
    (checkpoint / "optimizer.npz").unlink()
    assert outcomes(verified(checkpoint.parents[1], recorded)) == [("checksummed", "failed")]


def test_checkpoint_that_was_saved_broken_keeps_its_checksum_and_is_not_loaded(checkpoint: Path) -> None:
    path = checkpoint / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-7])
    result = verified(checkpoint.parents[1], digest(checkpoint))
    assert outcomes(result) == [("checksummed", "passed"), ("loaded", "failed")]
    assert result["outcomes"][1]["detail"].startswith("model.safetensors: its tensors take")


def test_pickles_are_hashed_and_never_unpickled(checkpoint: Path, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str, int]]:
            return os.open, (str(tmp_path / "sprung"), os.O_CREAT)

    (checkpoint / "rng.pkl").write_bytes(pickle.dumps(Trap()))
    np.savez(checkpoint / "state.npz", state=np.array([Trap()], dtype=object))
    result = verified(checkpoint.parents[1], digest(checkpoint))
    assert outcomes(result) == [("checksummed", "passed")]
    assert "rng.pkl is of a format" in result["outcomes"][0]["detail"]
    assert "state.npz holds Python objects" in result["outcomes"][0]["detail"]
    (checkpoint / "renamed.npz").write_bytes(pickle.dumps(Trap()))
    assert outcomes(verified(checkpoint.parents[1], digest(checkpoint)))[1] == ("loaded", "failed")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("step", ["hashing", "loading", "hashing again"])
def test_file_that_changes_while_it_is_read_gets_no_outcome(checkpoint: Path, step: str) -> None:
    path = checkpoint / "optimizer.npz"

    def rewrite() -> None:
        content = path.read_bytes()
        path.write_bytes(content)

    with pytest.raises(WorkFailed, match="changed while") as caught:
        verified(checkpoint.parents[1], digest(checkpoint), Meddling(step, rewrite))
    assert caught.value.code == DATA_CHANGED


def test_checkpoint_that_is_gone_fails_when_somebody_asked(checkpoint: Path) -> None:
    recorded = digest(checkpoint)
    checkpoint.rename(checkpoint.with_name("moved"))
    result = verified(checkpoint.parents[1], recorded)
    assert (outcomes(result), result["manifest"]) == ([("checksummed", "failed")], None)
    assert "there is no ckpt/600 below the root" in result["outcomes"][0]["detail"]
    with pytest.raises(WorkFailed, match="nothing was verified"):
        verified(checkpoint.parents[1], recorded, asked=False)


def test_root_where_nothing_is_mounted_says_nothing_about_a_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "lake").mkdir()
    with pytest.raises(WorkFailed, match="nothing was verified") as caught:
        verified(tmp_path / "lake", digest_of("600"))
    assert caught.value.retry


def test_loading_that_a_limit_ends_leaves_the_checksum(checkpoint: Path) -> None:
    (checkpoint / "config.json").write_text("[" + "[]," * 3_000_000 + "1]")
    result = verified(checkpoint.parents[1], digest(checkpoint), memory_bytes=128 * 2**20)
    assert outcomes(result) == [("checksummed", "passed")]
    assert "memory limit" in result["outcomes"][0]["detail"]


def test_what_went_wrong_fits_into_a_record(checkpoint: Path) -> None:
    for number in range(60):
        (checkpoint / f"{'x' * 200}-{number}.json").write_text("{")
    result = verified(checkpoint.parents[1], digest(checkpoint))
    assert outcomes(result)[1] == ("loaded", "failed")
    assert len(result["outcomes"][1]["detail"]) == MAX_DETAIL
