"""The answer to “what is this made of?” as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from shipworthy.query.results import (
    Document,
    ModelVersion,
    Snapshot,
    instant,
    model_version,
    snapshot,
)


@dataclass(frozen=True, slots=True)
class Part:
    """How well an ingredient is known: `status` is resolved, weak or unresolved; `reason` says why."""

    part: str
    status: str
    grade: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Input:
    """What a run read under a role; `digest` is None when nothing identifies it."""

    role: str
    digest: str | None
    grade: str | None
    dataset: str | None


@dataclass(frozen=True, slots=True)
class RunNode:
    """A run of the lineage; `hop` 0 is the one that was asked about. `ingredients` are digests by part."""

    run_id: str
    hop: int
    job: str
    state: str
    started_at: datetime | None
    ended_at: datetime | None
    recipe_digest: str | None
    family_digest: str | None
    ingredients: Mapping[str, str]
    inputs: tuple[Input, ...]
    attempts: int
    document: Document = field(repr=False)


@dataclass(frozen=True, slots=True)
class Edge:
    """A run read ("in") or wrote ("out") a digest."""

    run_id: str
    direction: str
    kind: str
    role: str
    digest: str


@dataclass(frozen=True, slots=True)
class Lineage:
    """`ingredients` are documents by digest. `next` are calls that go on where `partial` cut the walk."""

    run_id: str
    model_version: ModelVersion | None
    completeness: tuple[Part, ...]
    weakest_grade: str | None
    runs: tuple[RunNode, ...]
    snapshots: Mapping[str, Snapshot]
    ingredients: Mapping[str, Document]
    edges: tuple[Edge, ...]
    artifacts: tuple[Document, ...]
    checkpoints: tuple[Document, ...]
    evaluations: tuple[Document, ...]
    unresolved: tuple[str, ...]
    revocations: tuple[Document, ...]
    partial: bool
    next: tuple[str, ...]
    proof: Document
    manifest: Document | None
    document: Document = field(repr=False)

    @property
    def run(self) -> RunNode:
        """The run that was asked about, or that made the model version."""
        return next(node for node in self.runs if node.run_id == self.run_id)


def lineage(answer: Document) -> Lineage:
    version = answer.get("model_version")
    known = [snapshot(item) for item in answer.get("snapshots", ())]
    return Lineage(
        run_id=answer["run_id"],
        model_version=None if version is None else model_version(version),
        completeness=tuple(
            Part(item["part"], item["status"], item.get("grade"), item.get("reason"))
            for item in answer["completeness"]
        ),
        weakest_grade=answer.get("weakest_grade"),
        runs=tuple(_node(item) for item in answer["runs"]),
        snapshots={item.digest: item for item in known if item.digest is not None},
        ingredients=answer.get("ingredients", {}),
        edges=tuple(
            Edge(item["run_id"], item["direction"], item["kind"], item["role"], item["digest"])
            for item in answer.get("edges", ())
        ),
        artifacts=tuple(answer.get("artifacts", ())),
        checkpoints=tuple(answer.get("checkpoints", ())),
        evaluations=tuple(answer.get("evaluations", ())),
        unresolved=tuple(answer.get("unresolved", ())),
        revocations=tuple(answer.get("revocations", ())),
        partial=bool(answer.get("partial")),
        next=tuple(answer.get("next", ())),
        proof=answer.get("proof", {}),
        manifest=answer.get("manifest"),
        document=answer,
    )


def _node(item: Mapping[str, Any]) -> RunNode:
    job = item["identity"]["job"]
    return RunNode(
        run_id=item["run_id"],
        hop=item["hop"],
        job=f"{job['namespace']}/{job['name']}",
        state=item["state"],
        started_at=instant(item.get("started_at")),
        ended_at=instant(item.get("ended_at")),
        recipe_digest=item.get("recipe_digest"),
        family_digest=item.get("family_digest"),
        ingredients=item.get("ingredients", {}),
        inputs=tuple(_input(given) for given in item.get("inputs", ())),
        attempts=len(item.get("attempts", {})) or 1,
        document=item,
    )


def _input(given: Mapping[str, Any]) -> Input:
    dataset = given.get("dataset")
    name = None if dataset is None else f"{dataset['namespace']}/{dataset['name']}"
    return Input(given["role"], given.get("digest"), given.get("grade"), name)
