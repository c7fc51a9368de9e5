"""Model versions of a registry as lines that `POST /v1/records:batch` takes: pure."""

import re
from typing import Final

from shipworthy.capture.texts import LINE, one_line
from shipworthy.importing.mlflow.answers import RegisteredVersion
from shipworthy.importing.mlflow.artifacts import HashedArtifact
from shipworthy.importing.mlflow.datasets import NAMESPACE
from shipworthy.importing.mlflow.metrics import instant
from shipworthy.importing.mlflow.runs import MAX_JOB, line, plain_tags
from shipworthy.importing.run_ids import run_id_of
from shipworthy.values import Body

MAX_TAGS: Final = 200
IN_USE: Final = ("Production", "Staging")
"""Stages that consumers load from; a version in Archived or None is in no use."""
_IDENTIFIER: Final = "[A-Za-z0-9][A-Za-z0-9._/:@-]{0,255}"
PROMPT: Final = "mlflow.prompt.is_prompt"


def unknown_run(version: RegisteredVersion, registry: str) -> tuple[str, Body]:
    """Id and registration of the run that stands for one of which MLflow says nothing: all of it is unresolved."""
    bound = version.binding
    run_id = run_id_of(version.created, f"mlflow|{registry}|{bound.model}|{bound.version}".encode())
    registration: Body = {
        "run_id": run_id,
        "job": {"namespace": NAMESPACE, "name": one_line(bound.model, MAX_JOB)},
        "heartbeat": {"expected": False},
        "started_at": instant(version.created),
        "tags": {
            "shipworthy.mlflow_registry": registry,
            "shipworthy.mlflow_version": one_line(f"{bound.model}/{bound.version}", MAX_JOB),
        },
    }
    return run_id, line("run.registered", registration)


def artifact_line(run_id: str, artifact: HashedArtifact) -> Body:
    """The artifact as a product of the run."""
    body: Body = {
        "run_id": run_id,
        "digest": artifact.digest,
        "role": "model",
        "size_bytes": artifact.size,
        "serialization": "mlflow",
    }
    if address := one_line(artifact.address, LINE):
        body["uri"] = address
    return line("artifact", body)


def version_line(
    version: RegisteredVersion, registry: str, run_id: str, artifact: HashedArtifact, remarks: list[str]
) -> Body:
    """The name under which the registry knows the artifact."""
    tags = plain_tags(version.tags, remarks)
    body: Body = {
        "run_id": run_id,
        "registry": registry,
        "model": version.binding.model,
        "version": version.binding.version,
        "artifact": artifact.digest,
        "tags": dict(list(tags.items())[:MAX_TAGS]),
    }
    return line("model_version", body)


def not_importable(version: RegisteredVersion) -> str | None:
    """Why a version can't be recorded whatever its artifact is; None when it can."""
    if re.fullmatch(_IDENTIFIER, version.binding.model) is None:
        return "the name of a model may hold letters, digits and ._/:@- after one of the former; rename the model"
    if PROMPT in version.tags:
        return "it is a prompt: its text is no artifact"
    if version.status != "READY":
        return f"MLflow has it as {version.status}; import it when it is READY"
    return None
