"""What is asked for: by whom, how far, in which direction, and as of when."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import Connection, bindparam, text

from models.columns import UTCDateTime

NOW: Final = 2**62
"""A position beyond every log: "as of now"."""


class Direction(StrEnum):
    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Question:
    """`as_of` is a log position: only records up to it count. `now` decides which runs are lost."""

    namespace: str
    depth: int
    direction: Direction
    as_of: int
    now: datetime
    prove: bool = False


@dataclass(frozen=True, slots=True)
class VersionName:
    """What a model version is called."""

    registry: str
    model: str
    version: str


@dataclass(frozen=True, slots=True)
class Version:
    """A model version's row."""

    name: VersionName
    run_id: str
    artifact: str
    record: str
    position: int
    document: str


def position_at(connection: Connection, when: datetime) -> int:
    """The last log position that was received by then; -1 when nothing was."""
    query = text("SELECT size FROM tree_head WHERE committed_at <= :at ORDER BY id DESC LIMIT 1")
    found = connection.execute(query.bindparams(bindparam("at", type_=UTCDateTime())), {"at": when}).scalar()
    return -1 if found is None else int(found) - 1
