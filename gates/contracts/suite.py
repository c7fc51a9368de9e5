"""The compiled suite: what of a contract is checked, and what isn't and why. Plain JSON, digest over RFC 8785."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from gates.documents.pointers import Json
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize

SCHEMA: Final = "shipworthy.suite/1"
COMPILER: Final = "1"
"""Goes up when the same contract would compile to other checks."""

Severity: TypeAlias = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class About:
    """What a rule says about itself. Only severity `error` blocks a gate."""

    severity: Severity = "error"
    dimension: str | None = None
    description: str | None = None
    identifier: str | None = None

    @property
    def blocking(self) -> bool:
        return self.severity == "error"


@dataclass(frozen=True, slots=True)
class Check:
    """`rule` is the JSON pointer of the rule that speaks for the check, `covers` all rules that it checks, sorted.

    A check that nobody wrote (implicit) has the pointer of its object.
    """

    id: str
    type: str
    kwargs: Mapping[str, Json]
    about: About
    rule: str
    covers: tuple[str, ...]
    baseline: bool = False

    def to_json(self) -> dict[str, Json]:
        return {
            "id": self.id,
            "type": self.type,
            "kwargs": dict(self.kwargs),
            "blocking": self.about.blocking,
            "severity": self.about.severity,
            "dimension": self.about.dimension,
            "rule": self.rule,
            "covers": list(self.covers),
            "description": self.about.description,
            "baseline": self.baseline,
        }


@dataclass(frozen=True, slots=True)
class NotEvaluated:
    """A rule that no check judges. A blocking one keeps the outcome from `passed`."""

    rule: str
    reason: str
    blocking: bool

    def to_json(self) -> dict[str, Json]:
        return {"rule": self.rule, "reason": self.reason, "blocking": self.blocking}


@dataclass(frozen=True, slots=True)
class Column:
    """`types`: names of Arrow types as in odcs_types, none = any. `nullable` false: the data may hold no null.

    `fields`: those of a struct; one named "element" for a list; "key" and "value" for a map; none = any.
    """

    name: str
    types: tuple[str, ...]
    nullable: bool
    fields: "tuple[Column, ...]" = ()

    def to_json(self) -> dict[str, Json]:
        return {
            "name": self.name,
            "types": list(self.types),
            "nullable": self.nullable,
            "fields": [each.to_json() for each in self.fields],
        }


@dataclass(frozen=True, slots=True)
class CompiledObject:
    """One table. `columns` None: the contract states no schema."""

    name: str
    columns: tuple[Column, ...] | None
    checks: tuple[Check, ...]
    not_evaluated: tuple[NotEvaluated, ...]

    def to_json(self) -> dict[str, Json]:
        return {
            "name": self.name,
            "columns": None if self.columns is None else [each.to_json() for each in self.columns],
            "checks": [each.to_json() for each in self.checks],
            "not_evaluated": [each.to_json() for each in self.not_evaluated],
        }


@dataclass(frozen=True, slots=True)
class CompiledContract:
    """`canonical` are the RFC 8785 bytes of `suite`, `digest` their SHA-256.

    `parameters`: names that a check of this contract must give. `needs_baseline`: whether any check compares
    with a baseline; `baseline` is the digest that the contract pins, if it does.
    """

    objects: tuple[CompiledObject, ...]
    suite: Mapping[str, Json]
    baseline: str | None
    waived: tuple[str, ...]
    parameters: tuple[str, ...]
    needs_baseline: bool
    canonical: bytes = field(repr=False)
    digest: str


def compiled_contract(
    objects: tuple[CompiledObject, ...],
    *,
    document_format: str,
    baseline: str | None,
    waived: tuple[str, ...],
    parameters: tuple[str, ...],
) -> CompiledContract:
    """The contract with its suite and digest."""
    suite: dict[str, Json] = {
        "schema": SCHEMA,
        "compiler": COMPILER,
        "format": document_format,
        "objects": [each.to_json() for each in objects],
        "baseline": baseline,
        "waived": list(waived),
    }
    canonical = canonicalize(suite)
    return CompiledContract(
        objects=objects,
        suite=suite,
        baseline=baseline,
        waived=waived,
        parameters=parameters,
        needs_baseline=any(check.baseline for each in objects for check in each.checks),
        canonical=canonical,
        digest=sha256_digest(canonical),
    )
