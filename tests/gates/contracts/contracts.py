"""Contracts as texts, as small as a test needs them."""

import json
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from gates.contracts.compiling import compile_contract
from gates.contracts.document import ContractDocument, read_contract
from gates.contracts.linting import lint_contract
from gates.contracts.suite import Check, CompiledContract, NotEvaluated

DATA = Path(__file__).parents[2] / "data"
HEAD = "kind: DataContract\napiVersion: v3.1.0\nid: orders\nversion: 1.0.0\nstatus: active\n"


def odcs(text: str) -> ContractDocument:
    return read_contract((HEAD + dedent(text)).encode(), "yaml")


def one_column(members: str, *, top: str = "") -> ContractDocument:
    """A contract with the object `orders` and the column `amount`, which has these members."""
    column = indent(dedent(members), " " * 8)
    return odcs(
        f"{dedent(top)}\nschema:\n  - name: orders\n    properties:\n      - name: amount\n{column}\n"
    )


def one_rule(rule: str, *, members: str = "", top: str = "") -> ContractDocument:
    """A contract whose column `amount` has one quality rule."""
    body = indent(dedent(rule).strip(), "    ").replace("    ", "  - ", 1)
    return one_column(f"{dedent(members)}\nquality:\n{body}", top=top)


def gx(*expectations: dict[str, Any], meta: dict[str, Any] | None = None) -> ContractDocument:
    suite = {"name": "orders", "expectations": list(expectations), "meta": meta or {}}
    return read_contract(json.dumps(suite).encode(), "json")


def expectation(kind: str, **kwargs: Any) -> dict[str, Any]:
    return {"type": kind, "kwargs": kwargs, "meta": {}}


def checks(document: ContractDocument) -> list[Check]:
    """All checks but the schema's."""
    compiled = compile_contract(document)
    return [c for each in compiled.objects for c in each.checks if c.type != "expect_schema_to_match"]


def left(document: ContractDocument) -> dict[str, NotEvaluated]:
    return {each.rule: each for part in compile_contract(document).objects for each in part.not_evaluated}


def errors(document: ContractDocument) -> dict[str, str]:
    return {each.pointer: each.message for each in lint_contract(document) if each.severity == "error"}


def accounted(compiled: CompiledContract) -> set[str]:
    """Pointers of all rules that a check covers or that are listed."""
    checked = {rule for each in compiled.objects for check in each.checks for rule in check.covers}
    return checked | {rule.rule for each in compiled.objects for rule in each.not_evaluated}
