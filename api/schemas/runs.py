"""The body of `POST /v1/runs`: a run with all that is known of it, from its start or from start to end."""

from typing import Annotated

from pydantic import Field

from models.fields import Label
from models.kinds.facts import (
    ArtifactFact,
    CheckpointFact,
    EvaluationFact,
    ModelVersionFact,
    RunEventFact,
    RunFact,
)


class RunRequest(RunFact):
    """Identity and ingredients, and facts that each become a record of their own."""

    initiated_by: Label | None = None
    events: Annotated[list[RunEventFact], Field(max_length=5000)] = Field(default_factory=list)
    checkpoints: Annotated[list[CheckpointFact], Field(max_length=5000)] = Field(default_factory=list)
    artifacts: Annotated[list[ArtifactFact], Field(max_length=1000)] = Field(default_factory=list)
    evaluations: Annotated[list[EvaluationFact], Field(max_length=1000)] = Field(default_factory=list)
    model_versions: Annotated[list[ModelVersionFact], Field(max_length=100)] = Field(default_factory=list)


NESTED = {
    "events": "run.event",
    "checkpoints": "checkpoint.saved",
    "artifacts": "artifact",
    "evaluations": "evaluation.completed",
    "model_versions": "model_version",
}
"""Which kind of record each nested list becomes, in the order in which they are appended."""
