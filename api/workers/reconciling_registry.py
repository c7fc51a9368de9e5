"""What a registry holds at protected targets: read whole, hashed, and told as the service takes it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Final

import structlog

from api.workers.reconciling_artifacts import ArtifactDigests, GoOn
from models.patterns import IDENTIFIER_PATTERN, MODEL_PATTERN
from shipworthy.mlflow.protections import Protections, Standing
from shipworthy.registries.mlflow_artifacts import Unreadable
from shipworthy.registries.mlflow_models import (
    DEFAULT_WORKSPACE,
    ModelVersion,
    RegisteredModel,
    model_version,
    registered_model,
    registered_models,
    versions_in,
)
from shipworthy.registries.mlflow_server import MlflowAway, MlflowRefused, MlflowServer

MAX_OBSERVED: Final = 5000
"""What one reconciliation may hold."""

_NO_LINE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")

Json = Any
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Observed:
    """What stands at one target; `artifact` is None when it could not be read, and `unreadable` says why."""

    model: str
    target: str
    version: str
    artifact: str | None
    unreadable: str | None
    source: str | None
    registry_run_id: str | None


def registry_name(registry: str, workspace: str) -> str:
    """How decisions and records name a workspace's registry; the default workspace is the registry itself."""
    return registry if workspace == DEFAULT_WORKSPACE else f"{registry}@{workspace}"


def observe(
    server: MlflowServer, protections: Protections, digests: ArtifactDigests, go_on: GoOn
) -> tuple[Sequence[Observed], bool]:
    """What stands at protected targets, and whether that is all: no more than MAX_OBSERVED are told, and none whose
    name the service does not take.

    Raises MlflowError when the registry can't be listed; a version that can't be read is told as such.
    """
    listed = list(islice(_standing(server, protections, go_on), MAX_OBSERVED + 1))
    told = [each for each in listed[:MAX_OBSERVED] if _can_be_told(*each)]
    observed = [_observed(server, target, version, digests, go_on) for target, version in told]
    return observed, len(told) == len(listed)


def as_body(observed: Sequence[Observed]) -> list[dict[str, Json]]:
    return [asdict(each) for each in observed]


def _standing(
    server: MlflowServer, protections: Protections, go_on: GoOn
) -> Iterator[tuple[str, ModelVersion]]:
    # Listed to its end first: pages are counted from the beginning, and shift under a reader who takes his time.
    for model in list(registered_models(server)):
        go_on()
        yield from _in_stages(server, model, protections)
        for alias, number in model.aliases:
            # One that reads like a protected alias too: nobody decided about what it hands out.
            if protections.standing(alias) is not Standing.FREE:
                yield alias, _version(server, model.name, number)


def _in_stages(
    server: MlflowServer, model: RegisteredModel, protections: Protections
) -> Iterator[tuple[str, ModelVersion]]:
    protected = {stage for stage in model.stages if protections.protects_stage(stage)}
    newest: dict[str, ModelVersion] = {}
    for version in versions_in(server, model.name, protected) if protected else ():
        held = newest.get(version.stage)
        # Of several in one stage the highest is what a consumer gets.
        if held is None or version.number > held.number:
            newest[version.stage] = version
    yield from newest.items()


def _version(server: MlflowServer, model: str, number: str) -> ModelVersion:
    try:
        return model_version(server, model, number)
    except MlflowRefused:
        # An alias that leads to no version: that it can't be read is told when its artifact is asked for.
        return ModelVersion(model, number, "None", None, None, None)


def _can_be_told(target: str, version: ModelVersion) -> bool:
    named = re.fullmatch(MODEL_PATTERN, version.model) and re.fullmatch(IDENTIFIER_PATTERN, target)
    if named is None:
        log.warning("registry_name_not_taken", model=version.model, target=target)
    return named is not None


def _observed(
    server: MlflowServer, target: str, version: ModelVersion, digests: ArtifactDigests, go_on: GoOn
) -> Observed:
    artifact, why = None, None
    try:
        artifact = digests.digest(server, version, go_on)
    except Unreadable as error:
        why = error.sentence
    except MlflowAway as error:
        # Is it away for this artifact alone? Else this raises too, and ends the pass.
        registered_model(server, version.model)
        why = f"MLflow does not give its artifact: {error}"
    return Observed(
        version.model, target, version.version, artifact, _line(why), _line(version.source), version.run_id
    )


def _line(text: str | None) -> str | None:
    """As the service takes it: one line, however an error or an address was written."""
    return None if text is None else _NO_LINE.sub(" ", text)[:2048]
