"""Drift against a baseline: population stability index and binned Kolmogorov-Smirnov distance.

Bins are the baseline's, with both tails as bins of their own. KL divergence alone is brittle: one label in ten
thousand that the baseline lacks makes it infinite, where the PSI is 0.004.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from gates.contracts.engine.measures.binning import (
    LabelCounts,
    NumberBins,
    baseline_bins,
    baseline_column,
    baseline_labels,
    bin_aggregates,
    label_query,
    no_values,
    read_bins,
    read_labels,
)
from gates.contracts.engine.measures.histograms import label_histogram, number_histogram
from gates.contracts.engine.measures.measure import Circumstances, Facts, Measure, Verdict, judged, number
from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.rounding import rounded

SMALLEST_SHARE: Final = 1e-4
"""Floor of a bin's share within the PSI: an empty bin counts as one value in 10,000."""


def stability_index(expected: Sequence[int], observed: Sequence[int]) -> float:
    """Σ (q − p) ln(q / p) over the bins' shares, each at least SMALLEST_SHARE and not scaled again.

    Both need at least one value in total. Same counts give 0.
    """
    return rounded(
        math.fsum(
            (q - p) * math.log(q / p) for p, q in zip(_floored(expected), _floored(observed), strict=True)
        )
    )


def largest_gap(expected: Sequence[int], observed: Sequence[int]) -> float:
    """The greatest distance, 0 to 1, between the two cumulated shares at any edge."""
    before, now = sum(expected), sum(observed)
    gap, low, high = 0.0, 0, 0
    for p, q in zip(expected, observed, strict=True):
        low, high = low + p, high + q
        gap = max(gap, abs(high / now - low / before))
    return rounded(gap)


def psi_at_most(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """The PSI of a column, `max` included. Labels that the baseline lacks are one bin, "other"."""
    column = circumstances.column(kwargs)
    highest = number(kwargs, "max")
    described = baseline_column(circumstances, column.name)
    bins, labels = baseline_bins(described), baseline_labels(described)
    if bins is not None:
        return _by_bins(
            column.name, bins, bin_aggregates(column, bins.edges), highest, stability_index, "PSI"
        )
    if labels is None or not (sum(labels.counts) + labels.other):
        raise CheckRefused(
            f"The baseline has no values of {column.name!r}. Make one from data that has some."
        )

    def judge(facts: Facts) -> Verdict:
        if (empty := no_values(facts, column.name)) is not None:
            return empty
        found = read_labels(facts.rows["labels"], labels.labels)
        value = stability_index(_all(labels), _all(found))
        return judged(
            value <= highest,
            f"The PSI of {column.name!r} against the baseline is {value:.4g}.",
            observed=value,
            rows=facts.profile.rows,
            nulls=facts.profile.nulls(column.name),
            histogram=label_histogram(labels, found),
        )

    return Measure(judge, queries={"labels": label_query(column, labels.labels)})


def ks_at_most(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """The distance at the edges of the baseline's bins: never more than the full KS distance, often close to it."""
    column = circumstances.column(kwargs)
    highest = number(kwargs, "max")
    bins = baseline_bins(baseline_column(circumstances, column.name))
    if bins is None:
        raise CheckRefused(f"The baseline has labels of {column.name!r}, which have no order. Use the PSI.")
    return _by_bins(
        column.name, bins, bin_aggregates(column, bins.edges), highest, largest_gap, "KS distance"
    )


def _by_bins(
    name: str,
    bins: NumberBins,
    aggregates: Mapping[str, str],
    highest: float,
    distance: Callable[[Sequence[int], Sequence[int]], float],
    title: str,
) -> Measure:
    if not sum(bins.counts):
        raise CheckRefused(f"The baseline has no values of {name!r}. Make one from data that has some.")

    def judge(facts: Facts) -> Verdict:
        if (empty := no_values(facts, name)) is not None:
            return empty
        found = read_bins(facts, name, bins.edges)
        value = distance(bins.counts, found.counts)
        return judged(
            value <= highest,
            f"The {title} of {name!r} against the baseline is {value:.4g}.",
            observed=value,
            rows=facts.profile.rows,
            nulls=facts.profile.nulls(name),
            histogram=number_histogram(bins, found),
        )

    return Measure(judge, aggregates)


def _all(labels: LabelCounts) -> tuple[int, ...]:
    return (*labels.counts, labels.other)


def _floored(counts: Sequence[int]) -> list[float]:
    total = sum(counts)
    return [max(count / total, SMALLEST_SHARE) for count in counts]
