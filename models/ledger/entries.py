"""A record that has its place in the log, as projections see it: live and when they are made again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from models.fields import Value
from models.kinds.runs import KEPT
from models.ledger.canonical import CanonicalBody


@dataclass(frozen=True, slots=True)
class Entry:
    """`fact` is the validated body, `body` the JSON it was validated from, `canonical` the RFC 8785 bytes of that
    JSON, `owner` a person's pseudonym. `kept` is what a registration's record keeps, each as if it had come alone: same
    record, same place in the log."""

    kind: str
    namespace: str
    digest: str
    content: str
    position: int
    recorded_at: datetime
    fact: Value
    body: Mapping[str, Any]
    canonical: CanonicalBody
    run_id: str | None
    level: str
    owner: str | None
    kept: "tuple[Entry, ...]" = field(init=False)

    def __post_init__(self) -> None:
        kept = tuple(self._kept()) if self.kind == "run.registered" else ()
        object.__setattr__(self, "kept", kept)

    def _kept(self) -> "Iterator[Entry]":
        for name, kind in KEPT.items():
            encoded = self.canonical.elements.get(name)
            if not encoded:
                continue
            for body, fact, whole in zip(self.body[name], getattr(self.fact, name), encoded, strict=True):
                yield Entry(
                    kind=kind,
                    namespace=self.namespace,
                    digest=self.digest,
                    content=self.content,
                    position=self.position,
                    recorded_at=self.recorded_at,
                    fact=fact,
                    body=body,
                    canonical=CanonicalBody(whole, {}, {}),
                    run_id=self.run_id,
                    level=self.level,
                    owner=self.owner,
                )
