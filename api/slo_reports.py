"""The report in its renderings: JSON, a table, and gauges."""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from importlib.metadata import version
from typing import Any, Final

from gates.slo.counts import SLO_STATES
from gates.slo.periods import PeriodBounds
from gates.slo.report import (
    MOVING,
    ReportedSlo,
    ReportedSource,
    period_json,
    report_json,
    slo_json,
    source_json,
    time_json,
)
from models.slo.gauges import CheckpointGauge
from models.slo.judged import MAX_REMEMBERED
from models.slo.reporting import Reported

COLUMNS: Final = (
    "name",
    "version",
    "kind",
    "service",
    "team",
    "objective",
    "period_from",
    "period_to",
    "timezone",
    "closed",
    "status",
    "sli_low",
    "sli_high",
    "target",
    "coverage",
    "max_misses",
    "budget_total",
    "budget_used",
    "budget_remaining",
    "expected",
    "met",
    "met_in_grace",
    "breached",
    "unknown",
    "excluded",
    "pending",
    "last_evaluated_at",
    "sentence",
)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_HOLES: Final = re.compile("|".join(f'(?<="{name}":)null' for name in MOVING))
"""In the JSON of an entry. No text in it is taken for one: quotes are escaped there."""
_VERSION: Final = version("shipworthy-server")


def as_json(reported: Sequence[Reported], *, generated_at: datetime, as_of: datetime) -> str:
    """The windows are put in as the database gave them, and entries of which nothing changed as they were encoded
    before: taking all apart and together again would cost more than all the rest."""
    head = report_json(generated_at=generated_at, as_of=as_of, version=_VERSION, commit=None)
    listed = []
    for each in reported:
        first, second, third, fourth, last = _around_moving(each.slo)
        period = _period(each.bounds, each.slo.definition.period.name, each.slo.closed)
        at, sources = _time(each.last_evaluated_at), _sources(each.sources)
        listed.append(f"{first}{period}{second}{at}{third}{sources}{fourth}[{each.windows}]{last}")
    return f"{_encode(head)[:-2]}{','.join(listed)}]}}"


@lru_cache(maxsize=MAX_REMEMBERED)
def _around_moving(slo: ReportedSlo) -> list[str]:
    """The JSON of an entry before, between and behind what moves. An entry that did not change is the same object."""
    return _HOLES.split(_encode(slo_json(slo)))


@lru_cache(maxsize=1_000)
def _period(bounds: PeriodBounds, name: str, closed: bool) -> str:
    return _encode(period_json(name, bounds, closed=closed))


@lru_cache(maxsize=100)
def _time(when: datetime | None) -> str:
    return _encode(time_json(when))


@lru_cache(maxsize=1_000)
def _sources(sources: tuple[ReportedSource, ...]) -> str:
    return _encode([source_json(each) for each in sources])


def as_csv(reported: Sequence[Reported]) -> str:
    """One line an SLO; figures as JSON has them, and empty where it has null."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")  # RFC 4180
    writer.writerow(COLUMNS)
    for each in reported:
        slo = each.slo
        period = period_json(slo.definition.period.name, each.bounds, closed=slo.closed)
        row = _row(slo_json(slo, period=period, last_evaluated_at=time_json(each.last_evaluated_at)))
        writer.writerow([_cell(row[name]) for name in COLUMNS])
    return file.getvalue()


def _row(shown: Mapping[str, Any]) -> dict[str, Any]:
    period, budget, counts = shown["period"], shown["budget"], shown["counts"]
    return {
        **shown,
        **counts,
        "name": shown["definition"]["id"],
        "version": shown["definition"]["revision"],
        "period_from": period["from"],
        "period_to": period["to"],
        "timezone": period["timezone"],
        "closed": period["closed"],
        **{f"budget_{name}": value for name, value in budget.items()},
    }


def _cell(value: object) -> object:
    """A text that a spreadsheet would calculate is shown as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value


def as_gauges(
    namespaces: Mapping[str, Sequence[Reported]],
    deadlines: Mapping[tuple[str, str], datetime],
    checkpoints: Sequence[CheckpointGauge],
) -> str:
    """Prometheus' text format. `deadlines` are of the next window of each SLO that has one, by namespace and name."""
    lines = _Lines()
    reported = [(namespace, each) for namespace, listed in namespaces.items() for each in listed]
    slos = [(namespace, each.slo) for namespace, each in reported]
    lines.family("training_slo_status", "1 for the state that an SLO is in, 0 for all others.")
    for namespace, slo in slos:
        for state in SLO_STATES:
            labels = {"namespace": namespace, "slo": slo.definition.name, "status": state}
            lines.add(labels, int(slo.status.state == state))
    lines.family(
        "training_slo_budget_remaining_ratio", "Misses left of those allowed; negative when overspent."
    )
    for namespace, slo in slos:
        budget = slo.status.budget
        # Nothing is allowed: all is left until the first miss, then nothing is.
        ratio = float(budget.remaining / budget.total) if budget.total else float(budget.used == 0)
        lines.add({"namespace": namespace, "slo": slo.definition.name}, ratio)
    lines.family("training_slo_coverage_ratio", "Share of what was judged of which it is known how it went.")
    for namespace, slo in slos:
        if slo.status.coverage is not None:
            lines.add({"namespace": namespace, "slo": slo.definition.name}, float(slo.status.coverage))
    lines.family("training_window_deadline_timestamp_seconds", "Deadline of the next window that is pending.")
    for (namespace, name), deadline in deadlines.items():
        lines.add({"namespace": namespace, "slo": name}, deadline.timestamp())
    lines.family("training_slo_last_evaluation_timestamp_seconds", "When windows were judged last.")
    for namespace, each in reported:
        if each.last_evaluated_at is not None:
            labels = {"namespace": namespace, "slo": each.slo.definition.name}
            lines.add(labels, each.last_evaluated_at.timestamp())
    lines.family(
        "training_checkpoint_verified_exists",
        "Whether a live run has a checkpoint that is verified well enough.",
    )
    for gauge in checkpoints:
        lines.add(gauge.labels, int(gauge.age_seconds is not None))
    lines.family("training_checkpoint_verified_age_seconds", "Age of the training state of that checkpoint.")
    for gauge in checkpoints:
        if gauge.age_seconds is not None:
            lines.add(gauge.labels, gauge.age_seconds)
    return lines.text()


class _Lines:
    """Families of gauges, one after the other; one without a value is left out."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._head: list[str] = []
        self._name = ""

    def family(self, name: str, told: str) -> None:
        self._name, self._head = name, [f"# HELP {name} {told}", f"# TYPE {name} gauge"]

    def add(self, labels: Mapping[str, str], value: float) -> None:
        self._lines += self._head
        self._head = []
        listed = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
        self._lines.append(f"{self._name}{{{listed}}} {value!r}")

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self._lines)


def _escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
