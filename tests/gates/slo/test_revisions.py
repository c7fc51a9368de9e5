"""The ledger of outcomes: nothing is taken back, every change has its cause."""

from datetime import datetime, timedelta

from gates.slo.exclusions import Exclusion
from gates.slo.revisions import Settled, settle
from gates.slo.windows import EvidenceItem
from tests.gates.slo.test_windows import ALIVE, DEAD, DEADLINE, JUDGED, MINUTE, SETTLED, UNKNOWN, WINDOW, item

HOUR = timedelta(hours=1)


def history(moments: list[datetime], evidence: list[EvidenceItem], alive: bool = False) -> list[Settled]:
    """The revisions that a tick at each of these moments makes, of what had been received by then."""
    found: list[Settled] = []
    for now in moments:
        life = ALIVE if alive else DEAD
        known = [each for each in evidence if each.recorded_at <= now]
        revision = settle(found[-1] if found else None, WINDOW, UNKNOWN, known, life, (), now)
        if revision is not None:
            found.append(revision)
    return found


def told(revisions: list[Settled]) -> list[tuple[int, str, str | None, bool]]:
    return [(each.revision, each.outcome.status, each.outcome.reason, each.restatement) for each in revisions]


def test_a_pending_window_has_no_revision() -> None:
    assert history([DEADLINE, JUDGED - MINUTE], []) == []


def test_a_success_is_settled_when_it_is_known_and_not_again() -> None:
    found = history([DEADLINE - HOUR, DEADLINE, JUDGED, SETTLED], [item(DEADLINE - HOUR)])
    assert told(found) == [(1, "met", None, False)]
    assert found[0].settled_at == DEADLINE - HOUR


def test_a_late_success_does_not_erase_the_miss() -> None:
    found = history([JUDGED, JUDGED + HOUR], [item(JUDGED + HOUR)], alive=True)
    assert told(found) == [(1, "breached", "never", False), (2, "breached", "late", False)]
    assert found[1].outcome.lateness_s == 5400


def test_an_unknown_window_counts_as_bad_when_it_is_settled_which_restates_nothing() -> None:
    found = history([JUDGED, JUDGED + HOUR, SETTLED, SETTLED + HOUR], [])
    assert told(found) == [(1, "unknown", None, False), (2, "breached", "unresolved", False)]


def test_late_proof_after_the_settling_time_is_a_restatement() -> None:
    late = item(DEADLINE - HOUR, SETTLED + HOUR)
    found = history([JUDGED, SETTLED, SETTLED + HOUR], [late])
    assert told(found)[-1] == (3, "met", None, True)
    assert found[-1].outcome.cause == "late_evidence"
    earlier = history([JUDGED, JUDGED + HOUR], [item(DEADLINE - HOUR, JUDGED + HOUR)])
    assert told(earlier)[-1] == (2, "met", None, False)


def test_a_clock_that_jumps_back_takes_nothing_back() -> None:
    jumps = history([SETTLED, DEADLINE - HOUR, JUDGED, SETTLED], [])
    assert told(jumps) == [(1, "breached", "unresolved", False)]


def test_a_clock_that_jumps_ahead_is_followed_by_what_was_true() -> None:
    """The window was judged before its time; the success that came in time still counts."""
    found = history([SETTLED, DEADLINE], [item(DEADLINE - MINUTE)])
    assert told(found) == [(1, "met", None, False)]
    first = settle(None, WINDOW, UNKNOWN, (), DEAD, (), SETTLED)
    assert first is not None
    second = settle(first, WINDOW, UNKNOWN, [item(DEADLINE - MINUTE)], DEAD, (), DEADLINE)
    assert second is not None
    assert (second.revision, second.outcome.status, second.settled_at) == (2, "met", SETTLED)


def test_another_reason_to_exclude_a_window_is_a_revision_and_the_same_one_is_none() -> None:
    first_reason = Exclusion("first", "r", JUDGED, windows=(WINDOW.id,))
    earlier = Exclusion("earlier", "r", JUDGED - HOUR, windows=(WINDOW.id,))
    first = settle(None, WINDOW, UNKNOWN, (), DEAD, [first_reason], JUDGED)
    assert first is not None
    assert first.outcome.cause == "exclusion:first"
    assert settle(first, WINDOW, UNKNOWN, (), DEAD, [first_reason], SETTLED) is None
    second = settle(first, WINDOW, UNKNOWN, (), DEAD, [first_reason, earlier], SETTLED - MINUTE)
    assert second is not None
    assert (second.revision, second.outcome.cause, second.restatement) == (2, "exclusion:earlier", False)
    third = settle(first, WINDOW, UNKNOWN, (), DEAD, [first_reason, earlier], SETTLED)
    assert third is not None
    assert third.restatement
