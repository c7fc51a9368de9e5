"""A record that has its place in the log, as projections see it: live and when they are made again."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from models.fields import Value


@dataclass(frozen=True, slots=True)
class Entry:
    """`fact` is the validated body, `body` the JSON it was validated from, `members` the RFC 8785 bytes of each of its
    members, `owner` a person's pseudonym."""

    kind: str
    namespace: str
    digest: str
    content: str
    position: int
    recorded_at: datetime
    fact: Value
    body: Mapping[str, Any]
    members: Mapping[str, bytes]
    run_id: str | None
    level: str
    owner: str | None
