"""Runs the checks of a compiled suite on files that are open: every check that goes in comes out with an outcome.

The one call that a worker makes. It reads nothing but the given descriptors and keeps no value of the data.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeAlias

from gates.contracts.engine.duck import DuckDbEngine
from gates.contracts.engine.gx_values import LISTING, MOST_LISTED, NAN_SAFE, NULLS_TOO, columns_of
from gates.contracts.engine.implicit import SCHEMA_TYPE, implicit_checks
from gates.contracts.engine.measures.measure import Circumstances, Measure, Observed, Outcome, Verdict
from gates.contracts.engine.measures.registry import builder_for
from gates.contracts.engine.measures.structure import schema_matches
from gates.contracts.engine.measuring import measure
from gates.contracts.engine.opened import Format, Limits, OpenFile, Source
from gates.contracts.engine.refusals import CheckRefused, DataUnreadable
from gates.contracts.engine.results import check_result, counts, overall, rule_result
from gates.contracts.engine.sql_rules import judge_rule
from gates.contracts.engine.suite import Check, SuiteObject, suite_object, with_parameters
from gates.contracts.engine.table import Engine, Finding, Profile, Table, TableShape, ValueCheck
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import JsonValue
from shipworthy.formats.manifest import ManifestEntry, manifest_bytes

Progress: TypeAlias = Callable[[int, int, str], None]
_SQL_TYPE: Final = "expect_sql_result"


@dataclass(slots=True)
class _Plan:
    """Which way each check goes; those that are settled already have a verdict."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    measures: dict[str, Measure] = field(default_factory=dict)
    values: list[ValueCheck] = field(default_factory=list)
    queries: list[Check] = field(default_factory=list)
    columns: set[str] = field(default_factory=set)


def run_checks(
    suite: Mapping[str, Any],
    object: str,
    files: Sequence[OpenFile],
    format: Format,
    baseline: Mapping[str, Any] | None,
    parameters: Mapping[str, Any],
    as_of: datetime,
    limits: Limits,
    allow_sql: bool,
    progress: Progress,
    engine: Engine | None = None,
) -> dict[str, JsonValue]:
    """The result body's data, engine, outcome, counts and checks.

    `as_of` has a zone. `progress` gets checks done, checks in all, and what is being done. Raises KeyError when the
    suite lacks the object; data that can't be read makes every check `error`.
    """
    chosen = engine or DuckDbEngine()
    stated = suite_object(suite, object)
    total = len(stated.checks)
    progress(0, total, "reading the schema")
    shape: TableShape | None = None
    rows: int | None = None
    try:
        with chosen.open(Source(files, format, stated.columns), limits) as table:
            shape = table.shape
            checks = (*stated.checks, *implicit_checks(stated, shape))
            circumstances = Circumstances(shape, baseline, as_of)
            verdicts, rows = _judged(table, stated, checks, circumstances, parameters, allow_sql, progress)
    except (DataUnreadable, CheckRefused) as refused:
        checks = (*stated.checks, *implicit_checks(stated, shape))
        verdicts = {check.id: Verdict("error", refused.reason) for check in checks}
    lost = Verdict("error", "The engine gave no answer to this check.")
    results = [check_result(check, verdicts.get(check.id, lost)) for check in checks]
    results += [rule_result(rule) for rule in stated.not_evaluated]
    implicit = frozenset(check.id for check in checks if check.implicit)
    return {
        "data": _data(files, format, rows, shape),
        "engine": {"name": chosen.name, "versions": dict(chosen.versions())},
        "outcome": overall(results, implicit),
        "counts": counts(results),
        "checks": results,
    }


def _judged(
    table: Table,
    stated: SuiteObject,
    checks: Sequence[Check],
    circumstances: Circumstances,
    parameters: Mapping[str, Any],
    allow_sql: bool,
    progress: Progress,
) -> tuple[dict[str, Verdict], int]:
    plan = _planned(stated, checks, circumstances, parameters, allow_sql)
    progress(len(plan.verdicts), len(checks), "measuring columns")
    listed = {name for each in plan.values if each.type in LISTING for name in columns_of(dict(each.kwargs))}
    measured = measure(table, plan.measures, plan.columns, listed)
    rows = measured.profile.rows
    verdicts = {**plan.verdicts, **measured.verdicts}
    ready: list[ValueCheck] = []
    for check in plan.values:
        settled = _unanswerable(check, measured.profile)
        if settled is None:
            ready.append(check)
        else:
            verdicts[check.id] = settled
    progress(len(verdicts), len(checks), "checking values")
    findings = table.judge_values(ready, rows) if ready else {}
    for check in ready:
        if (finding := findings.get(check.id)) is not None:
            verdicts[check.id] = _from_finding(check, finding, measured.profile)
    # Last, so that nothing a contract's own query does comes before another check.
    for each in plan.queries:
        progress(len(verdicts), len(checks), "running the contract's queries")
        verdicts[each.id] = judge_rule(table, each.kwargs, stated.name, rows)
    progress(len(checks), len(checks), "done")
    return verdicts, rows


