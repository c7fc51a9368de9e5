"""Kinds of what runs record: themselves, their data, checkpoints, artifacts and model versions."""

from typing import Final

from models.actor import Role
from models.kinds import facts, runs
from models.kinds.kind import RECORDER, Kind


def _run_subject(fact: object, run_id: str | None) -> str:
    return f"run:{run_id}"


def _snapshot_subjects(snapshot: facts.Snapshot) -> list[tuple[str, str]]:
    return [("data", snapshot.digest)] if snapshot.digest else []


def _run_subjects(run: runs.RunRegistered) -> list[tuple[str, str]]:
    named = [("data", given.digest or (given.snapshot and given.snapshot.digest)) for given in run.inputs]
    if run.environment is not None and run.environment.image is not None:
        named.append(("image", run.environment.image.digest))
    named += [("checkpoint", saved.digest) for saved in run.checkpoints]
    named += [("artifact", made.digest) for made in run.artifacts]
    return [(role, digest) for role, digest in named if digest]


def model_subject(registry: str, model: str, version: str) -> str:
    """What a model version is filed under. Registry and model may hold slashes, none of the three a bar."""
    return f"model:{registry}|{model}|{version}"


def _version_subject(fact: facts.ModelVersionFact, run_id: str | None) -> str:
    return model_subject(fact.registry, fact.model, fact.version)


LINEAGE: Final = (
    # The content is part of the key, so that a second post that only adds is a fact of its own.
    Kind("run.registered", runs.RunRegistered, RECORDER, _run_subject, subjects=_run_subjects),
    Kind("run.event", runs.RunEvent, RECORDER, _run_subject),
    Kind(
        "snapshot",
        facts.Snapshot,
        RECORDER,
        lambda fact, _: f"dataset:{fact.dataset.namespace}/{fact.dataset.name}",
        subjects=_snapshot_subjects,
    ),
    Kind(
        "checkpoint.saved",
        facts.CheckpointSaved,
        RECORDER,
        _run_subject,
        key=lambda fact, run_id: f"{run_id}|{fact.digest}",
        subjects=lambda fact: [("checkpoint", fact.digest)],
    ),
    Kind(
        "checkpoint.verified",
        facts.CheckpointVerified,
        frozenset({Role.RECORDER, Role.WORKER}),
        lambda fact, _: f"digest:{fact.checkpoint}",
        subjects=lambda fact: [("checkpoint", fact.checkpoint)],
    ),
    Kind(
        "artifact",
        facts.Artifact,
        RECORDER,
        _run_subject,
        key=lambda fact, run_id: f"{run_id}|{fact.role}|{fact.digest}",
        subjects=lambda fact: [("artifact", fact.digest)],
    ),
    Kind(
        "model_version",
        facts.ModelVersion,
        RECORDER,
        _version_subject,
        key=lambda fact, _: f"{fact.registry}|{fact.model}|{fact.version}",
        subjects=lambda fact: [("model", fact.artifact)],
    ),
    Kind(
        "revocation",
        facts.Revocation,
        frozenset({Role.AUTHOR}),
        lambda fact, _: f"record:{fact.record}",
    ),
)
