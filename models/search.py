"""Finding things by the beginning of a digest, an id or a name: one statement over what a namespace has.

Digests and ids are found by an index. Names take any case, which no index knows: the names of one namespace are looked
through, those of 100,000 runs in a fifth of a second.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, String, cast, func, literal, null, select, union_all
from sqlalchemy.orm import Mapped
from sqlmodel import Session, col

from models.columns import Table
from models.contracts.tables import Baseline, Contract, ContractCheck, ContractVersion
from models.gates.tables import Gate
from models.ledger.tables import Record
from models.lineage.tables import (
    Artifact,
    Checkpoint,
    DataSnapshot,
    Ingredient,
    LineageManifest,
    ModelVersion,
    Run,
    SnapshotName,
)
from models.promotions.tables import ReleaseTarget
from models.slo.tables import Slo
from models.work.states import WorkKind
from models.work.tables import Work

MAX_TEXT: Final = 512
MIN_HEX: Final = 8
"""Digits of a digest or id to begin with; fewer would match by chance."""

_DIGEST: Final = re.compile(rf"(?:sha256:)?([0-9a-f]{{{MIN_HEX},64}})", re.ASCII)
_UUID: Final = re.compile(rf"[0-9a-f]{{{MIN_HEX}}}(?:-[0-9a-f-]{{0,27}})?", re.ASCII)
# Names are compared by code point on both databases: this is after every name that begins alike.
_LAST: Final = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class Hit:
    """`kind` says what it is, `id` names it among its kind, `about` is a little more, `part` what completes its name
    (the version of a contract or gate, the registry of a model, the namespace of a data set or job)."""

    kind: str
    id: str
    about: str | None
    part: str | None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where to look: rows whose column `matched` begins with the text; the others name columns of the hit. `within`: a
    column that is written before the matched one, as in NAMESPACE/NAME."""

    kind: str
    table: type[Table]
    matched: str
    id: str | None = None
    about: str | None = None
    part: str | None = None
    within: str | None = None

    def folded(self) -> ColumnElement[str]:
        """What is compared for a name: in lower case, as far as letters of ASCII go on both databases."""
        matched: ColumnElement[str] = self.column(self.matched)  # type: ignore[assignment]
        return func.lower(matched if self.within is None else self.column(self.within) + "/" + matched)

    def column(self, name: str) -> Mapped[Any]:
        return col(getattr(self.table, name))

    def shown(self, name: str | None) -> ColumnElement[Any]:
        return cast(null() if name is None else self.column(name), String)


_DIGESTS: Final = (
    _Place("Record", Record, "digest", about="kind"),
    _Place("Snapshot", DataSnapshot, "digest", about="dataset_name"),
    _Place("Ingredient", Ingredient, "digest", about="kind"),
    _Place("Checkpoint", Checkpoint, "digest", about="run_id"),
    _Place("Artifact", Artifact, "digest", about="role", part="run_id"),
    _Place("Lineage manifest", LineageManifest, "digest", about="model", part="version"),
    _Place("Baseline", Baseline, "digest"),
    _Place("Contract", ContractVersion, "digest", id="name", part="version"),
    _Place("Contract", ContractVersion, "suite_digest", id="name", part="version"),
    _Place("Contract check", ContractCheck, "record", about="contract"),
    _Place("Contract check", ContractCheck, "manifest", id="record", about="contract"),
    _Place("Run", Run, "recipe_digest", id="run_id", about="job_name"),
    _Place("Run", Run, "family_digest", id="run_id", about="job_name"),
)
_IDS: Final = (
    _Place("Run", Run, "run_id", about="job_name"),
    _Place("Contract check", Work, "id", about="state"),
)
_NAMES: Final = (
    _Place("Contract", Contract, "name", part="version"),
    _Place("Data set", SnapshotName, "dataset_name", part="dataset_namespace"),
    _Place("Data set", SnapshotName, "dataset_name", part="dataset_namespace", within="dataset_namespace"),
    _Place("Model", ModelVersion, "model", part="registry_name"),
    _Place("Name of a model", ReleaseTarget, "target", about="version", part="model"),
    _Place("Job", Run, "job_name", part="job_namespace"),
    _Place("Job", Run, "job_name", part="job_namespace", within="job_namespace"),
    _Place("Gate", Gate, "name", part="version"),
    _Place("SLO", Slo, "name"),
)


def find_anything(session: Session, namespace: str, text: str, limit: int) -> list[Hit]:
    """At most `limit` hits at each place; nothing for an empty text."""
    text = text.strip()
    if not text or len(text) > MAX_TEXT:
        return []
    # Lower case as the databases know it.
    name = "".join(each.lower() if each.isascii() else each for each in text)
    searched = [(place, name) for place in _NAMES]
    if match := _DIGEST.fullmatch(text.lower()):
        searched += [(place, f"sha256:{match[1]}") for place in _DIGESTS]
    if _UUID.fullmatch(text.lower()):
        searched += [(place, text.lower()) for place in _IDS]
    # Each part in brackets of its own: SQLite takes a limit only at the end of the whole.
    parts = [select(_rows(place, namespace, begin).limit(limit).subquery()) for place, begin in searched]
    return [Hit(*row) for row in session.connection().execute(union_all(*parts))]


def _rows(place: _Place, namespace: str, begin: str) -> Select[Any]:
    """As a range: an index serves those of digests and ids."""
    matched = place.folded() if place in _NAMES else place.column(place.matched)
    statement = (
        select(
            literal(place.kind).label("kind"),
            place.shown(place.id or place.matched).label("id"),
            place.shown(place.about).label("about"),
            place.shown(place.part).label("part"),
        )
        .where(place.column("namespace") == namespace, matched >= begin, matched < begin + _LAST)
        .distinct()
    )
    if place.table is Work:
        statement = statement.where(place.column("kind") == str(WorkKind.CONTRACT_CHECK))
    return statement
