"""The report as JSON."""

import json
from datetime import timedelta
from typing import Any

from gates.slo.counts import Counts
from gates.slo.exclusions import Exclusion
from gates.slo.periods import period_at
from gates.slo.report import (
    Correction,
    ReportedSlo,
    ReportedSource,
    ReportedWindow,
    report_json,
)
from gates.slo.schedules import Interval
from gates.slo.status import status
from tests.gates.slo.definitions import make_slo, make_window, utc

NOW = utc("2026-11-30T02:00")


def reported(counts: Counts) -> ReportedSlo:
    definition = make_slo(maxMisses="1")
    window = make_window()
    common = (window.id, window.opens_at, window.deadline_utc, window.deadline_local)
    return ReportedSlo(
        definition,
        3,
        period_at(definition.period, NOW),
        False,
        counts,
        status(counts, definition, period_closed=False, evaluated_recently=True),
        NOW,
        [ReportedSource("ingest", False, None, (Interval(NOW - timedelta(hours=1), NOW),))],
        [
            ReportedWindow(
                *common, "breached", "late", 2, 60.0, None, ("sha256:a",), ("run-1",), backfilled=True
            ),
            ReportedWindow(*common, "pending"),
        ],
        [Exclusion("outage", "power", NOW, windows=(window.id,), approver="joan", retroactive=True)],
        [Correction(window.id, 2, "unknown", "breached", None, NOW)],
    )


def test_the_report_says_all_that_the_page_needs() -> None:
    slo = reported(Counts(good=18, bad=1, unknown=1, pending=1, met_in_grace=2, excluded=1))
    found: dict[str, Any] = dict(
        report_json([slo], generated_at=NOW, as_of=NOW, version="0.1.0", commit=None)
    )
    assert json.loads(json.dumps(found)) == found
    assert set(found) == {"schema", "generated_at", "as_of", "evaluated_by", "tzdata", "slos"}
    (entry,) = found["slos"]
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
    late, pending = entry["windows"]
    assert (late["layer"], late["backfilled"], late["lateness_s"]) == ("data", True, 60.0)
    assert (pending["layer"], pending["revision"]) == (None, 0)


def test_promises_stand_in_order_of_name_and_none_is_left_out() -> None:
    empty = reported(Counts())
    found: dict[str, Any] = dict(
        report_json([empty, empty], generated_at=NOW, as_of=NOW, version="0.1.0", commit="abc")
    )
    assert [(each["status"], each["sli_low"]) for each in found["slos"]] == [("no_data", None)] * 2
