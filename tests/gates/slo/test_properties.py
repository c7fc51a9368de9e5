"""What holds for evidence that nobody thought of."""

import random
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from gates.slo.counts import Counts
from gates.slo.definition import Definition
from gates.slo.exclusions import Exclusion
from gates.slo.heartbeats import Heartbeat, HeartbeatCoverage, coverage
from gates.slo.revisions import Settled, settle
from gates.slo.schedules import windows
from gates.slo.status import status
from gates.slo.windows import EvidenceItem, WindowOutcome, judge
from gates.slo.zones import zone, zone_names
from tests.gates.slo.definitions import make_schedule, make_slo, make_window

WINDOW = make_window()
DEADLINE = WINDOW.deadline_utc
MINUTE = timedelta(minutes=1)
DEFINITIONS = [make_slo(onMissing=each) for each in ("unknown", "breach", "exclude")]
JUDGED = DEADLINE + DEFINITIONS[0].grace
RANK = {"met": 0, "met_in_grace": 1, "excluded": 2, "pending": 2, "unknown": 3, "breached": 4}
"""Of a window, best first. A pending one may still be met, an excluded one takes no part."""
STATES = {"met": 0, "on_track": 0, "at_risk": 1, "unknown": 2, "no_data": 3, "breached": 4}
"""Of a promise, best first."""

instants = st.integers(-700, 6 * 1440).map(lambda minutes: DEADLINE + MINUTE * minutes)


@st.composite
def items(draw: st.DrawFn) -> EvidenceItem:
    at = draw(instants)
    received = at + MINUTE * draw(st.integers(0, 3000))
    good = draw(st.booleans())
    number = draw(st.integers(0, 10**6))
    return EvidenceItem(
        at, received, good, f"sha256:{number:064x}", not good and draw(st.booleans()), f"r{number % 3}"
    )


evidence = st.lists(items(), max_size=6)
lives = st.sampled_from(
    [
        None,
        coverage([Heartbeat(WINDOW.opens_at, 12 * 3600)], WINDOW.opens_at, JUDGED),
        coverage([], WINDOW.opens_at, JUDGED),
    ]
)
definitions = st.sampled_from(DEFINITIONS)
timely = st.builds(
    lambda early, wait, number: EvidenceItem(
        JUDGED - MINUTE * early,
        JUDGED - MINUTE * early + MINUTE * wait,
        True,
        f"sha256:{number:064x}",
        run_id="good",
    ),
    # The window opens 570 minutes before: what is older than its data is no success.
    st.integers(0, 570),
    st.integers(0, 9000),
    st.integers(10**6, 10**7),
)


@settings(max_examples=200, deadline=None)
@given(definitions, evidence, timely, lives, instants)
def test_more_good_evidence_never_worsens_a_window(
    definition: Definition,
    known: list[EvidenceItem],
    more: EvidenceItem,
    life: HeartbeatCoverage | None,
    now: datetime,
) -> None:
    before = judge(WINDOW, definition, known, life, (), now)
    after = judge(WINDOW, definition, [*known, more], life, (), now)
    assert RANK[after.status] <= RANK[before.status]
    if more.recorded_at <= now:
        assert after.status in ("met", "met_in_grace")


@settings(max_examples=100, deadline=None)
@given(definitions, evidence, st.integers(1, 5000), lives, instants)
def test_a_success_from_before_the_windows_data_changes_no_status(
    definition: Definition,
    known: list[EvidenceItem],
    early: int,
    life: HeartbeatCoverage | None,
    now: datetime,
) -> None:
    at = WINDOW.data_interval.end - MINUTE * early
    before = judge(WINDOW, definition, known, life, (), now)
    after = judge(WINDOW, definition, [*known, EvidenceItem(at, at, True, "sha256:early")], life, (), now)
    assert (after.status, after.reason, after.predicted) == (before.status, before.reason, before.predicted)


@settings(max_examples=100, deadline=None)
@given(definitions, evidence, instants, lives, instants)
def test_a_late_success_makes_nothing_met(
    definition: Definition,
    known: list[EvidenceItem],
    at: datetime,
    life: HeartbeatCoverage | None,
    now: datetime,
) -> None:
    late = EvidenceItem(max(at, JUDGED + MINUTE), max(at, JUDGED + MINUTE), True, "sha256:late")
    before = judge(WINDOW, definition, known, life, (), now)
    after = judge(WINDOW, definition, [*known, late], life, (), now)
    in_time = ("met", "met_in_grace")
    assert (after.status in in_time) == (before.status in in_time)


@settings(max_examples=100, deadline=None)
@given(definitions, evidence, lives, instants, st.randoms(use_true_random=False))
def test_order_and_repetition_of_evidence_are_irrelevant(
    definition: Definition,
    known: list[EvidenceItem],
    life: HeartbeatCoverage | None,
    now: datetime,
    shuffler: random.Random,
) -> None:
    shuffled = [*known, *known[:2]]
    shuffler.shuffle(shuffled)
    assert judge(WINDOW, definition, shuffled, life, (), now) == judge(
        WINDOW, definition, known, life, (), now
    )


