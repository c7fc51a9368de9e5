"""What is wrong with a contract before it runs, each with its line and how to mend it."""

from collections.abc import Collection, Iterator

from gates.contracts.compiling import has_own_check, walk
from gates.contracts.document import ContractDocument
from gates.contracts.implicit import NO_RULE
from gates.contracts.kwargs import is_beyond_json
from gates.documents.pointers import Json, child
from gates.documents.problems import Problem


def lint_contract(document: ContractDocument, parameters: Collection[str] | None = None) -> list[Problem]:
    """All problems, sorted by line. Never raises for a document that `read_contract` read.

    `parameters`: names that will be given with the check; a missing one is then an error. Without it each
    parameter that the contract asks for is told as info.
    """
    notes, drafts = walk(document)
    for draft in drafts:
        if not has_own_check(draft):
            notes.problem(draft.pointer, NO_RULE)
    for name, first_use in notes.parameters.items():
        pointer = first_use.partition(" ")[0]
        if parameters is None:
            notes.problem(pointer, f"asks for the parameter {name!r}; give it with each check", "info")
        elif name not in parameters:
            notes.problem(
                pointer, f"asks for the parameter {name!r}, which is not given; add it to parameters"
            )
    if document.media == "json":
        for pointer, number in _beyond_json(dict(document.value), ""):
            message = f'{number} is beyond ±(2^53-1), which JSON readers round; write it as text: "{number}"'
            notes.problem(pointer, message)
    return sorted(notes.problems)


def _beyond_json(value: Json, pointer: str) -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _beyond_json(member, child(pointer, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _beyond_json(item, child(pointer, index))
    elif isinstance(value, int) and is_beyond_json(value):
        yield pointer, value
