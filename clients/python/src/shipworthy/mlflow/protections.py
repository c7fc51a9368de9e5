"""What is protected in the registry, as the service says it."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from shipworthy.mlflow.lookalikes import skeleton
from shipworthy.values import Json

ACTIVE_STAGES: Final = ("Staging", "Production")
"""The stages of MLflow from which models are served; `None` and `Archived` hold what is not in use."""


class Standing(Enum):
    """What an alias is to the gates."""

    FREE = "nobody's gate"
    PROTECTED = "only a decision moves it"
    LOOKALIKE = "it reads like a protected one, so it is refused"


@dataclass(frozen=True, slots=True)
class Released:
    """A model version that holds a protected target or held one: what a rollback goes back to."""

    registry: str
    model: str
    version: str
    run_id: str | None
    source: str | None
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Protections:
    """The answer of `GET /v1/protections`.

    `known` is False until it was fetched once: then every alias is protected and nothing is deleted, for what was
    released is not known. `complete` says that `released` holds all versions that ever were.
    """

    known: bool
    complete: bool
    everything: bool
    targets: frozenset[str]
    registration_models: frozenset[str]
    released: tuple[Released, ...]

    def standing(self, alias: str) -> Standing:
        if self.everything or alias in self.targets:
            return Standing.PROTECTED
        return Standing.FREE if self.model_of(alias) is None else Standing.LOOKALIKE

    def model_of(self, alias: str) -> str | None:
        """The protected target that an alias reads like."""
        shape = skeleton(alias)
        return next((target for target in sorted(self.targets) if skeleton(target) == shape), None)

    def protects_stage(self, stage: str) -> bool:
        """`stage` in MLflow's own spelling."""
        return stage in self.targets or (self.everything and stage in ACTIVE_STAGES)

    def gates_registration(self, model: str) -> bool:
        return not self.known or model in self.registration_models

    def released_versions(self, registry: str, model: str) -> tuple[Released, ...]:
        return tuple(each for each in self.released if (each.registry, each.model) == (registry, model))


UNKNOWN: Final = Protections(False, False, True, frozenset({"Production"}), frozenset(), ())
"""Until the service has answered once."""


def parse_protections(answer: Json) -> Protections:
    """ValueError when it is no such answer; a guard must not take "nothing is protected" from a strange one."""
    if not isinstance(answer, dict) or not isinstance(answer.get("all"), bool):
        raise ValueError("the list of protected names has no field `all`")
    targets = _names(answer.get("targets"))
    if "Production" not in targets:
        raise ValueError("the list of protected names lacks Production, which is always protected")
    released = answer.get("released")
    if not isinstance(released, list):
        raise ValueError("the list of released versions is missing")
    return Protections(
        known=True,
        complete=answer.get("more_released") is False,
        everything=answer["all"] is True,
        targets=targets,
        registration_models=_names(answer.get("registration_models")),
        released=tuple(_released(each) for each in released),
    )


def _names(value: Json) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError("a list of names is missing or holds something else")
    return frozenset(str(each) for each in value)


def _released(row: Json) -> Released:
    if not isinstance(row, dict) or not all(
        isinstance(row.get(key), str) for key in ("registry", "model", "version")
    ):
        raise ValueError("a released version has no registry, model or version")
    run_id, source = row.get("run_id"), row.get("source")
    return Released(
        registry=str(row["registry"]),
        model=str(row["model"]),
        version=str(row["version"]),
        run_id=run_id if isinstance(run_id, str) else None,
        source=source if isinstance(source, str) else None,
        targets=tuple(sorted(_names(row.get("targets")))),
    )
