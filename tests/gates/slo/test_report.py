"""The report as JSON."""

import json
from datetime import timedelta
from typing import Any

from gates.slo.counts import Counts
from gates.slo.exclusions import Exclusion
from gates.slo.periods import period_at
from gates.slo.report import (
    MOVING,
    Correction,
    ReportedSlo,
    ReportedSource,
    ReportedWindow,
    period_json,
    slo_json,
    source_json,
    time_json,
    window_json,
)
from gates.slo.schedules import Interval
from gates.slo.status import status
from tests.gates.slo.definitions import make_slo, make_window, utc

NOW = utc("2026-11-30T02:00")


def reported(counts: Counts) -> ReportedSlo:
    definition = make_slo(maxMisses="1")
    window = make_window()
    return ReportedSlo(
        definition,
        3,
        False,
        counts,
        status(counts, definition, period_closed=False, evaluated_recently=True),
        [Exclusion("outage", "power", NOW, windows=(window.id,), approver="joan", retroactive=True)],
        [Correction(window.id, 2, "unknown", "breached", None, NOW)],
    )


def test_an_entry_says_all_that_the_page_needs() -> None:
    slo = reported(Counts(good=18, bad=1, unknown=1, pending=1, met_in_grace=2, excluded=1))
    bounds = period_at(slo.definition.period, NOW)
    silent = ReportedSource("ingest", False, None, (Interval(NOW - timedelta(hours=1), NOW),))
    entry: dict[str, Any] = slo_json(
        slo,
        period=period_json(slo.definition.period.name, bounds, closed=False),
        last_evaluated_at=time_json(NOW),
        sources=[source_json(silent)],
        windows=[],
    )
    assert json.loads(json.dumps(entry)) == entry
    assert entry["definition"] == {"id": "data", "revision": 3, "digest": slo.definition.digest}
    assert entry["period"] == {
        "name": "calendar month",
        "from": "2026-11-01T04:00:00.000Z",
        "to": "2026-12-01T05:00:00.000Z",
        "timezone": "America/New_York",
        "closed": False,
    }
    assert entry["counts"] == {
        "expected": 22,
        "met": 16,
        "met_in_grace": 2,
        "breached": 1,
        "unknown": 1,
        "excluded": 1,
        "pending": 1,
    }
    assert (entry["sli_low"], entry["sli_high"], entry["coverage"]) == (0.9, 20 / 21, 0.95)
    assert entry["budget"] == {"total": 1.0, "used": 2, "remaining": -1.0}
    assert (entry["burn"], entry["forecast"]) == (None, None)
    assert (entry["last_evaluated_at"], entry["sources"][0]["alive"]) == ("2026-11-30T02:00:00.000Z", False)


def test_what_moves_is_null_where_it_is_not_given() -> None:
    entry = slo_json(reported(Counts()))
    assert [entry[name] for name in MOVING] == [None] * 4
    assert (entry["status"], entry["sli_low"]) == ("no_data", None)


def test_a_window_names_the_layer_of_a_miss_only() -> None:
    window = make_window()
    common = (window.id, window.opens_at, window.deadline_utc, window.deadline_local)
    missed = ReportedWindow(
        *common, "breached", "late", 2, 60.0, None, ("sha256:a",), ("run-1",), backfilled=True
    )
    late, pending = (window_json(each, "data") for each in (missed, ReportedWindow(*common, "pending")))
    assert (late["layer"], late["backfilled"], late["lateness_s"]) == ("data", True, 60.0)
    assert (pending["layer"], pending["revision"]) == (None, 0)
