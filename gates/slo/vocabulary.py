"""Which objective judges which event, and what its evidence can be told apart by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from gates.slo.definition import Event, Objective

LimitName: TypeAlias = Literal["maxDuration", "maxAge", "maxLoss", "p95"]


@dataclass(frozen=True, slots=True)
class Filters:
    """Members of `evidence` beside the event: those that must be there, and those that may."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


EVENTS: Final[Mapping[Objective, tuple[Event, ...]]] = {
    "deadline": ("snapshot.approved", "run.completed", "evaluation.completed", "decision.passed"),
    "duration": ("run.completed",),
    "freshness": ("checkpoint.verified",),
    "ratio": ("model.registered", "run.completed"),
    "retention": ("report.retained",),
    "resume-loss": ("run.resumed",),
    "queue-delay": ("run.started",),
}

LIMITS: Final[Mapping[Objective, LimitName]] = {
    "duration": "maxDuration",
    "freshness": "maxAge",
    "resume-loss": "maxLoss",
    "queue-delay": "p95",
}
"""Objectives that measure something, and the limit they must have."""

FILTERS: Final[Mapping[Event, Filters]] = {
    "snapshot.approved": Filters(("dataset", "contract"), ("level",)),
    "run.completed": Filters(("job",), ("dataset",)),
    "evaluation.completed": Filters((), ("job", "dataset", "level")),
    "decision.passed": Filters(("gate",), ("model",)),
    "report.retained": Filters((), ("model", "job")),
    "model.registered": Filters((), ("model", "gate")),
    "run.resumed": Filters((), ("job",)),
    "checkpoint.verified": Filters(("checkpointLevel",), ("job", "level")),
    "run.started": Filters((), ("job",)),
}