def _planned(
    stated: SuiteObject,
    checks: Sequence[Check],
    circumstances: Circumstances,
    parameters: Mapping[str, Any],
    allow_sql: bool,
) -> _Plan:
    plan = _Plan()
    for check in checks:
        try:
            kwargs = with_parameters(check.kwargs, parameters)
            if check.type == _SQL_TYPE:
                if allow_sql:
                    plan.queries.append(Check(check.id, check.type, kwargs))
                else:
                    reason = "SQL rules are off on this worker. Start it so that it allows them."
                    plan.verdicts[check.id] = Verdict("not_evaluated", reason)
                continue
            if check.type == SCHEMA_TYPE:
                plan.measures[check.id] = schema_matches(stated.columns or (), circumstances)
                plan.columns |= {column.name for column in stated.columns or () if not column.nullable}
                continue
            builder = builder_for(check.type, kwargs, circumstances)
            if builder is not None:
                plan.measures[check.id] = builder(kwargs, circumstances)
            else:
                for name in columns_of(kwargs):
                    circumstances.shape.column(name)
                plan.values.append(ValueCheck(check.id, check.type, kwargs))
            plan.columns |= set(columns_of(kwargs))
        except CheckRefused as refused:
            plan.verdicts[check.id] = Verdict("error", refused.reason)
    return plan


def _unanswerable(check: ValueCheck, profile: Profile) -> Verdict | None:
    """Great Expectations passes what has nothing to judge, and reckons with NaN; here those are no answers."""
    if profile.rows == 0:
        return Verdict("not_evaluated", "The data has no rows, so there is nothing to judge.", rows=0)
    broken = [name for name in columns_of(dict(check.kwargs)) if profile.nans.get(name)]
    if broken and check.type not in NAN_SAFE:
        reason = (
            f"Column {broken[0]!r} has {profile.nans[broken[0]]} NaN, with which this check has no answer."
        )
        return Verdict("error", reason, rows=profile.rows)
    if check.type in NULLS_TOO:
        return None
    listed = columns_of(dict(check.kwargs)) if check.type in LISTING else []
    many = [name for name in listed if profile.distinct.get(name, 0) > MOST_LISTED]
    if many:
        reason = f"Column {many[0]!r} has more than {MOST_LISTED} different values, too many for this check."
        return Verdict("error", reason, rows=profile.rows)
    empty = [name for name in columns_of(dict(check.kwargs)) if profile.filled.get(name) == 0]
    if not empty:
        return None
    reason = f"Column {empty[0]!r} has no value, only nulls, so there is nothing to judge."
    return Verdict("not_evaluated", reason, rows=profile.rows, nulls=profile.rows)


def _from_finding(check: ValueCheck, finding: Finding, profile: Profile) -> Verdict:
    if finding.error is not None:
        return Verdict("error", finding.error, rows=profile.rows)
    names = columns_of(dict(check.kwargs))
    rows = finding.rows if finding.rows is not None else profile.rows
    nulls = profile.nulls(names[0]) if len(names) == 1 and finding.nulls is None else finding.nulls
    told = ", ".join(map(repr, names))
    if finding.unexpected is not None:
        share = 100 * finding.unexpected / rows if rows else 0.0
        sentence = f"{finding.unexpected} of {rows} rows ({share:.3g} %) of {told} are not as asked."
        observed: Observed = finding.unexpected
    else:
        shown = f", {finding.observed:.12g}," if isinstance(finding.observed, int | float) else ""
        sentence = f"The statistic of {told}{shown} is {'' if finding.success else 'not '}as asked."
        observed = finding.observed
    outcome: Outcome = "passed" if finding.success else "failed"
    return Verdict(outcome, sentence, observed, rows, nulls, finding.unexpected)


def _data(
    files: Sequence[OpenFile], format: Format, rows: int | None, shape: TableShape | None
) -> dict[str, JsonValue]:
    entries = [ManifestEntry(file.path, file.size, file.sha256) for file in files]
    return {
        "manifest": sha256_digest(manifest_bytes(entries)),
        "format": format,
        "files": len(files),
        "bytes": sum(file.size for file in files),
        "rows": rows,
        "schema_digest": None if shape is None else shape.schema_digest,
        "footer_digest": None if shape is None else shape.footer_digest,
    }