def history(
    definition: Definition,
    moments: list[datetime],
    known: list[EvidenceItem],
    life: HeartbeatCoverage | None,
    exclusions: list[Exclusion],
) -> list[Settled]:
    found: list[Settled] = []
    for now in moments:
        received = [each for each in known if each.recorded_at <= now]
        recorded = [each for each in exclusions if each.recorded_at <= now]
        last = found[-1] if found else None
        revision = settle(last, WINDOW, definition, received, life, recorded, now)
        if revision is not None:
            found.append(revision)
    return found


@settings(max_examples=100, deadline=None)
@given(
    definitions,
    evidence,
    lives,
    st.lists(instants, min_size=1, max_size=8),
    st.one_of(st.none(), instants),
    st.randoms(use_true_random=False),
)
def test_replaying_gives_the_same_revision_history(
    definition: Definition,
    known: list[EvidenceItem],
    life: HeartbeatCoverage | None,
    moments: list[datetime],
    excluded_at: datetime | None,
    shuffler: random.Random,
) -> None:
    """From the same facts, in whatever order they are read back, and with all that came later there already."""
    exclusions = [] if excluded_at is None else [Exclusion("e", "r", excluded_at, windows=(WINDOW.id,))]
    first = history(definition, sorted(moments), known, life, exclusions)
    again = list(known)
    shuffler.shuffle(again)
    assert history(definition, sorted(moments), again, life, exclusions) == first
    replayed: list[Settled] = []
    for now in sorted(moments):
        last = replayed[-1] if replayed else None
        revision = settle(last, WINDOW, definition, again, life, exclusions, now)
        if revision is not None:
            replayed.append(revision)
    assert replayed == first
    assert [each.revision for each in first] == list(range(1, len(first) + 1))


@settings(max_examples=100, deadline=None)
@given(definitions, evidence, lives, st.lists(instants, min_size=1, max_size=8))
def test_a_clock_that_jumps_makes_no_window_pending_again_and_ends_at_the_truth(
    definition: Definition,
    known: list[EvidenceItem],
    life: HeartbeatCoverage | None,
    moments: list[datetime],
) -> None:
    end = max([*moments, *(each.recorded_at for each in known)])
    found = history(definition, [*moments, end], known, life, [])
    assert all(each.outcome.status != "pending" for each in found)
    truth: WindowOutcome = judge(WINDOW, definition, known, life, (), end)
    if found:
        last = found[-1].outcome
        assert (last.status, last.reason, last.lateness_s) == (truth.status, truth.reason, truth.lateness_s)
    else:
        assert truth.status == "pending"


counts = st.builds(
    lambda good, bad, unknown, pending, failed: Counts(good, bad, unknown, pending, min(failed, pending)),
    *[st.integers(0, 40)] * 5,
)
promises = st.sampled_from([make_slo(), make_slo(maxMisses="1"), make_slo(objectives="[{target: 0.5}]")])


@settings(max_examples=300, deadline=None)
@given(counts, promises, st.booleans(), st.sampled_from(["bad", "unknown", "pending", "predicted"]))
def test_more_good_evidence_never_worsens_a_promise(
    before: Counts, definition: Definition, closed: bool, was: str
) -> None:
    """A window that was missed, unknown or pending turns out to be good."""
    if not getattr(before, was):
        return
    better = replace(before, good=before.good + 1)
    if was == "predicted":
        after = replace(better, pending=before.pending - 1, predicted=before.predicted - 1)
    elif was == "pending":
        left = before.pending - 1
        after = replace(better, pending=left, predicted=min(before.predicted, left))
    else:
        after = replace(better, **{was: getattr(before, was) - 1})
    one, two = (
        status(each, definition, period_closed=closed, evaluated_recently=True) for each in (before, after)
    )
    assert STATES[two.state] <= STATES[one.state]
    assert two.low is not None
    assert one.low is None or two.low >= one.low
    assert two.budget.remaining >= one.budget.remaining


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(sorted(zone_names())),
    st.dates(date(1975, 1, 1), date(2036, 12, 1)),
    st.sampled_from(["00:00", "01:30", "02:30", "23:45"]),
    st.sampled_from(["00:30", "02:15", "03:00", "12:00"]),
    st.sampled_from(["first", "last"]),
)
def test_windows_of_any_zone_and_time_follow_one_another(
    name: str, begin: date, opens: str, by: str, fold: str
) -> None:
    definition = make_schedule(
        f'{{schedule: weekly, weekdays: [mon, tue, wed, thu, fri, sat, sun], timeZone: "{name}", opens: "{opens}", '
        f'by: "{by}", dst: {{fold: {fold}}}}}'
    )
    start = datetime(begin.year, begin.month, begin.day, tzinfo=UTC)
    found = list(windows(definition, start, start + timedelta(days=370)))
    assert len({window.id for window in found}) == len(found) >= 368
    for before, after in pairwise(found):
        assert before.opens_at <= after.opens_at
        assert after.data_interval.start == before.opens_at
    for window in found:
        # A day may have some hours more or fewer, and Samoa, Kwajalein and others once left one out.
        assert timedelta(0) <= window.deadline_utc - window.opens_at <= timedelta(hours=49)
        local = window.deadline_utc.astimezone(zone(name))
        assert window.deadline_local.startswith(local.date().isoformat())
