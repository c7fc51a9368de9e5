"""Lists of models and of a model's versions, as pages show them. Pure over what is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from api.web import links
from api.web.standing_view import DecisionRow, decision_row
from api.web.verdicts import Verdict
from api.web.words import Word, plural
from models.catalog import MAX_COUNTED, Held, ListedModel
from models.gates.queries import StoredDecision
from models.lineage.model_queries import VersionLine

_NONE: Final = Word("none", "None", "open")


@dataclass(frozen=True, slots=True)
class ModelRow:
    """`registry` only where it is not the default one."""

    model: str
    registry: str | None
    versions: str
    latest: str
    latest_href: str
    held: Sequence[Held]
    decision: DecisionRow | None
    href: str


@dataclass(frozen=True, slots=True)
class VersionRow:
    version: str
    artifact: str
    run_id: str
    names: tuple[str, ...]
    decision: DecisionRow | None
    href: str


def model_row(listed: ListedModel) -> ModelRow:
    return ModelRow(
        listed.model,
        None if listed.registry == "default" else listed.registry,
        f"{listed.versions:,}{' or more' if listed.versions == MAX_COUNTED else ''}",
        listed.latest,
        links.model_version(listed.model, listed.latest, listed.registry),
        listed.held,
        None if listed.decision is None else decision_row(listed.decision),
        links.model(listed.model, registry=listed.registry),
    )


def version_row(
    line: VersionLine, held: Sequence[Held], decisions: Mapping[str, StoredDecision]
) -> VersionRow:
    decision = decisions.get(line.artifact)
    return VersionRow(
        line.version,
        line.artifact,
        line.run_id,
        tuple(each.target for each in held if each.version == line.version),
        None if decision is None else decision_row(decision),
        links.model_version(line.model, line.version, line.registry),
    )


def models_verdict(rows: Sequence[ModelRow], *, is_part: bool) -> Verdict:
    if not rows:
        return Verdict(_NONE, "No version of a model is registered yet.", "Register one with the step below.")
    sentence = f"{plural(len(rows), 'model')}{' on this page' if is_part else ''}, by name."
    return Verdict(_NONE, sentence, "Open a version to read whether it may ship, and what it is made of.")


def model_verdict(model: str, rows: Sequence[VersionRow], held: Sequence[Held], *, is_part: bool) -> Verdict:
    listed = f"{plural(len(rows), 'version')} of {model}{' on this page' if is_part else ''}, the last first."
    named = ", ".join(f"{each.target} is version {each.version}" for each in held[:5])
    return Verdict(
        _NONE, listed, f"By the records {named}." if named else "No name of a registry points to one."
    )
