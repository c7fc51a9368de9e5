"""What a registry may hold, and what may be protected in it, for tests of plans."""

from collections.abc import Iterable

from shipworthy.mlflow.plans import ModelState, VersionRow
from shipworthy.mlflow.protections import Protections, Released

MODEL = "fraud"


def make_row(version: int, stage: str = "None") -> VersionRow:
    return VersionRow(version, f"runs:/r{version}/model", f"runs:/r{version}/model", f"r{version}", stage)


def make_state(*versions: VersionRow | int, **aliases: int) -> ModelState:
    rows = tuple(make_row(each) if isinstance(each, int) else each for each in versions)
    return ModelState("default", MODEL, tuple(sorted(aliases.items())), rows)


def make_released(version: int, *targets: str, registry: str = "default", model: str = MODEL) -> Released:
    return Released(registry, model, str(version), None, None, targets or ("champion",))


def make_protections(
    targets: Iterable[str] = ("champion", "Production"),
    registration: Iterable[str] = (),
    released: Iterable[Released] = (),
    everything: bool = False,
    complete: bool = True,
) -> Protections:
    return Protections(
        True, complete, everything, frozenset(targets), frozenset(registration), tuple(released)
    )
