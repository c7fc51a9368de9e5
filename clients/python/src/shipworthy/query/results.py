"""What the service answers, as frozen values. `document` is the answer as it came, newer fields included."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from shipworthy.formats.times import parse_instant
from shipworthy.query.errors import NotShipworthy

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run in a list. `state` is that of the moment; `lost_at_step` is the last step that was heard of."""

    run_id: str
    job: str
    state: str
    started_at: datetime | None
    ended_at: datetime | None
    last_sign_of_life_at: datetime | None
    lost_at_step: int | None
    team: str | None
    recipe_digest: str | None
    family_digest: str | None
    document: Document = field(repr=False)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A data snapshot; `digest` is None when nothing identifies it."""

    digest: str | None
    dataset: str
    grade: str
    row_count: int | None
    document: Document = field(repr=False)


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """A version under which a registry knows an artifact of a run."""

    registry: str
    model: str
    version: str
    artifact: str
    run_id: str
    document: Document = field(repr=False)


@dataclass(frozen=True, slots=True)
class LineAnswer:
    """What became of one line (counted from 1) of a batch: 201 new, 200 recorded before, else refused."""

    line: int
    status: int
    record: str | None
    code: str | None
    detail: str | None

    @property
    def is_refused(self) -> bool:
        return self.status >= 400


@dataclass(frozen=True, slots=True)
class Health:
    """`clock` is the service's, to the second; `version` is None when the service doesn't say."""

    database: str
    clock: datetime | None
    version: str | None


def run_summary(item: Document) -> RunSummary:
    job = item["job"]
    return RunSummary(
        run_id=item["run_id"],
        job=f"{job['namespace']}/{job['name']}",
        state=item["state"],
        started_at=instant(item.get("started_at")),
        ended_at=instant(item.get("ended_at")),
        last_sign_of_life_at=instant(item.get("last_sign_of_life_at")),
        lost_at_step=item.get("lost_at_step"),
        team=item.get("team"),
        recipe_digest=item.get("recipe_digest"),
        family_digest=item.get("family_digest"),
        document=item,
    )


def snapshot(item: Document) -> Snapshot:
    dataset = item["dataset"]
    return Snapshot(
        digest=item.get("digest"),
        dataset=f"{dataset['namespace']}/{dataset['name']}",
        grade=item["grade"],
        row_count=item.get("row_count"),
        document=item,
    )


def model_version(item: Document) -> ModelVersion:
    return ModelVersion(
        registry=item.get("registry", "default"),
        model=item["model"],
        version=item["version"],
        artifact=item["artifact"],
        run_id=item["run_id"],
        document=item,
    )


def line_answer(item: Document) -> LineAnswer:
    return LineAnswer(
        line=item["line"],
        status=item["status"],
        record=item.get("record"),
        code=item.get("code"),
        detail=item.get("detail"),
    )


def instant(text: str | None) -> datetime | None:
    """Raises NotShipworthy for a text that is no time."""
    if text is None:
        return None
    try:
        return parse_instant(text)
    except ValueError as error:
        raise NotShipworthy(f"the answer holds a time that can't be read: {error}") from error
