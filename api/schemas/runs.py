"""The body of `POST /v1/runs`: a run with all that is known of it, from its start or from start to end."""

from typing import Annotated, Final

from pydantic import Field

from models.fields import Label
from models.kinds.evaluations import EvaluationFact
from models.kinds.facts import ModelVersionFact
from models.kinds.runs import KEPT, RunRegistered


class RunRequest(RunRegistered):
    """A registration, and evidence about what it made: each evaluation and version is a record of its own."""

    initiated_by: Label | None = None
    evaluations: Annotated[list[EvaluationFact], Field(max_length=1000)] = Field(default_factory=list)
    model_versions: Annotated[list[ModelVersionFact], Field(max_length=100)] = Field(default_factory=list)


EVIDENCE: Final = {"evaluations": "evaluation.completed", "model_versions": "model_version"}
"""Which kind of record each element of these becomes, in the order in which they are appended."""
NESTED: Final = KEPT | EVIDENCE
