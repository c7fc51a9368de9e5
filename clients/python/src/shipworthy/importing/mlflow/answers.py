"""What MLflow's REST API answers about runs and model versions, as frozen values; times are milliseconds since 1970."""

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from shipworthy.registries.mlflow_models import ModelVersion

Answer = Mapping[str, Any]

CONTEXT: Final = "mlflow.data.context"
# MLflow keeps an infinity as the largest number that a double holds, 1.797e308, of either sign.
_INFINITE: Final = sys.float_info.max


@dataclass(frozen=True, slots=True)
class Metric:
    """One point. `value` may be NaN or infinite; `step` may be negative, as MLflow lets it be."""

    key: str
    value: float
    at: int
    step: int


@dataclass(frozen=True, slots=True)
class Dataset:
    """`digest` is what MLflow computed from a sample; `source` and `profile` are JSON texts of MLflow's, "" without."""

    name: str
    digest: str
    source: str
    profile: str
    context: str | None


@dataclass(frozen=True, slots=True)
class MlflowRun:
    """`status` in MLflow's words: RUNNING, SCHEDULED, FINISHED, FAILED, KILLED. `metrics` are the latest values."""

    id: str
    experiment_id: str
    user: str | None
    status: str
    started: int | None
    ended: int | None
    artifact_uri: str
    is_deleted: bool
    params: Mapping[str, str]
    tags: Mapping[str, str]
    metrics: tuple[Metric, ...]
    datasets: tuple[Dataset, ...]


@dataclass(frozen=True, slots=True)
class RegisteredVersion:
    """A version in the registry. `status` READY is that of one whose artifact is complete."""

    binding: ModelVersion
    created: int
    status: str
    tags: Mapping[str, str]


def run_of(answer: Answer) -> MlflowRun:
    info, data = answer["info"], answer.get("data") or {}
    inputs = (answer.get("inputs") or {}).get("dataset_inputs") or ()
    tags = _pairs(data.get("tags"))
    return MlflowRun(
        id=str(info.get("run_id") or info["run_uuid"]),
        experiment_id=str(info["experiment_id"]),
        user=tags.get("mlflow.user") or info.get("user_id"),
        status=str(info.get("status") or "RUNNING"),
        started=_instant(info.get("start_time")),
        ended=_instant(info.get("end_time")),
        artifact_uri=str(info.get("artifact_uri") or "").rstrip("/"),
        is_deleted=info.get("lifecycle_stage") == "deleted",
        params=_pairs(data.get("params")),
        tags=tags,
        metrics=tuple(metric_of(each) for each in data.get("metrics") or ()),
        datasets=tuple(_dataset_of(each) for each in inputs),
    )


def metric_of(answer: Answer) -> Metric:
    # NaN travels as a text; protobuf's JSON leaves out a step or value that is 0 in some versions.
    value = float(answer.get("value") or 0.0)
    if abs(value) == _INFINITE:
        value = math.copysign(math.inf, value)
    return Metric(str(answer["key"]), value, int(answer.get("timestamp") or 0), int(answer.get("step") or 0))


def version_of(answer: Answer) -> RegisteredVersion:
    binding = ModelVersion(
        model=str(answer["name"]),
        version=str(answer["version"]),
        stage=str(answer.get("current_stage") or "None"),
        source=answer.get("source") or None,
        run_id=answer.get("run_id") or None,
        model_id=answer.get("model_id") or None,
    )
    return RegisteredVersion(
        binding=binding,
        created=int(answer.get("creation_timestamp") or 0),
        status=str(answer.get("status") or "READY"),
        tags=_pairs(answer.get("tags")),
    )


def _dataset_of(answer: Answer) -> Dataset:
    dataset = answer["dataset"]
    return Dataset(
        name=str(dataset["name"]),
        digest=str(dataset.get("digest") or ""),
        source=str(dataset.get("source") or ""),
        profile=str(dataset.get("profile") or ""),
        context=_pairs(answer.get("tags")).get(CONTEXT),
    )


def _pairs(given: Iterable[Answer] | None) -> dict[str, str]:
    return {str(each["key"]): str(each.get("value") or "") for each in given or ()}


def _instant(given: int | str | None) -> int | None:
    # Servers leave out an end, or say 0.
    return int(given) if given else None
