"""What comes of a window: a miss without an event, a late success, late proof, no data."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from gates.slo.definition import Definition
from gates.slo.exclusions import Exclusion, excluding, overlap, planned_exclusions
from gates.slo.heartbeats import Heartbeat, coverage
from gates.slo.windows import EvidenceItem, WindowOutcome, judge
from tests.gates.slo.definitions import make_slo, make_window, utc

WINDOW = make_window("2026-11-03T14:00")
DEADLINE = WINDOW.deadline_utc
JUDGED = DEADLINE + timedelta(minutes=30)
SETTLED = JUDGED + timedelta(days=2)
MINUTE = timedelta(minutes=1)

ALIVE = coverage([Heartbeat(WINDOW.opens_at, 12 * 3600)], WINDOW.opens_at, JUDGED)
DEAD = coverage([Heartbeat(WINDOW.opens_at, 3600)], WINDOW.opens_at, JUDGED)
UNKNOWN, BREACH, EXCLUDE = (make_slo(onMissing=each) for each in ("unknown", "breach", "exclude"))


def item(at: datetime, recorded_at: datetime | None = None, **others: Any) -> EvidenceItem:
    values: dict[str, Any] = {"good": True, "record": f"sha256:{at.isoformat()}", "run_id": "run"} | others
    return EvidenceItem(at, recorded_at or at, **values)


def outcome(
    *evidence: EvidenceItem,
    now: datetime = SETTLED,
    definition: Definition = UNKNOWN,
    life: Any = DEAD,
    exclusions: Any = (),
) -> WindowOutcome:
    return judge(WINDOW, definition, evidence, life, exclusions, now)


def said(found: WindowOutcome) -> tuple[str, str | None, str | None]:
    return found.status, found.reason, found.cause


def test_a_success_by_the_deadline_meets_it() -> None:
    found = outcome(item(DEADLINE), now=DEADLINE)
    assert said(found) == ("met", None, None)
    assert (found.lateness_s, found.run_ids, len(found.evidence)) == (0, ("run",), 1)


def test_a_success_within_grace_is_told_apart() -> None:
    found = outcome(item(JUDGED), now=JUDGED)
    assert (said(found), found.lateness_s) == (("met_in_grace", None, None), 1800)


def test_a_late_success_stays_a_miss_with_its_lateness() -> None:
    found = outcome(item(DEADLINE + 31 * MINUTE), now=DEADLINE + 31 * MINUTE, life=ALIVE)
    assert (said(found), found.lateness_s) == (("breached", "late", None), 31 * 60)


def test_late_proof_of_a_timely_success_meets_it() -> None:
    found = outcome(item(DEADLINE - MINUTE, SETTLED), life=ALIVE)
    assert said(found) == ("met", None, "late_evidence")
    assert said(outcome(item(DEADLINE - MINUTE, JUDGED), life=ALIVE)) == ("met", None, None)
    # Before it was received nobody knew.
    assert said(outcome(item(DEADLINE - MINUTE, SETTLED), life=ALIVE, now=SETTLED - MINUTE)) == (
        "breached",
        "never",
        "no_evidence",
    )


def test_a_run_that_never_starts_is_a_miss_when_its_source_lived() -> None:
    assert outcome(now=JUDGED - MINUTE, life=ALIVE).status == "pending"
    for definition in (UNKNOWN, BREACH, EXCLUDE):
        assert said(outcome(now=JUDGED, life=ALIVE, definition=definition)) == (
            "breached",
            "never",
            "no_evidence",
        )


@pytest.mark.parametrize("life", [DEAD, None])
def test_a_dead_source_leaves_the_word_to_the_definition(life: Any) -> None:
    not_proven = "source_not_proven"
    assert said(outcome(now=JUDGED, life=life)) == ("unknown", None, not_proven)
    assert said(outcome(now=SETTLED - MINUTE, life=life)) == ("unknown", None, not_proven)
    assert said(outcome(now=SETTLED, life=life)) == ("breached", "unresolved", not_proven)
    assert said(outcome(now=JUDGED, life=life, definition=BREACH)) == ("breached", "never", not_proven)
    assert said(outcome(now=JUDGED, life=life, definition=EXCLUDE)) == ("excluded", None, not_proven)


def test_a_failed_last_attempt_is_foreseen_and_then_a_miss() -> None:
    failed = item(DEADLINE - 60 * MINUTE, good=False, final=True)
    before = outcome(failed, now=DEADLINE - 50 * MINUTE)
    assert (before.status, before.predicted) == ("pending", True)
    assert said(outcome(failed, now=JUDGED)) == ("breached", "failed", None)
    # Somebody starts it once more.
    assert said(outcome(failed, item(DEADLINE - MINUTE), now=JUDGED)) == ("met", None, None)


def test_an_attempt_that_still_runs_is_late_not_unknown() -> None:
    running = item(DEADLINE - 60 * MINUTE, good=False)
    before = outcome(running, now=DEADLINE)
    assert (before.status, before.predicted) == ("pending", False)
    assert said(outcome(running, now=JUDGED)) == ("breached", "late", "in_progress")


def test_a_success_above_the_limit_or_without_a_measure_is_none() -> None:
    definition = make_slo(
        objective="duration", evidence="{event: run.completed, job: train}", limits="{maxDuration: PT6H}"
    )
    for measured, expected in (
        (6 * 3600, ("met", None, None)),
        (6 * 3600 + 1, ("breached", "failed", "over_limit")),
        (None, ("breached", "failed", "over_limit")),
    ):
        assert said(outcome(item(DEADLINE, measured=measured), definition=definition)) == expected


def test_a_success_from_before_its_data_was_complete_is_named_and_counts_for_nothing() -> None:
    complete = WINDOW.data_interval.end
    early = item(complete - MINUTE)
    assert said(outcome(early, now=JUDGED, definition=BREACH)) == ("breached", "never", "before_its_data")
    assert said(outcome(early, now=JUDGED)) == ("unknown", None, "before_its_data")
    assert outcome(early, now=JUDGED).run_ids == ("run",)
    assert outcome(early, now=JUDGED - MINUTE).status == "pending"
    assert said(outcome(item(complete), now=JUDGED)) == ("met", None, None)
    failed = item(complete + MINUTE, good=False, final=True)
    assert said(outcome(early, failed, now=JUDGED)) == ("breached", "failed", None)


def test_what_is_excluded_counts_neither_way() -> None:
    outage = Exclusion(
        "outage", "power", SETTLED, DEADLINE - MINUTE, DEADLINE, approver="joan", retroactive=True
    )
    for evidence in ((), (item(DEADLINE),)):
        assert said(outcome(*evidence, exclusions=[outage])) == ("excluded", None, "exclusion:outage")
        # Not before it was recorded.
        assert outcome(*evidence, exclusions=[outage], now=SETTLED - MINUTE).status != "excluded"


@pytest.mark.parametrize(
    ("start", "end", "taken_out"),
    [
        (DEADLINE, DEADLINE + MINUTE, True),
        (DEADLINE + MINUTE, DEADLINE + 2 * MINUTE, False),
        (WINDOW.opens_at - MINUTE, WINDOW.opens_at, False),
        (WINDOW.opens_at - MINUTE, WINDOW.opens_at + MINUTE, True),
    ],
)
def test_a_span_takes_out_the_windows_it_touches(start: datetime, end: datetime, taken_out: bool) -> None:
    exclusion = Exclusion("outage", "power", WINDOW.opens_at, start, end)
    assert (excluding([exclusion], WINDOW, SETTLED) is not None) is taken_out


def test_a_window_is_taken_out_by_its_name() -> None:
    named = Exclusion("one", "power", DEADLINE, windows=(WINDOW.id,))
    other = Exclusion("other", "power", DEADLINE, windows=("data/2026-11-04",))
    assert excluding([other, named], WINDOW, SETTLED) == named
    assert excluding([other], WINDOW, SETTLED) is None
    # Half a span is none.
    assert excluding([Exclusion("open", "r", DEADLINE, start=WINDOW.opens_at)], WINDOW, SETTLED) is None
    assert excluding([Exclusion("open", "r", DEADLINE, end=SETTLED)], WINDOW, SETTLED) is None
    # Of several the one that was recorded first gives the reason.
    assert excluding([Exclusion("late", "r", SETTLED, windows=(WINDOW.id,)), named], WINDOW, SETTLED) == named


def test_an_author_excludes_only_what_is_still_to_open() -> None:
    definition = make_slo(
        exclusions="[{id: freeze, from: 2026-11-03T00:00:00Z, to: 2026-11-04T00:00:00Z, reason: freeze}]"
    )
    ahead = planned_exclusions(definition, WINDOW.opens_at)
    afterwards = planned_exclusions(definition, WINDOW.opens_at + MINUTE)
    assert excluding(ahead, WINDOW, SETTLED) == ahead[0]
    assert excluding(afterwards, WINDOW, SETTLED) is None


def test_two_exclusions_of_one_window_or_time_are_found() -> None:
    day = Exclusion("day", "r", SETTLED, utc("2026-11-03"), utc("2026-11-04"))
    named = Exclusion("named", "r", SETTLED, windows=("data/2026-11-03",))
    assert (
        overlap(Exclusion("a", "r", SETTLED, utc("2026-11-03T23:59"), utc("2026-11-05")), [named, day]) == day
    )
    assert overlap(Exclusion("b", "r", SETTLED, utc("2026-11-04"), utc("2026-11-05")), [named, day]) is None
    assert overlap(Exclusion("d", "r", SETTLED, utc("2026-11-02"), utc("2026-11-03")), [named, day]) is None
    assert overlap(Exclusion("e", "r", SETTLED, windows=("data/2026-11-02",)), [named, day]) is None
    assert (
        overlap(Exclusion("c", "r", SETTLED, windows=("data/2026-11-02", "data/2026-11-03")), [day, named])
        == named
    )
