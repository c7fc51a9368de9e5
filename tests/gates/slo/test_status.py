"""The status of a promise and its sentence."""

from fractions import Fraction

import pytest

from gates.slo.counts import Counts, Miss, SloState
from gates.slo.sentences import days, percent
from gates.slo.status import SloStatus, status
from tests.gates.slo.definitions import make_slo

PLAIN = make_slo()
COUNTED = make_slo(maxMisses="1")


def found(
    counts: Counts,
    closed: bool = False,
    evaluated: bool = True,
    most: int | None = None,
    misses: tuple[Miss, ...] = (),
) -> SloStatus:
    definition = PLAIN if most is None else make_slo(maxMisses=str(most))
    return status(counts, definition, period_closed=closed, evaluated_recently=evaluated, misses=misses)


@pytest.mark.parametrize(
    ("counts", "closed", "most", "expected"),
    [
        (Counts(), False, None, "no_data"),
        (Counts(pending=20), False, None, "no_data"),
        (Counts(good=20), False, None, "on_track"),
        (Counts(good=20), True, None, "met"),
        (Counts(good=19, bad=1), True, None, "met"),
        (Counts(good=18, bad=1), True, None, "breached"),
        # One miss of two is too many so far, and not yet too many for the period.
        (Counts(good=1, bad=1, pending=18), False, None, "at_risk"),
        (Counts(good=1, bad=2, pending=18), False, None, "breached"),
        # Every unknown counts as bad until it is known.
        (Counts(good=19, unknown=1), True, None, "met"),
        (Counts(good=18, unknown=2), True, None, "at_risk"),
        (Counts(good=17, unknown=3), True, None, "unknown"),
        (Counts(good=17, unknown=3), False, None, "unknown"),
        (Counts(good=17, unknown=1, bad=2), True, None, "breached"),
        # What is pending after the end may be missed yet, as within a long grace time.
        (Counts(good=38, pending=2), True, None, "met"),
        (Counts(good=37, pending=2), True, None, "on_track"),
        (Counts(good=20, pending=1), True, 0, "on_track"),
        # At 95 % one miss of 21 windows is allowed by the ratio, and by the count.
        (Counts(good=20, bad=1), True, 1, "met"),
        (Counts(good=38, bad=2), True, 1, "breached"),
        (Counts(good=38, bad=1, unknown=1), True, 1, "at_risk"),
        (Counts(good=20, bad=1), True, 0, "breached"),
        # The last attempt of a pending window has failed already.
        (Counts(good=19, bad=1, pending=1, predicted=1), False, None, "at_risk"),
        (Counts(good=39, pending=1, predicted=1), False, None, "on_track"),
    ],
)
def test_the_first_state_that_applies(
    counts: Counts, closed: bool, most: int | None, expected: SloState
) -> None:
    assert found(counts, closed, most=most).state == expected


def test_what_was_not_evaluated_lately_has_no_data() -> None:
    told = found(Counts(good=20), closed=True, evaluated=False)
    assert told.state == "no_data"
    assert "not evaluated lately" in told.sentence
    nothing = found(Counts(pending=3), evaluated=False)
    assert (
        "no window was judged in this period yet; 3 still pending; not evaluated lately" in nothing.sentence
    )
    assert "lately" not in found(Counts(pending=3)).sentence


def test_bounds_and_coverage_are_exact() -> None:
    told = found(Counts(good=27, bad=1, unknown=2, pending=10))
    assert (told.low, told.high, told.coverage) == (Fraction(27, 30), Fraction(39, 40), Fraction(28, 30))
    assert found(Counts(excluded=3)).low is None


def test_an_invariant_allows_no_miss() -> None:
    assert found(Counts(good=10_000, bad=1), most=0).budget.total == 0
    from gates.slo.loading import load_slo

    text = (
        b"apiVersion: shipworthy/v1\nkind: Invariant\nmetadata: {name: i, labels: {team: ml}}\nspec:\n  service: s\n"
        b"  timeWindow: [{duration: 30d, isRolling: true}]\n  metricSource:\n    type: training-windows\n    spec:\n"
        b"      {objective: ratio, evidence: {event: model.registered}, onMissing: breach}\n"
    )
    invariant = load_slo(text)
    kept = status(Counts(good=10_000), invariant, period_closed=False, evaluated_recently=True)
    broken = status(Counts(good=10_000, bad=1), invariant, period_closed=False, evaluated_recently=True)
    assert (kept.state, broken.state) == ("on_track", "breached")
    assert broken.sentence == "10,000 of 10,001 events good, target 100 %: no miss allowed, 1 used"
    assert [float(each.budget.remaining_ratio) for each in (kept, broken)] == [1, -1]


def test_the_budget_is_a_count_of_misses_and_may_be_overdrawn() -> None:
    budget = found(Counts(good=27, bad=3)).budget
    assert (budget.total, budget.used, budget.remaining) == (Fraction(3, 2), 3, Fraction(-3, 2))
    assert budget.remaining_ratio == -1
    # The windows that are still pending give their share.
    assert found(Counts(good=1, bad=1, pending=18)).budget.total == 1
    assert found(Counts(good=99, bad=1, pending=100), most=2).budget.total == 2


def test_the_sentence_prints_its_arithmetic() -> None:
    misses = (Miss("2026-11-17", "never"), Miss("2026-11-09", "late"), Miss("2026-11-03", "late"))
    assert found(Counts(good=27, bad=3), misses=misses).sentence == (
        "27 of 30 windows on time, target 95 %: 1.5 misses allowed, 3 used; late: 3 and 9 Nov, never ran: 17 Nov"
    )
    assert found(Counts(good=1, unknown=1, pending=18, predicted=2, excluded=1)).sentence == (
        "1 of 2 windows on time, target 95 %: 1 miss allowed, 1 used; 1 unknown, counted as missed; 18 still pending, "
        "2 of them failed already; 1 excluded"
    )
    assert found(Counts(pending=20)).sentence == "no window was judged in this period yet; 20 still pending"


def test_days_are_written_as_people_do() -> None:
    assert days(["2026-12-02", "2026-11-30", "2026-11-30T06:00+00:00"]) == "30 Nov and 2 Dec"
    assert days([f"2026-11-{day:02}" for day in range(1, 10)]) == "1, 2, 3, 4, 5, 6 Nov and 3 more days"


def test_shares_are_never_rounded_up() -> None:
    assert percent(Fraction(999_999_999, 1_000_000_000)) == "99.9999 %"
    assert percent(Fraction(1)) == "100 %"
    assert percent(Fraction("0.9995")) == "99.95 %"


def test_counts_of_periods_add_up() -> None:
    one, two = Counts(1, 2, 3, 4, 5, 6, 7), Counts(10, 20, 30, 40, 50, 60, 70)
    assert one + two == Counts(11, 22, 33, 44, 55, 66, 77)
