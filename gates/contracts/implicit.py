"""What every contract asks for without saying so, and how it is taken back."""

from collections.abc import Mapping, Sequence
from typing import Final

from gates.contracts.drafting import Draft, Notes
from gates.contracts.suite import About
from gates.documents.pointers import Json, as_list, as_mapping, as_text, child
from shipworthy.formats.digests import is_digest

NO_RULE: Final = "no rule beside types can be checked; add one that is not text alone"
SCHEMA: Final = "schema_to_match"
WAIVABLE: Final = ("row_count_at_least_one", SCHEMA)
"""Ids of implicit checks; a third kind is no_nan: and the name of a float column."""
_NAN: Final = "no_nan:"
_ABOUT: Final = About(
    dimension="conformity", description="The data has the columns that the contract states."
)


def add_schema_check(draft: Draft, schema_rules: Sequence[str]) -> None:
    """One check for names, types and nullability, when the contract states columns.

    At least one row and no NaN are added when data is checked: only then the float columns are known. A waived
    schema check leaves its rules listed.
    """
    if draft.columns is None:
        return
    if SCHEMA not in draft.notes.waived:
        draft.check(SCHEMA, "expect_schema_to_match", {}, [draft.pointer, *schema_rules], _ABOUT)
    for rule in schema_rules if SCHEMA in draft.notes.waived else ():
        draft.leave(rule, "the contract waives the comparison with the schema", blocking=False)


def read_settings(notes: Notes) -> None:
    """The baseline that the contract pins and the implicit checks it waives, into `notes`.

    ODCS: customProperties of the contract, `shipworthy.baseline` (a digest) and `shipworthy.waive` (a list of
    {check, reason}). GX suite: meta.shipworthy, with `baseline` and `waive`.
    """
    baseline, baseline_at, waive, waive_at = _settings(notes)
    if baseline is not None:
        if isinstance(baseline, str) and is_digest(baseline):
            notes.baseline = baseline
        else:
            notes.problem(
                baseline_at, "must be the digest of a published baseline: sha256: and 64 hexadecimal digits"
            )
    if waive is None:
        return
    if not isinstance(waive, list):
        notes.problem(waive_at, "must be a list of {check, reason}")
    waived = [_waived(notes, as_mapping(each), child(waive_at, n)) for n, each in enumerate(as_list(waive))]
    notes.waived = tuple(sorted({each for each in waived if each is not None}))


def _settings(notes: Notes) -> tuple[Json, str, Json, str]:
    value = notes.document.value
    if notes.document.format == "gx":
        ours = as_mapping(as_mapping(value.get("meta")).get("shipworthy"))
        return ours.get("baseline"), "/meta/shipworthy/baseline", ours.get("waive"), "/meta/shipworthy/waive"
    found: dict[str, tuple[Json, str]] = {}
    for index, each in enumerate(as_list(value.get("customProperties"))):
        members, place = as_mapping(each), child("/customProperties", index)
        name = as_text(members.get("property")) or ""
        if name.startswith("shipworthy.") and name not in ("shipworthy.baseline", "shipworthy.waive"):
            notes.problem(
                place, f"{name[:60]!r} is unknown; there are shipworthy.baseline and shipworthy.waive"
            )
        elif name in found:
            notes.problem(place, f"{name} is set twice; keep one")
        found.setdefault(name, (members.get("value"), child(place, "value")))
    nothing: tuple[Json, str] = (None, "")
    return *found.get("shipworthy.baseline", nothing), *found.get("shipworthy.waive", nothing)


def _waived(notes: Notes, members: Mapping[str, Json], place: str) -> str | None:
    check = as_text(members.get("check"))
    known = check is not None and (check in WAIVABLE or check.startswith(_NAN))
    if check is None or not known:
        notes.problem(
            place,
            "`check` must be row_count_at_least_one, schema_to_match or no_nan:<column>; remove other rules instead",
        )
        return None
    if as_text(members.get("reason")) is None:
        notes.problem(place, f"a waiver of {check} needs a `reason`; without one it does not count")
        return None
    return check
