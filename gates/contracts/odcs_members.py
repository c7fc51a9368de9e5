"""Members that the standard doesn't have: a misspelt rule must not be lost in silence."""

from collections.abc import Mapping
from typing import Final

from open_data_contract_standard.model import (
    DataQuality,
    OpenDataContractStandard,
    SchemaObject,
    SchemaProperty,
    ServiceLevelAgreementProperty,
)
from pydantic import BaseModel

from gates.contracts.drafting import Draft, Notes
from gates.documents.pointers import Json, child

_OLD_NAMES: Final[Mapping[str, str]] = {
    "isNullable": "`required` (with the opposite value)",
    "isUnique": "`unique`",
    "isPrimaryKey": "`primaryKey`",
    "isPrimary": "`primaryKey`",
    "columns": "`properties`",
}
"""Names of earlier versions of the standard, and what v3 calls them."""


def _names(model: type[BaseModel]) -> frozenset[str]:
    return frozenset(info.alias or name for name, info in model.model_fields.items())


CONTRACT: Final = _names(OpenDataContractStandard)
OBJECT: Final = _names(SchemaObject)
PROPERTY: Final = _names(SchemaProperty)
QUALITY: Final = _names(DataQuality)
SLA: Final = _names(ServiceLevelAgreementProperty)


def asks_nothing(name: str, value: Json) -> bool:
    """Whether an unknown member can't be a rule, whatever it means: it is null or false, isNullable true."""
    return value is None or value is (name == "isNullable")


def refuse_unknown(draft: Draft, members: Mapping[str, Json], pointer: str, known: frozenset[str]) -> None:
    """Each member that the standard doesn't have: an error of lint, and not evaluated."""
    for name, value in members.items():
        if name not in known:
            message = unknown_member(draft.notes, name, known)
            if asks_nothing(name, value):
                draft.notes.problem(child(pointer, name), message, "warning")
            else:
                draft.refuse(child(pointer, name), message)


def warn_of_unknown(notes: Notes, members: Mapping[str, Json], known: frozenset[str]) -> None:
    """Unknown members of the contract itself."""
    for name in members.keys() - known:
        notes.problem(child("", name), unknown_member(notes, name, known))


def unknown_member(notes: Notes, name: str, known: frozenset[str]) -> str:
    near = notes.nearest(name, known)
    hint = (
        f"v3 calls it {_OLD_NAMES[name]}" if name in _OLD_NAMES else f"did you mean `{near}`?" if near else ""
    )
    return f"`{name[:100]}` is no member of the standard here; {hint or 'put it into customProperties'}"
