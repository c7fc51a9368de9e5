"""The metrics that workers compute: their task, range, and whether more of them is better."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from gates.release.numbers import LARGEST
from gates.release.values import Task

_VALUE: Final = re.compile(r"(mean|p50|p95|p99)_[a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Metric:
    """`proportion`: successes of trials, whose interval is Wilson's. `better` is None where that depends."""

    low: float
    high: float
    better: Literal["higher", "lower"] | None
    tasks: frozenset[Task]
    proportion: bool = False

    @property
    def is_bounded(self) -> bool:
        return self.low == 0 and self.high == 1


_BINARY: Final[frozenset[Task]] = frozenset({"binary"})
_CLASSES: Final[frozenset[Task]] = frozenset({"binary", "multiclass"})
_MULTICLASS: Final[frozenset[Task]] = frozenset({"multiclass"})
_REGRESSION: Final[frozenset[Task]] = frozenset({"regression"})
_ANY: Final[frozenset[Task]] = frozenset({"binary", "multiclass", "regression"})

METRICS: Final[Mapping[str, Metric]] = {
    "accuracy": Metric(0, 1, "higher", _CLASSES, proportion=True),
    "precision": Metric(0, 1, "higher", _BINARY, proportion=True),
    "recall": Metric(0, 1, "higher", _BINARY, proportion=True),
    "f1": Metric(0, 1, "higher", _BINARY),
    "f1_macro": Metric(0, 1, "higher", _MULTICLASS),
    "balanced_accuracy": Metric(0, 1, "higher", _CLASSES),
    "roc_auc": Metric(0, 1, "higher", _BINARY),
    "average_precision": Metric(0, 1, "higher", _BINARY),
    "log_loss": Metric(0, LARGEST, "lower", _CLASSES),
    "brier_score": Metric(0, 1, "lower", _BINARY),
    "mean_absolute_error": Metric(0, LARGEST, "lower", _REGRESSION),
    "root_mean_squared_error": Metric(0, LARGEST, "lower", _REGRESSION),
    "r2": Metric(-LARGEST, 1, "higher", _REGRESSION),
}
_OF_A_VALUE: Final = Metric(-LARGEST, LARGEST, None, _ANY)


def find_metric(name: str) -> Metric | None:
    """Also `mean_<value>`, `p50_<value>`, `p95_<value>` and `p99_<value>` of a column `value.<value>`."""
    return METRICS.get(name) or (_OF_A_VALUE if _VALUE.fullmatch(name) else None)
