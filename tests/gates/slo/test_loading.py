"""Definitions as their authors write them."""

import json
from datetime import date, time, timedelta
from fractions import Fraction

from gates.slo.definition import Override
from gates.slo.loading import definition_digests, load_slo
from shipworthy.formats.digests import sha256_digest
from tests.gates.slo.definitions import make_slo, slo_text
from tests.gates.slo.telling import as_json, the_problem


def test_a_definition_is_read_as_it_is_written() -> None:
    definition = make_slo(
        expect='{schedule: monthly_business_day(-2), timeZone: America/New_York, opens: "08:00", by: "12:30:00", '
        'calendars: ["NO", "US-NY"], covers: P1D, overrides: {"2026-11-27": skip, "2026-12-24": "13:00"}, '
        "dst: {gap: skip, fold: last}}",
        maxMisses="1",
        starts='"2026-11-01"',
        backfilled="true",
        exclusions="[{id: freeze, from: 2026-12-24T00:00:00-05:00, to: 2026-12-27T00:00:00Z, reason: Year end}]",
    )
    assert (definition.name, definition.kind, definition.service, definition.team) == (
        "data", "SLO", "fraud", "risk-data",
    )  # fmt: skip
    assert (definition.target, definition.max_misses, definition.on_missing) == (
        Fraction(19, 20),
        1,
        "unknown",
    )
    assert (definition.grace, definition.settle) == (timedelta(minutes=30), timedelta(days=2))
    expect = definition.expect
    assert expect is not None
    assert (expect.scheduled, expect.business_day, expect.opens, expect.by) == (
        "monthly_business_day", -2, time(8), time(12, 30),
    )  # fmt: skip
    assert (expect.calendars, expect.gap, expect.fold) == (("NO", "US-NY"), "skip", "last")
    assert expect.overrides == {
        date(2026, 11, 27): Override("skip"),
        date(2026, 12, 24): Override("by", time(13)),
    }
    assert definition.evidence.bound_by == "data-interval"
    assert definition.evidence.level == "trusted_runner"
    assert (definition.starts, definition.backfilled, definition.source) == (
        date(2026, 11, 1),
        True,
        "ingest",
    )
    assert definition.exclusions[0].start.isoformat() == "2026-12-24T05:00:00+00:00"
    assert definition.period.name == "calendar month"
    assert definition.layer == "data"


def test_a_definition_has_a_digest_of_its_bytes_and_one_of_its_document() -> None:
    data = slo_text()
    first, second = load_slo(data), load_slo(data.replace(b"target: 0.95", b"target:  0.950"))
    assert first.digest == sha256_digest(data)
    assert definition_digests(data) == (first.digest, first.document_digest)
    assert (first.digest == second.digest, first.document_digest == second.document_digest) == (False, True)
    assert load_slo(json.dumps(as_json()).encode(), "json").document_digest == first.document_digest


def test_a_target_may_be_a_percentage() -> None:
    assert make_slo(objectives="[{targetPercent: 99.95}]").target == Fraction(9995, 10000)


def test_grace_is_none_and_settling_takes_two_days_unless_written() -> None:
    definition = make_slo(grace=None, settle=None)
    assert (definition.grace, definition.settle) == (timedelta(0), timedelta(days=2))


# What issue 7 lists as bad input.


def test_an_invariant_allows_nothing() -> None:
    text = """\
apiVersion: shipworthy/v1
kind: Invariant
metadata: {name: validated, labels: {team: ml}}
spec:
  service: releases
  timeWindow: [{duration: 30d, isRolling: true}]
  metricSource:
    type: training-windows
    spec: {objective: ratio, evidence: {event: model.registered}, onMissing: breach}
"""
    assert load_slo(text.encode()).target == 1
    misses = the_problem(text.replace("onMissing: breach", "onMissing: breach, maxMisses: 1").encode())
    assert "allows no miss" in misses[2]
    targeted = the_problem((text + "  objectives: [{target: 0.99}]\n").encode())
    assert targeted[0] == 10
    assert "remove objectives" in targeted[2]
