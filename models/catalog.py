"""Models and their versions with what stands about each: how many, where their names point, what was decided last.

A page's worth of names is asked about at once, each by an index, however much is recorded of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, select, text
from sqlmodel import col

from models.among import among
from models.bulk import sql_table
from models.gates.queries import DECISION_COLUMNS, StoredDecision
from models.gates.tables import GateDecision
from models.promotions.tables import ReleaseTarget

MAX_COUNTED: Final = 1_000
"""Versions of one model that are counted; more are "1,000 or more"."""
MAX_TARGETS: Final = 1_000
"""Names of all models on a page that are read."""
_MODELS: Final = """
WITH named(registry, model) AS (VALUES {rows})
SELECT registry, model,
  (SELECT count(*) FROM (
     SELECT 1 FROM model_version WHERE namespace = :namespace AND registry_name = registry AND model_version.model =
     named.model LIMIT {most}) AS counted),
  (SELECT version FROM model_version WHERE namespace = :namespace AND registry_name = registry AND model_version.model =
     named.model ORDER BY position DESC LIMIT 1),
  (SELECT record FROM gate_decision WHERE namespace = :namespace AND gate_decision.model = named.model
     ORDER BY position DESC LIMIT 1)
FROM named
"""
_NEWEST: Final = """
WITH named(artifact) AS (VALUES {rows})
SELECT artifact,
  (SELECT record FROM gate_decision WHERE namespace = :namespace AND gate_decision.artifact = named.artifact
     AND mode = 'enforce' AND model = :model ORDER BY position DESC LIMIT 1)
FROM named
"""


@dataclass(frozen=True, slots=True)
class Held:
    """A name of a registry and the version that it points to, by the records."""

    target: str
    version: str


@dataclass(frozen=True, slots=True)
class ListedModel:
    """`versions` is at most MAX_COUNTED; `decision` is the last one about any version."""

    registry: str
    model: str
    versions: int
    latest: str
    decision: StoredDecision | None
    held: Sequence[Held]


def listed_models(
    connection: Connection, namespace: str, names: Sequence[tuple[str, str]]
) -> list[ListedModel]:
    """Of these (registry, model), in their order: three statements."""
    if not names:
        return []
    rows = ", ".join(f"(CAST(:r{n} AS TEXT), CAST(:m{n} AS TEXT))" for n in range(len(names)))
    given: dict[str, Any] = {"namespace": namespace}
    for number, (registry, model) in enumerate(names):
        given |= {f"r{number}": registry, f"m{number}": model}
    found = {
        (row[0], row[1]): (row[2], row[3], row[4])
        for row in connection.execute(text(_MODELS.format(rows=rows, most=MAX_COUNTED)), given)
    }
    decisions = _decisions(connection, namespace, [each[2] for each in found.values()])
    held = targets_of(connection, namespace, sorted({model for _, model in names}))
    return [
        ListedModel(*name, *found[name][:2], decisions.get(found[name][2]), held.get(name, ()))
        for name in names
    ]


def newest_decisions(
    connection: Connection, namespace: str, model: str, artifacts: Sequence[str]
) -> dict[str, StoredDecision]:
    """By artifact the newest enforced decision about it as this model: two statements."""
    unique = sorted(set(artifacts))
    if not unique:
        return {}
    rows = ", ".join(f"(CAST(:a{n} AS TEXT))" for n in range(len(unique)))
    given = {f"a{number}": artifact for number, artifact in enumerate(unique)}
    query = text(_NEWEST.format(rows=rows))
    rows_found = connection.execute(query, {**given, "namespace": namespace, "model": model})
    found: dict[str, str] = {row[0]: row[1] for row in rows_found if row[1] is not None}
    decisions = _decisions(connection, namespace, list(found.values()))
    return {artifact: decisions[record] for artifact, record in found.items()}


def targets_of(
    connection: Connection, namespace: str, models: Sequence[str]
) -> Mapping[tuple[str, str], list[Held]]:
    """By (registry, model) the names that hold something, in their order."""
    place = sql_table(ReleaseTarget).columns
    query = (
        select(place.registry_name, place.model, place.target, place.version)
        .where(place.namespace == namespace, among(col(ReleaseTarget.model), models), place.how.is_not(None))
        .order_by(place.target)
        .limit(MAX_TARGETS)
    )
    found: dict[tuple[str, str], list[Held]] = {}
    for registry, model, target, version in connection.execute(query):
        found.setdefault((registry, model), []).append(Held(target, version))
    return found


def _decisions(
    connection: Connection, namespace: str, records: Sequence[str | None]
) -> dict[str | None, StoredDecision]:
    wanted = [each for each in records if each is not None]
    query = select(*DECISION_COLUMNS).where(
        col(GateDecision.namespace) == namespace, among(col(GateDecision.record), wanted)
    )
    return {row[0]: StoredDecision(*row) for row in connection.execute(query)} if wanted else {}
