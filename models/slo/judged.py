"""The entry of a promise in the report, remembered by all that it is made of: between two rounds of the tick hardly
anything changes, and exact fractions and sentences take their time."""

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Final

from gates.slo.counts import Counts
from gates.slo.definition import Definition
from gates.slo.exclusions import Exclusion, planned_exclusions
from gates.slo.report import EarlierVersion, ReportedSlo
from gates.slo.sentences import backfilled_sentence, loosened_sentence
from gates.slo.status import SloStatus, status
from models.slo.definitions import MAX_SLOS, Published
from models.slo.listed import corrected_in, missed_in
from models.slo.promised import Promised
from models.slo.remembered import Remembered
from models.slo.sums import Sums, sums_in

MAX_REMEMBERED: Final = MAX_SLOS
_MADE: Final = Remembered[Hashable, ReportedSlo](MAX_REMEMBERED)


def entry_of(
    published: Published,
    promise: Promised,
    *,
    closed: bool,
    recently: bool,
    sums: str,
    live: Sums | None,
    missed: str,
    corrected: str,
    exclusions: tuple[Exclusion, ...],
) -> ReportedSlo:
    """`sums`, `missed` and `corrected` are texts as `Held` has them; `live` is what days that are not over add to the
    sums, `exclusions` what approvers left out. `recently`: windows were judged within the last rounds of the tick."""
    key = (
        published.record,
        tuple(one.record for one in promise.earlier),
        promise.reaches_back,
        closed,
        recently,
        sums,
        live,
        missed,
        corrected,
        tuple(one.id for one in exclusions),
    )
    known = _MADE.get(key)
    if known is not None:
        return known
    definition = replace(published.definition, target=promise.target, max_misses=promise.max_misses)
    counts = _counts(definition, sums_in(sums) + (live or Sums()))
    judged = status(
        counts, definition, period_closed=closed, evaluated_recently=recently, misses=missed_in(missed)
    )
    entry = ReportedSlo(
        definition=definition,
        revision=published.version,
        closed=closed,
        counts=counts,
        status=_told(judged, published, promise),
        exclusions=(*planned_exclusions(definition, published.published_at), *exclusions),
        corrections=corrected_in(corrected),
        earlier=tuple(_earlier(promise.earlier)),
        backfilled_until=published.first_at if promise.reaches_back else None,
    )
    return _MADE.keep(key, entry)


def _counts(definition: Definition, sums: Sums) -> Counts:
    """Freshness counts slices: of those none is pending."""
    by_slices = definition.objective == "freshness"
    return Counts(
        good=sums.good,
        bad=sums.bad,
        unknown=sums.unsure,
        pending=0 if by_slices else sums.pending,
        predicted=0 if by_slices else sums.predicted,
        excluded=sums.excluded,
        met_in_grace=sums.met_in_grace,
    )


def _told(judged: SloStatus, published: Published, promise: Promised) -> SloStatus:
    """With what the sentence has to tell beside the arithmetic."""
    parts = [judged.sentence]
    if promise.earlier:
        parts.append(loosened_sentence(published.version, published.definition, published.published_at))
    if promise.reaches_back:
        parts.append(backfilled_sentence(published.first_at))
    return replace(judged, sentence="; ".join(parts))


def _earlier(versions: Iterable[Published]) -> Iterable[EarlierVersion]:
    for one in versions:
        definition = one.definition
        yield EarlierVersion(one.version, one.published_at, definition.target, definition.max_misses)
