"""What was found for one window."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gates.slo.schedules import Interval
from gates.slo.windows import EvidenceItem
from models.kinds.ingredients import Scalar


@dataclass(frozen=True, slots=True)
class Found:
    """`measured` are the figures behind the items, with units in their names, for whoever asks why."""

    items: Sequence[EvidenceItem]
    measured: Mapping[str, Scalar] = field(default_factory=dict)


def covers(outer: Interval, inner: Interval) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
