"""A contract version as a page shows it: what it was compiled into, and first of all what it could not be."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from api.web import links
from api.web.check_view import Evidence
from api.web.verdicts import Verdict
from api.web.words import OUTCOMES, check_in_words, plural

_MAX_ARGUMENT: Final = 200
_NO_NAN: Final = "no_nan:"
_SUBJECTS: Final = frozenset({"column", "columns", "column_list"})


@dataclass(frozen=True, slots=True)
class CompiledCheck:
    id: str
    subject: str
    what: str
    arguments: tuple[tuple[str, str], ...]
    description: str | None
    blocking: bool
    severity: str
    dimension: str | None
    rule: str | None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the document that nothing checks, and why."""

    rule: str
    reason: str
    blocking: bool


@dataclass(frozen=True, slots=True)
class TableView:
    name: str
    summary: str
    checks: tuple[CompiledCheck, ...]
    not_evaluated: tuple[Rule, ...]
    added: str


def table_views(suite: Mapping[str, Any]) -> tuple[TableView, ...]:
    waived = suite.get("waived") or ()
    return tuple(_table(each, waived) for each in suite["objects"])


def contract_verdict(version: int, current: int, tables: Sequence[TableView]) -> Verdict:
    checks = sum(len(table.checks) for table in tables)
    open_rules = [rule for table in tables for rule in table.not_evaluated]
    blocking = sum(rule.blocking for rule in open_rules)
    compiled = f"{plural(checks, 'check')} compiled"
    if blocking:
        verb = "is" if blocking == 1 else "are"
        sentence = f"{plural(blocking, 'blocking rule')} of this contract {verb} not evaluated; {compiled}."
        action = "No data can pass it as it stands: rewrite those rules so that they can be checked, or take them back."
        return Verdict(OUTCOMES["not_evaluated"], sentence, action)
    if open_rules:
        sentence = f"Every blocking rule is checked: {compiled}, {plural(len(open_rules), 'other rule')} not evaluated."
    else:
        sentence = f"Every rule of this contract is checked: {compiled}."
    if version != current:
        return Verdict(
            OUTCOMES["not_evaluated"],
            f"This is not the current version: that is version {current}.",
            f"Data is checked against version {current} only. {sentence}",
        )
    return Verdict(OUTCOMES["passed"], sentence, "Data is checked against this version.")


def contract_evidence(document: Mapping[str, Any]) -> tuple[Evidence, ...]:
    evidence = [
        Evidence("Bytes as sent", document["digest"], links.blob(document["digest"]), document["format"]),
        Evidence("Compiled suite", document["suite_digest"], links.blob(document["suite_digest"])),
    ]
    if document.get("baseline") is not None:
        evidence.append(Evidence("Baseline", document["baseline"], links.baseline(document["baseline"])))
    return (*evidence, Evidence("Record", document["record"], links.record(document["record"])))


def _table(compiled: Mapping[str, Any], waived: Sequence[str]) -> TableView:
    checks = tuple(map(_check, compiled["checks"]))
    rules = tuple(Rule(each["rule"], each["reason"], each["blocking"]) for each in compiled["not_evaluated"])
    columns = compiled["columns"]
    parts = [
        "no columns stated" if columns is None else plural(len(columns), "column"),
        plural(len(checks), "check"),
    ]
    return TableView(
        name=compiled["name"],
        summary=", ".join(parts),
        checks=tuple(sorted(checks, key=lambda check: (not check.blocking, check.subject, check.id))),
        not_evaluated=tuple(sorted(rules, key=lambda rule: (not rule.blocking, rule.rule))),
        added=_added(compiled, waived),
    )


def _added(compiled: Mapping[str, Any], waived: Sequence[str]) -> str:
    """What is checked of all data beside what the contract states: gates.contracts.engine.implicit."""
    stated = {each["type"] for each in compiled["checks"]}
    is_waived = "row_count_at_least_one" in waived or "expect_row_count_at_least_one" in stated
    spared = [each.removeprefix(_NO_NAN) for each in waived if each.startswith(_NO_NAN)]
    floats = "no NaN in a float column" + (f" but {', '.join(spared)}" if spared else "")
    return f"When data is checked, also: {'' if is_waived else 'at least one row, '}{floats}."


def _check(check: Mapping[str, Any]) -> CompiledCheck:
    kwargs: Mapping[str, Any] = check["kwargs"]
    columns = (
        kwargs.get("columns") or kwargs.get("column_list") or [kwargs["column"]] if "column" in kwargs else []
    )
    return CompiledCheck(
        id=check["id"],
        subject=", ".join(map(str, columns)),
        what=check_in_words(check["type"]),
        arguments=tuple(
            (name, _argument(kwargs[name]))
            for name in sorted(set(kwargs) - _SUBJECTS)
            if kwargs[name] not in (None, {})
        ),
        description=check.get("description"),
        blocking=check["blocking"],
        severity=check["severity"],
        dimension=check.get("dimension"),
        rule=check.get("rule"),
    )


def _argument(value: object) -> str:
    """As JSON, cut: the suite's blob has it whole."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_ARGUMENT else f"{text[:_MAX_ARGUMENT]}… ({len(text):,} characters)"
