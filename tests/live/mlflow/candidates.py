"""Versions whose files pass, for what is promoted again and again."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shipworthy.formats.manifest import hash_tree, manifest_digest
from tests.live.mlflow.calls import API, Answer, send_json, upload
from tests.live.mlflow.exhibits import ALIAS, new_run, new_version
from tests.live.mlflow.releasing import ReleaseScene
from tests.support.gates import MODEL

if TYPE_CHECKING:
    from tests.live.mlflow.conftest import Registry

RACERS: Final = 8


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version of MODEL whose files pass."""

    version: str
    digest: str
    run: str


def make_candidates(
    raced: "Registry", scene: ReleaseScene, make_folder: Callable[[], Path]
) -> list[Candidate]:
    """Two more than race, each with files of its own: those two take turns at the alias in `another`."""
    found = []
    for number in range(RACERS + 2):
        folder = make_folder()
        (folder / "weights.bin").write_bytes(bytes([100 + number]) * 1000)
        digest = manifest_digest(hash_tree(folder))
        run = new_run(raced.server, raced.exhibit.experiment)
        path = f"{raced.exhibit.experiment}/{run}/artifacts/model"
        upload(raced.server, f"{path}/weights.bin", (folder / "weights.bin").read_bytes())
        scene.another(digest)
        version = new_version(raced.server, MODEL, f"runs:/{run}/model", run_id=run)
        found.append(Candidate(version, digest, run))
    return found


def promote(registry: "Registry", candidate: Candidate) -> Answer:
    fields = {"name": MODEL, "alias": ALIAS, "version": candidate.version}
    return send_json(registry.server, "POST", f"{API}registered-models/alias", fields)


def holder(registry: "Registry") -> str:
    """The version that holds the alias, from the registry's database."""
    return registry.judge.held(MODEL, ALIAS)


def another(registry: "Registry", candidates: list[Candidate]) -> Candidate:
    return next(each for each in candidates if each.version != holder(registry))
