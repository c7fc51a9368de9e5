"""Small histograms of data and baseline for a page: at most 30 bars, and no label that the baseline does not name."""

from typing import Final

from gates.contracts.engine.measures.binning import LabelCounts, NumberBins
from gates.contracts.engine.measures.measure import Histogram

MOST_BARS: Final = 30
_OTHER: Final = "other"
_LONGEST_LABEL: Final = 60
_DIGITS: Final = 6


def number_histogram(baseline: NumberBins, observed: NumberBins) -> Histogram:
    """Neighbouring bins are joined until there are at most MOST_BARS with both tails."""
    step = -(-(len(baseline.edges) - 1) // (MOST_BARS - 2))
    edges = (*baseline.edges[:-1:step], baseline.edges[-1])
    return Histogram(
        _shares(_joined(baseline.counts, step)), _shares(_joined(observed.counts, step)), edges=edges
    )


def label_histogram(baseline: LabelCounts, observed: LabelCounts) -> Histogram:
    """The labels most frequent in the baseline; all the rest, new ones among them, is "other"."""
    order = sorted(range(len(baseline.labels)), key=lambda place: -baseline.counts[place])
    kept = order[: MOST_BARS - 1]
    names = tuple(str(baseline.labels[place])[:_LONGEST_LABEL] for place in kept)
    return Histogram(_chosen(baseline, kept), _chosen(observed, kept), labels=(*names, _OTHER))


def _chosen(found: LabelCounts, kept: list[int]) -> tuple[float, ...]:
    counts = [found.counts[place] for place in kept]
    return _shares((*counts, sum(found.counts) + found.other - sum(counts)))


def _joined(counts: tuple[int, ...], step: int) -> tuple[int, ...]:
    inner = counts[1:-1]
    return (counts[0], *(sum(inner[at : at + step]) for at in range(0, len(inner), step)), counts[-1])


def _shares(counts: tuple[int, ...]) -> tuple[float, ...]:
    total = sum(counts) or 1
    return tuple(round(count / total, _DIGITS) for count in counts)
