"""What an attempt may go for: released versions with their runs and files, and versions that nobody decided about."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shipworthy.formats.manifest import hash_tree, manifest_digest
from tests.live.mlflow.calls import call, upload
from tests.live.mlflow.servers import MlflowServer
from tests.support.gates import MODEL

ALIAS: Final = "champion"
STAGE: Final = "Production"
FREE_ALIAS: Final = "challenger"
"""No gate names it."""
OTHER: Final = "churn"
"""A model without a gate: a protected name on it is refused all the same."""
PROMPT: Final = "greeting"
SEALED: Final = "sealed-model"
"""A name whose versions need a pass of a `to: registration` gate; no model has it yet."""
EXPERIMENT: Final = "releases"
FILES: Final = {
    "released": {"MLmodel": b"flavor: released\n", "weights/weights.bin": b"\x01" * 4000},
    "staged": {"MLmodel": b"flavor: staged\n", "weights/weights.bin": b"\x02" * 4000},
    "undecided": {"MLmodel": b"flavor: undecided\n", "weights/weights.bin": b"\x03" * 4000},
}
"""Artifact folders by what becomes of them. The files of one are as long as those of the others."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """Of one server. Version 1 of MODEL is to hold ALIAS and comes from a run's artifacts; version 2 is undecided;
    version 3 is to hold STAGE and comes from a logged model, as `log_model` registers it. OTHER:1 and PROMPT:1 are
    undecided too."""

    experiment: str
    run: str
    undecided_run: str
    logged_run: str
    logged_model: str
    source: str
    undecided_source: str

    def path(self, run: str = "") -> str:
        """The artifact folder of a run's model below the root of the proxy."""
        return f"{self.experiment}/{run or self.run}/artifacts/model"

    @property
    def logged_path(self) -> str:
        return f"{self.experiment}/models/{self.logged_model}/artifacts"


def digest_of_files(kind: str, folder: Path) -> str:
    """As a training run would have recorded the folder: the digest of its manifest."""
    root = folder / kind
    for name, content in FILES[kind].items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return manifest_digest(hash_tree(root))


def prepare(server: MlflowServer) -> Exhibit:
    """Everything but the releases themselves, by ordinary calls."""
    experiment = str(call(server, "experiments/create", name=EXPERIMENT)["experiment_id"])
    run, undecided_run, logged_run = (new_run(server, experiment) for _ in range(3))
    model = call(server, "logged-models", experiment_id=experiment, name="staged", source_run_id=logged_run)
    logged_model = str(model["model"]["info"]["model_id"])
    source = f"mlflow-artifacts:/{experiment}/{run}/artifacts/model"
    undecided_source = f"mlflow-artifacts:/{experiment}/{undecided_run}/artifacts/model"
    exhibit = Exhibit(experiment, run, undecided_run, logged_run, logged_model, source, undecided_source)
    upload_files(server, "released", exhibit.path())
    upload_files(server, "undecided", exhibit.path(undecided_run))
    upload_files(server, "undecided", f"{experiment}/{run}/artifacts/other")
    upload_files(server, "staged", exhibit.logged_path)
    call(server, f"logged-models/{logged_model}", "PATCH", model_id=logged_model, status="LOGGED_MODEL_READY")
    for name in (MODEL, OTHER):
        call(server, "registered-models/create", name=name)
    is_prompt = [{"key": "mlflow.prompt.is_prompt", "value": "true"}]
    text = [*is_prompt, {"key": "mlflow.prompt.text", "value": "Good morning, {{ name }}"}]
    call(server, "registered-models/create", name=PROMPT, tags=is_prompt)
    call(server, "model-versions/create", name=PROMPT, source="prompt-template", tags=text)
    new_version(server, MODEL, source, run_id=run)
    new_version(server, MODEL, undecided_source, run_id=undecided_run)
    new_version(server, MODEL, f"models:/{logged_model}", model_id=logged_model, run_id=logged_run)
    new_version(server, OTHER, undecided_source, run_id=undecided_run)
    call(server, "registered-models/alias", name=OTHER, alias=FREE_ALIAS, version="1")
    return exhibit


def release(server: MlflowServer) -> None:
    """By the calls that every client of MLflow makes; a guard lets them through once there are decisions."""
    call(server, "registered-models/alias", name=MODEL, alias=ALIAS, version="1")
    call(server, "model-versions/transition-stage", name=MODEL, version="3", stage=STAGE)


def new_run(server: MlflowServer, experiment: str) -> str:
    return str(call(server, "runs/create", experiment_id=experiment)["run"]["info"]["run_id"])


def new_version(server: MlflowServer, name: str, source: str, **fields: str) -> str:
    made = call(server, "model-versions/create", "POST", name=name, source=source, **fields)
    return str(made["model_version"]["version"])


def upload_files(server: MlflowServer, kind: str, path: str) -> None:
    for name, content in FILES[kind].items():
        upload(server, f"{path}/{name}", content)
