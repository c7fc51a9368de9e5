"""A Great Expectations 1.x suite: each of its expectations as a check."""

from collections.abc import Mapping
from typing import Final

from gates.contracts.drafting import Draft, Notes
from gates.contracts.expecting import Expected, compile_expectation
from gates.contracts.suite import About, Severity
from gates.documents.pointers import Json, as_list, as_mapping, as_text, child

_SEVERITIES: Final[Mapping[str, Severity]] = {"critical": "error", "warning": "warning", "info": "info"}
"""Those of GX's FailureSeverity; an expectation without one is critical there too."""

_READ: Final = frozenset(
    {"type", "kwargs", "severity", "meta", "description", "notes", "id", "rendered_content"}
)


def compile_gx(notes: Notes) -> list[Draft]:
    """One object without name and without a stated schema."""
    draft = Draft(notes, "", "")
    for index, each in enumerate(as_list(notes.document.value.get("expectations"))):
        _expectation(draft, as_mapping(each), child("/expectations", index))
    _tell_case_twins(draft)
    return [draft]


def _expectation(draft: Draft, members: Mapping[str, Json], place: str) -> None:
    meta = as_mapping(members.get("meta"))
    written = members.get("severity")
    severity = "error" if written is None else _SEVERITIES.get(str(written))
    if severity is None:
        message = (
            f"{str(written)[:60]!r} is no severity of Great Expectations; write critical, warning or info"
        )
        draft.notes.problem(child(place, "severity"), message)
    about = About(severity or "error", as_text(meta.get("dimension")), as_text(members.get("description")))
    for name in members.keys() - _READ:
        if members[name] is not None:
            draft.notes.problem(child(place, name), f"`{name[:60]}` is not used; remove it", "warning")
    kind = as_text(members.get("type"))
    if kind is None:
        draft.refuse(
            place, "the expectation needs a `type`, such as expect_column_values_to_not_be_null", about
        )
        return
    kwargs = members.get("kwargs", {})
    if not isinstance(kwargs, dict):
        draft.refuse(place, "kwargs must be a mapping of names to values", about, at=child(place, "kwargs"))
        return
    compile_expectation(draft, Expected(place, child(place, "kwargs"), kind, kwargs, about))


def _tell_case_twins(draft: Draft) -> None:
    """Names that differ in case only: one of them is probably wrong, and engines take them for one column."""
    first: dict[str, str] = {}
    for name, pointer in draft.named.items():
        other = first.setdefault(name.casefold(), name)
        if other != name:
            message = f"names the column {name!r}, and another rule {other!r}; names are case-sensitive, correct one"
            draft.notes.problem(pointer, message)
