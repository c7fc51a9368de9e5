"""What an MLflow registry holds: registered models, their aliases, the versions that stand in stages; and moving them.

Stages are in MLflow's own spelling: "Staging", "Production", "Archived".
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from shipworthy.registries.mlflow_server import Document, MlflowAway, MlflowRefused, MlflowServer

STAGES: Final = ("Staging", "Production", "Archived")
DEFAULT_WORKSPACE: Final = "default"

_API: Final = "/api/2.0/mlflow"
_PAGE: Final = 1000
_PROMPTS: Final = "tags.`mlflow.prompt.is_prompt` = 'true'"
"""MLflow leaves prompts out of a search that does not name this tag."""


@dataclass(frozen=True, slots=True)
class RegisteredModel:
    """`aliases` are pairs of alias and version; `stages` are those in which a version of it stands."""

    name: str
    aliases: tuple[tuple[str, str], ...]
    stages: frozenset[str]


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """`source` is what whoever registered it wrote, `model_id` MLflow's logged model, None when there is none."""

    model: str
    version: str
    stage: str
    source: str | None
    run_id: str | None
    model_id: str | None

    @property
    def number(self) -> int:
        """For comparing: the highest of several versions in a stage is what consumers get."""
        return int(self.version) if self.version.isdecimal() else 0


def registered_models(server: MlflowServer) -> Iterator[RegisteredModel]:
    """All of them, all pages; prompts too: they stand in the same registry and have aliases."""
    for filtered in ({}, {"filter": _PROMPTS}):
        try:
            for found in server.pages(
                f"{_API}/registered-models/search", {"max_results": _PAGE, **filtered}, "registered_models"
            ):
                yield _registered_model(found)
        except MlflowRefused:
            # Servers before 3.0 know no prompts and may refuse to search for them.
            if not filtered:
                raise


def registered_model(server: MlflowServer, model: str) -> RegisteredModel:
    answer = server.get(f"{_API}/registered-models/get", {"name": model})
    return _registered_model(answer["registered_model"])


def model_version(server: MlflowServer, model: str, version: str) -> ModelVersion:
    answer = server.get(f"{_API}/model-versions/get", {"name": model, "version": version})
    return _model_version(answer["model_version"])


def versions_in(server: MlflowServer, model: str, stages: Collection[str]) -> list[ModelVersion]:
    """The versions of a model that stand in one of the stages."""
    # "_" stands for any one character: a quote can't be written within quotes. What else it fits is left out below.
    pattern = model.replace("'", "_").replace("\\", "_")
    comparison = f"name = '{model}'" if pattern == model else f"name LIKE '{pattern}'"
    found = server.pages(
        f"{_API}/model-versions/search", {"filter": comparison, "max_results": _PAGE}, "model_versions"
    )
    versions = [_model_version(each) for each in found]
    return [each for each in versions if each.model == model and each.stage in stages]


def address_of(server: MlflowServer, version: ModelVersion) -> str:
    """Where its artifact lies, as MLflow resolved it when the version was registered."""
    asked = {"name": version.model, "version": version.version}
    return str(server.get(f"{_API}/model-versions/get-download-uri", asked).get("artifact_uri") or "")


def workspaces(server: MlflowServer) -> list[str]:
    """Names of the workspaces; of a server without them, the default one alone."""
    try:
        answer = server.get("/api/3.0/mlflow/workspaces")
    except (MlflowAway, MlflowRefused):
        # 503 or 404 with a text: this server has none. One that is away says so again at the next call.
        return [DEFAULT_WORKSPACE]
    return [str(each["name"]) for each in answer.get("workspaces") or ()] or [DEFAULT_WORKSPACE]


def set_alias(server: MlflowServer, model: str, alias: str, version: str) -> None:
    body = {"name": model, "alias": alias, "version": version}
    server.send("POST", f"{_API}/registered-models/alias", body)


def delete_alias(server: MlflowServer, model: str, alias: str) -> None:
    server.send("DELETE", f"{_API}/registered-models/alias", {"name": model, "alias": alias})


def set_stage(server: MlflowServer, model: str, version: str, stage: str) -> None:
    """Others in the stage go to Archived: consumers take the newest of several, whichever was put there last."""
    body = {"name": model, "version": version, "stage": stage, "archive_existing_versions": True}
    server.send("POST", f"{_API}/model-versions/transition-stage", body)


def holder_of(server: MlflowServer, model: str, target: str) -> str | None:
    """The version at an alias or in a stage now (the newest there), None when none is."""
    if target in STAGES:
        found = max(versions_in(server, model, {target}), key=lambda each: each.number, default=None)
        return None if found is None else found.version
    return dict(registered_model(server, model).aliases).get(target)


def _registered_model(found: Document) -> RegisteredModel:
    aliases = found.get("aliases") or ()
    latest = found.get("latest_versions") or ()
    return RegisteredModel(
        name=str(found["name"]),
        aliases=tuple((str(each["alias"]), str(each["version"])) for each in aliases),
        stages=frozenset(str(each.get("current_stage")) for each in latest) & set(STAGES),
    )


def _model_version(found: Document) -> ModelVersion:
    return ModelVersion(
        model=str(found["name"]),
        version=str(found["version"]),
        stage=str(found.get("current_stage") or "None"),
        source=found.get("source") or None,
        run_id=found.get("run_id") or None,
        model_id=found.get("model_id") or None,
    )
