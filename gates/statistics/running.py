"""From the claim of `statistics` work to the body of its record: blobs read, aligned, measured, and compared with what
was reported. A blob that is refused ends in a record too, with the outcome "error" and the reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

from gates.statistics import sufficient
from gates.statistics.aligning import align
from gates.statistics.bodies import RESAMPLES, can_be_paired, head, in_order, no_disjointness, threshold_of
from gates.statistics.disjointness import disjointness
from gates.statistics.examples import Examples, read_examples
from gates.statistics.measured import Measured
from gates.statistics.refusals import StatisticsRefused
from gates.statistics.reported import compare
from gates.statistics.slicing import Progress, Slice, measure_all

_PACKAGES: Final = ("numpy", "pyarrow", "scikit-learn", "scipy")

Json = Any


@dataclass(frozen=True, slots=True)
class Blob:
    """Where a blob's bytes lie; they are the ones of its digest."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class _Result:
    rows: int
    positives: int | None
    whole: Measured
    slices: tuple[Slice, ...]
    reported: Sequence[Mapping[str, Json]]


_NOTHING: Final = _Result(0, None, Measured({}, {}, {}), (), ())


def make_statistics(
    inputs: Mapping[str, Json], blobs: Mapping[str, Blob], progress: Progress, resamples: int = RESAMPLES
) -> dict[str, Json]:
    """The body of the `statistics` record for the inputs of a claim; `blobs` are those that the inputs need. With the
    outcome "ok" there may be a reason too: a key sketch that was refused leaves disjointness unknown."""
    attempt, sketches = inputs["attempt"], inputs["sketches"]
    outcome, reasons, result = "ok", [], _NOTHING
    try:
        result = _measured(inputs, blobs, progress, resamples)
    except StatisticsRefused as error:
        outcome = "error"
        reasons.append(error.reason)
    try:
        paths = {digest: blob.path for digest, blob in blobs.items()}
        disjoint = disjointness(sketches, attempt["dataset"], paths, progress)
    except StatisticsRefused as error:
        disjoint = no_disjointness(each["snapshot"] for each in sketches.get("training") or ())
        reasons.append(error.reason)
    return head(inputs, resamples) | {
        "engine": {name: version(name) for name in _PACKAGES},
        "outcome": outcome,
        "reason": " ".join(f"{reason[:1].upper()}{reason[1:]}." for reason in reasons) or None,
        "rows": result.rows,
        "positives": result.positives,
        **result.whole.as_json(),
        "slices": [each.as_json() for each in result.slices],
        "repeats": {name: list(metric.repeats) for name, metric in result.whole.metrics.items()},
        "reported": list(result.reported),
        "disjointness": disjoint,
    }


def _measured(
    inputs: Mapping[str, Json], blobs: Mapping[str, Blob], progress: Progress, resamples: int
) -> _Result:
    attempt = inputs["attempt"]
    evaluations = in_order(inputs["evaluations"])
    if [each["repeat"] for each in evaluations] != list(range(attempt["repeats"])):
        raise StatisticsRefused("the attempt has not exactly one evaluation for each of its repeats")
    if not can_be_paired(evaluations):
        if any(each.get("per_example") is not None for each in evaluations):
            raise StatisticsRefused(
                "some repeats have per-example results and some have none; give them for all"
            )
        whole, slices = sufficient.measured_of(evaluations), sufficient.slices_of(evaluations)
        return _Result(*sufficient.rows_of(evaluations), whole, slices, compare(evaluations, {}))
    incumbent = inputs.get("incumbent")
    against = in_order(incumbent["evaluations"]) if incumbent else []
    # Without the incumbent's rows nothing can be paired: then the candidate is measured alone.
    against = against if can_be_paired(against) else []
    read = _Reader(attempt, blobs, progress, len(evaluations) + len(against))
    candidate = [read("candidate", each) for each in evaluations]
    aligned = align(attempt["task"], candidate, [read("incumbent", each) for each in against])
    whole, slices = measure_all(aligned, inputs["seed"], resamples, progress)
    rows = aligned.rows
    return _Result(len(rows), rows.positives, whole, slices, compare(evaluations, whole.values))


class _Reader:
    """Reads one evaluation's rows after the other."""

    def __init__(
        self, attempt: Mapping[str, Json], blobs: Mapping[str, Blob], progress: Progress, total: int
    ) -> None:
        self._attempt = attempt
        self._blobs = blobs
        self._progress = progress
        self._total = total
        self._done = 0

    def __call__(self, name: str, evaluation: Mapping[str, Json]) -> Examples:
        self._progress(self._done, self._total, "reading per-example results")
        self._done += 1
        blob = self._blobs[evaluation["per_example"]]
        try:
            return read_examples(blob.path, blob.size, self._attempt["task"], threshold_of(self._attempt))
        except StatisticsRefused as error:
            raise StatisticsRefused(f"repeat {evaluation['repeat']} of the {name}: {error.reason}") from None
