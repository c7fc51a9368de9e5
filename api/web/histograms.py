"""Drift as two small histograms over the same bins and the same scale, laid out here: no script draws them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

WIDTH: Final = 280
HEIGHT: Final = 72
"""Of the drawing area in CSS pixels; words below it have 11 px or more, so it is never scaled down."""
MAX_BARS: Final = 40
_LABEL_CHARACTERS: Final = 7
_CHARACTER: Final = 6.0
_BETWEEN: Final = 4.0
"""Pixels that a character of a label takes at 11 px, and that lie between two labels."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bin; shares are of the column's counted rows, positions in pixels from the top left."""

    label: str
    short_label: str
    baseline_count: float | None
    observed_count: float | None
    baseline_share: float
    observed_share: float
    x: float
    width: float
    baseline_height: float
    observed_height: float


@dataclass(frozen=True, slots=True)
class Histograms:
    """`bars` has every bin and is what the table lists; of labels at most the 40 largest are `drawn`."""

    bars: tuple[Bar, ...]
    drawn: tuple[Bar, ...]
    top_share: float
    low_label: str
    high_label: str
    has_bar_labels: bool
    summary: str

    @property
    def left_out(self) -> int:
        return len(self.bars) - len(self.drawn)


def lay_out(histogram: Mapping[str, Any] | None) -> Histograms | None:
    """None without one, or when it holds no counts that could be drawn.

    Takes `labels` (one a bin) or `edges` (of the bins, with or without the two open ones at the ends), and counts
    or shares as `baseline` and `observed`.
    """
    if histogram is None:
        return None
    baseline, observed = histogram["baseline"], histogram["observed"]
    if not baseline or len(baseline) != len(observed):
        return None
    is_labels = histogram.get("labels") is not None
    names = list(map(_text, histogram["labels"])) if is_labels else _bins(histogram["edges"], len(baseline))
    if len(names) != len(baseline):
        return None
    shares = list(zip(_shares(baseline), _shares(observed), strict=True))
    order = range(len(names))
    largest = sorted(order, key=lambda place: -max(shares[place]))
    # Bins between edges lie side by side: leaving one out would bend the axis, so all of them are drawn.
    kept = sorted(largest[:MAX_BARS]) if is_labels else list(order)
    top = max(max(shares[place]) for place in kept) or 1.0
    step = WIDTH / len(kept)
    longest = max(len(_shortened(names[place])) for place in kept)
    has_labels = is_labels and step >= longest * _CHARACTER + _BETWEEN
    places = {place: number for number, place in enumerate(kept)}

    def bar(place: int) -> Bar:
        number = places.get(place, 0)
        return Bar(
            label=names[place],
            short_label=_shortened(names[place]),
            baseline_count=baseline[place],
            observed_count=observed[place],
            baseline_share=shares[place][0],
            observed_share=shares[place][1],
            x=round(number * step + step * 0.08, 2),
            width=round(step * 0.84, 2),
            baseline_height=round(shares[place][0] / top * HEIGHT, 2),
            observed_height=round(shares[place][1] / top * HEIGHT, 2),
        )

    bars = tuple(bar(place) for place in order)
    return Histograms(
        bars=bars,
        drawn=tuple(bars[place] for place in kept),
        top_share=top,
        low_label="" if is_labels else names[0],
        high_label="" if is_labels else names[-1],
        has_bar_labels=has_labels,
        summary=_summary(bars),
    )


def share_in_words(share: float) -> str:
    """0.1234 as 12.3 %, on one line; what is there is never shown as 0 %."""
    percent = share * 100
    if 0 < percent < 0.05:
        return "< 0.1\u00a0%"
    return f"{percent:.1f}\u00a0%"


def _shares(counts: Sequence[float | None]) -> list[float]:
    total = sum(count or 0 for count in counts)
    return [(count or 0) / total if total else 0.0 for count in counts]


def _bins(edges: Sequence[float | str], count: int) -> list[str]:
    """Names of bins between edges; two more than that are open at the ends."""
    named = [_text(edge) for edge in edges]
    inner = [f"{low} to {high}" for low, high in pairwise(named)]
    if count == len(inner) + 2 and named:
        return [f"below {named[0]}", *inner, f"above {named[-1]}"]
    return inner


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _shortened(text: str) -> str:
    return text if len(text) <= _LABEL_CHARACTERS else f"{text[: _LABEL_CHARACTERS - 1]}…"


def _summary(bars: Sequence[Bar]) -> str:
    """The largest difference in words, which is what the two pictures are there to show."""
    most = max(bars, key=lambda bar: abs(bar.observed_share - bar.baseline_share))
    return (
        f"{most.label}: {share_in_words(most.baseline_share)} in the baseline, "
        f"{share_in_words(most.observed_share)} observed"
    )
