"""What is known of a snapshot: a fold over all that was said of one digest, commutative and idempotent.

The digest names bytes, not who described them or where they lie. What depends on the bytes alone has one value; where
records differ on it, it has none and stands in `conflicts`, so that whoever needs it finds it unknown. What the same
bytes may have several of (names, places) keeps the first in canonical order, and the others stand in `also`. Of grades
the weakest counts.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from models.kinds.ingredients import Grade
from shipworthy.formats.jcs import canonicalize

Document = Mapping[str, Any]

OF_THE_BYTES: Final = (
    "row_count",
    "size_bytes",
    "schema_digest",
    "footer_digest",
    "key_sketch",
    "split",
)
SEVERAL: Final = ("dataset", "grade", "version", "extraction", "uri", "location", "reason")
MAX_VALUES: Final = 8
"""So many values of a field are shown, the first in their order; `more` names the fields that have further ones."""
MAX_COMPLETING: Final = 32
_GRADES: Final = tuple(Grade)


def said_first(stated: Document, digest: str, record: str) -> Document:
    """What one record says."""
    given = {name: stated[name] for name in (*OF_THE_BYTES, *SEVERAL) if stated.get(name) is not None}
    return given | {"digest": digest, "record": record}


def said_besides(known: Document, stated: Document, record: str) -> Document:
    """With what another record says; `known` itself when that adds nothing."""
    merged = {"digest": known["digest"], "record": known["record"]}
    also: dict[str, list[Any]] = {}
    conflicts: dict[str, list[Any]] = {}
    more = set(known.get("more", ()))
    for name in (*OF_THE_BYTES, *SEVERAL):
        values = _distinct(_values(known, name), stated.get(name), _order_of(name))
        if len(values) > MAX_VALUES:
            more.add(name)
            del values[MAX_VALUES:]
        if len(values) > 1 and name in OF_THE_BYTES:
            conflicts[name] = values
        elif values:
            merged[name] = values[0]
            if values[1:]:
                also[name] = values[1:]
    merged |= {"also": also} if also else {}
    merged |= {"conflicts": conflicts} if conflicts else {}
    merged |= {"more": sorted(more)} if more else {}
    completed_by = known.get("completed_by", [])
    if merged == {name: value for name, value in known.items() if name != "completed_by"}:
        return known
    return merged | {"completed_by": [*completed_by, record][-MAX_COMPLETING:]}


def named(document: Document, dataset: Mapping[str, str]) -> Document:
    """As it is shown under one of its names."""
    others = [each for each in _values(document, "dataset") if each != dataset]
    if not others:
        return document
    return {**document, "dataset": dataset, "also": document.get("also", {}) | {"dataset": others}}


def _values(document: Document, name: str) -> list[Any]:
    if name in document.get("conflicts", ()):
        return list(document["conflicts"][name])
    if name not in document:
        return []
    return [document[name], *document.get("also", {}).get(name, ())]


def _distinct(known: list[Any], stated: object, order: Callable[[Any], Any]) -> list[Any]:
    if stated is None or any(order(each) == order(stated) for each in known):
        return known
    return sorted([*known, stated], key=order)


def _order_of(name: str) -> Callable[[Any], Any]:
    return _weakest_first if name == "grade" else canonicalize


def _weakest_first(grade: str) -> int:
    return -_GRADES.index(Grade(grade))
