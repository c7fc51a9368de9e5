"""From a contract to the suite that workers run: every rule becomes a check, or is listed with its reason."""

from dataclasses import replace

from gates.contracts.document import ContractDocument
from gates.contracts.drafting import Draft, Notes
from gates.contracts.gx_suites import compile_gx
from gates.contracts.implicit import NO_RULE, read_settings
from gates.contracts.odcs_objects import compile_odcs
from gates.contracts.suite import CompiledContract, CompiledObject, NotEvaluated, compiled_contract


def compile_contract(document: ContractDocument) -> CompiledContract:
    """The compiled suite of a document that `read_contract` read; the same document gives the same bytes.

    Never raises: what can't be checked is in `not_evaluated`. An object for which no rule can be checked has a
    blocking entry there for the object itself, so that a contract of text rules alone never passes.
    """
    notes, drafts = walk(document)
    return compiled_contract(
        tuple(_finished(draft) for draft in drafts),
        document_format=document.format,
        baseline=notes.baseline,
        waived=notes.waived,
        parameters=tuple(sorted(notes.parameters)),
    )


def walk(document: ContractDocument) -> tuple[Notes, list[Draft]]:
    """The one walk over a contract, for compiling and for linting."""
    notes = Notes(document)
    read_settings(notes)
    return notes, compile_gx(notes) if document.format == "gx" else compile_odcs(notes)


def has_own_check(draft: Draft) -> bool:
    """Whether a rule of the author is checked. Types alone are enough for a contract without quality rules, not
    for one whose quality rules all are left out."""
    if any(check.type != "expect_schema_to_match" for check in draft.checks):
        return True
    return bool(draft.checks) and not any("/quality/" in left.rule for left in draft.left)


def _finished(draft: Draft) -> CompiledObject:
    compiled = draft.compiled()
    if has_own_check(draft):
        return compiled
    empty = NotEvaluated(draft.pointer, NO_RULE, True)
    return replace(compiled, not_evaluated=(*compiled.not_evaluated, empty))
