"""A contract check as a page shows it: the verdict first, then what to do, then every check, worst first.

Pure over what is stored: the state of the work and, once there is one, the body of the result's record.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from api.web import links
from api.web.histograms import lay_out
from api.web.verdicts import CheckLine, CheckRun, Verdict, verdict_of_result, verdict_without_result
from api.web.words import OUTCOMES, Word, bytes_in_words, check_in_words
from shipworthy.formats.times import parse_instant

_SEVERITIES: Final = ("error", "warning", "info")
_SIGNIFICANT: Final = 6


@dataclass(frozen=True, slots=True)
class CountOfOutcome:
    word: Word
    count: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the answer rests on: `value` can be copied, `href` leads to it where it can be read."""

    label: str
    value: str
    href: str | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class CheckView:
    verdict: Verdict
    counts: tuple[CountOfOutcome, ...] = ()
    groups: tuple[tuple[Word, tuple[CheckLine, ...]], ...] = ()
    evidence: tuple[Evidence, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    not_listed: int = 0
    total: int = 0


def view(run: CheckRun, outcome: str | None = None) -> CheckView:
    """The page of a check; `outcome` keeps the checks with that outcome only, counts stay those of all."""
    if run.result is None:
        return CheckView(verdict_without_result(run), evidence=_evidence(run))
    result = run.result
    lines = sorted(map(_line, result["checks"]), key=_worst_first)
    counts = tuple(CountOfOutcome(word, result["counts"][word.code]) for word in OUTCOMES.values())
    total = sum(each.count for each in counts)
    groups = tuple(
        (word, tuple(line for line in lines if line.word is word))
        for word in OUTCOMES.values()
        if outcome in (None, word.code)
    )
    return CheckView(
        verdict=verdict_of_result(run, result, lines),
        counts=counts,
        groups=tuple(group for group in groups if group[1]),
        evidence=_evidence(run),
        facts=_facts(run, result),
        not_listed=total - len(lines),
        total=total,
    )


def _line(check: Mapping[str, Any]) -> CheckLine:
    columns = check.get("columns") or ([check["column"]] if check.get("column") else [])
    return CheckLine(
        id=check["id"],
        type=check["type"],
        word=OUTCOMES[check["outcome"]],
        subject=", ".join(columns),
        what=check_in_words(check["type"]),
        observed=_observed(check),
        bound=check.get("bound") or None,
        rows=check.get("rows"),
        unexpected=check.get("unexpected"),
        nulls=check.get("nulls"),
        reason=check.get("reason"),
        severity=check.get("severity", "error"),
        blocking=check["blocking"],
        dimension=check.get("dimension"),
        rule=check.get("rule"),
        histograms=lay_out(check.get("histogram")),
    )


def _worst_first(line: CheckLine) -> tuple[int, bool, int, str, str]:
    place = list(OUTCOMES).index(line.word.code)
    return place, not line.blocking, _SEVERITIES.index(line.severity), line.subject, line.id


def _observed(check: Mapping[str, Any]) -> str | None:
    """In the unit of its bound."""
    observed = _value(check.get("observed"))
    in_percent = observed is not None and str(check.get("bound") or "").rstrip().endswith("%")
    return f"{observed}\N{NO-BREAK SPACE}%" if in_percent else observed


def _value(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.{_SIGNIFICANT}g}" if isinstance(value, float) else str(value)


def _evidence(run: CheckRun) -> tuple[Evidence, ...]:
    version = links.contract_version(run.contract, run.version)
    evidence = [Evidence("Contract", f"{run.contract} version {run.version}", version)]
    result = run.result
    if result is not None:
        contract, data = result["contract"], result["data"]
        evidence += [
            Evidence("Contract’s bytes", contract["digest"], links.blob(contract["digest"])),
            Evidence("Compiled suite", contract["suite_digest"], links.blob(contract["suite_digest"])),
        ]
        if result["baseline"] is not None:
            evidence.append(Evidence("Baseline", result["baseline"], links.baseline(result["baseline"])))
        evidence.append(
            Evidence("Data read", data["manifest"], links.search(data["manifest"]), "manifest digest")
        )
        if result.get("checks_blob") is not None:
            evidence.append(Evidence("All checks", result["checks_blob"], links.blob(result["checks_blob"])))
    if run.record is not None:
        evidence.append(Evidence("Record", run.record, links.record(run.record)))
    evidence += [
        Evidence(f"Revocation ({mark.effect})", mark.by, links.record(mark.by)) for mark in run.marks
    ]
    return (*evidence, Evidence("Check", run.id, None))


def _facts(run: CheckRun, result: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    data, engine = result["data"], result["engine"]
    started, completed = parse_instant(result["started_at"]), parse_instant(result["completed_at"])
    facts = [
        ("Data", run.data),
        ("Rows", "No value" if data.get("rows") is None else f"{data['rows']:,}"),
        ("Files", f"{data['files']:,}, {bytes_in_words(data['bytes'])}"),
        ("As of", result["as_of"]),
        ("Checked", f"{result['completed_at']}, took {(completed - started).total_seconds():.3g} s"),
        (
            "Engine",
            " ".join([engine["name"], *(f"{name} {text}" for name, text in engine["versions"].items())]),
        ),
    ]
    if run.table:
        facts.insert(1, ("Table", run.table))
    if run.evidence_level is not None:
        facts.append(("Evidence", run.evidence_level.replace("_", " ")))
    facts += [(f"Parameter {name}", str(value)) for name, value in run.parameters.items()]
    return tuple(facts)
