"""Checkpoints verified by a real worker: in its own process, from a folder and from an object store."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from shipworthy.formats.manifest import hash_tree, manifest_digest
from tests.live.workers.conftest import Crew
from tests.live.workers.test_checks import object_store
from tests.support.bodies import make_checkpoint, make_start
from tests.support.calls import post

READY_SECONDS = 120


def saved(crew: Crew, folder: Path, **location: str) -> str:
    """The digest of a checkpoint of a live run, recorded where it lies."""
    digest = manifest_digest(hash_tree(folder))
    run = make_start(started_at="2026-05-01T10:00:00Z")
    assert post(crew.author, "/v1/runs", run).status_code == 201
    checkpoint = make_checkpoint(digest=digest, location=location)
    assert post(crew.author, f"/v1/runs/{run['run_id']}/checkpoints", checkpoint).status_code == 201
    return digest


def shown(crew: Crew, digest: str, is_wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The checkpoint once it is as it is waited for."""
    deadline = time.monotonic() + READY_SECONDS
    while not is_wanted(found := crew.author.get(f"/v1/checkpoints/{digest}").json()):
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
    return dict(found)


def write_checkpoint(folder: Path) -> None:
    folder.mkdir(parents=True)
    save_file({"weight": np.arange(100_000, dtype=np.float32)}, folder / "model.safetensors")
    np.savez(folder / "optimizer.npz", step=np.int64(600), moments=np.ones(1000))


def test_checkpoint_of_a_live_run_is_loaded_and_loses_its_level_when_it_rots(crew: Crew) -> None:
    folder = crew.lake / "ckpt" / "600"
    write_checkpoint(folder)
    digest = saved(crew, folder, root="lake", path="ckpt/600")
    found = shown(crew, digest, lambda found: found["effective_level"] == "loaded")
    assert {each["evidence_level"] for each in found["levels"][1:]} == {"trusted_runner"}
    (folder / "optimizer.npz").write_bytes(b"rotten")
    asked = post(crew.author, f"/v1/checkpoints/{digest}/verifications:request", {})
    assert asked.status_code == 202
    work = crew.author.get(f"/v1/work/{asked.json()['id']}?wait=30").json()
    assert work["state"] == "done", work
    assert shown(crew, digest, lambda found: True)["effective_level"] == "written"


def test_checkpoint_in_an_object_store_is_loaded(crew: Crew, tmp_path: Path) -> None:
    folder = tmp_path / "700"
    write_checkpoint(folder)
    put = object_store(crew)
    for path in folder.iterdir():
        put(f"taxi/ckpt/700/{path.name}", path.read_bytes())
    digest = saved(crew, folder, root="bucket", path="ckpt/700")
    shown(crew, digest, lambda found: found["effective_level"] == "loaded")
