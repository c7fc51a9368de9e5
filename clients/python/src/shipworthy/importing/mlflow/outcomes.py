"""What becomes of what is imported: one run, one version or one alias at a time."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from shipworthy.importing.mlflow.answers import MlflowRun
from shipworthy.importing.mlflow.artifacts import HashedArtifact
from shipworthy.importing.mlflow.runs import RunLines
from shipworthy.query.results import LineAnswer, ModelVersion


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one run, version or alias. `new` and `known` count records; `refused` says why, `remarks` what is
    odd. `run_id` is the id here, `mlflow` MLflow's own name of the thing."""

    kind: Literal["run", "version", "alias"]
    mlflow: str
    name: str
    run_id: str | None = None
    state: str | None = None
    artifact: str | None = None
    new: int = 0
    known: int = 0
    refused: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def imported_run(
    run: MlflowRun, lines: RunLines, answers: Collection[LineAnswer], remarks: Sequence[str]
) -> Imported:
    chunks_known = [each for each in answers if each.code == "idempotency_key_reused"]
    told = [each for each in answers if each not in chunks_known]
    return Imported(
        "run",
        run.id,
        lines.job,
        lines.run_id,
        state=lines.state,
        new=sum(each.status == 201 for each in told),
        known=sum(each.status == 200 for each in told) + len(chunks_known),
        refused=details(told),
        remarks=tuple(remarks),
    )


def known_version(name: str, recorded: ModelVersion, artifact: HashedArtifact) -> Imported:
    remarks: tuple[str, ...] = ()
    if artifact.digest != recorded.artifact:
        remarks = (
            f"its artifact is not the one that was recorded: {recorded.artifact} then, {artifact.digest} now; the "
            "record stays",
        )
    return Imported(
        "version", name, name, recorded.run_id, artifact=artifact.digest, known=1, remarks=remarks
    )


def unreadable_version(name: str, recorded: ModelVersion | None, sentence: str) -> Imported:
    """Without a digest there is no version to record; one that was recorded stays."""
    if recorded is None:
        return Imported("version", name, name, refused=(f"not recorded, because {sentence}",))
    remark = f"what was recorded can't be read now: {sentence}"
    return Imported("version", name, name, recorded.run_id, known=1, remarks=(remark,))


def details(answers: Iterable[LineAnswer]) -> tuple[str, ...]:
    return tuple(str(each.detail) for each in answers if each.is_refused)
