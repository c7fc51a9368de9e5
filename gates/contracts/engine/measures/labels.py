"""Shares of labels against a baseline: which labels there are, and how often, may not move far."""

from collections.abc import Mapping

from gates.contracts.engine.measures.binning import (
    baseline_column,
    baseline_labels,
    label_query,
    no_values,
    read_labels,
)
from gates.contracts.engine.measures.histograms import label_histogram
from gates.contracts.engine.measures.measure import Circumstances, Facts, Measure, Verdict, judged, number
from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.rounding import rounded


def label_shares(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """Shares among values that are not null: no label's may differ by more than `max_difference`, and new labels
    may together have at most `max_new_share` (0 unless stated).

    Where the baseline itself has labels that it does not list, only what exceeds their share counts as new.
    """
    column = circumstances.column(kwargs)
    furthest = number(kwargs, "max_difference")
    newest = number(kwargs, "max_new_share", 0.0)
    before = baseline_labels(baseline_column(circumstances, column.name))
    if before is None:
        raise CheckRefused(
            f"The baseline has no labels of {column.name!r}. Make one that names it as a label."
        )
    total = sum(before.counts) + before.other
    if total == 0:
        raise CheckRefused(
            f"The baseline has no values of {column.name!r}. Make one from data that has some."
        )

    def judge(facts: Facts) -> Verdict:
        if (empty := no_values(facts, column.name)) is not None:
            return empty
        found = read_labels(facts.rows["labels"], before.labels)
        values = sum(found.counts) + found.other
        differences = [
            rounded(abs(now / values - then / total))
            for now, then in zip(found.counts, before.counts, strict=True)
        ]
        difference = max(differences, default=0.0)
        new = rounded(max(0.0, found.other / values - before.other / total))
        sentence = (
            f"A label's share in {column.name!r} differs by up to {difference:.4g} from the baseline, "
            + (f"and new labels are {new:.4g} of its values." if new else "and no label is new.")
        )
        return judged(
            difference <= furthest and new <= newest,
            sentence,
            observed=difference,
            rows=facts.profile.rows,
            nulls=facts.profile.nulls(column.name),
            unexpected=found.other if before.other == 0 else None,
            histogram=label_histogram(before, found),
        )

    return Measure(judge, queries={"labels": label_query(column, before.labels)})
