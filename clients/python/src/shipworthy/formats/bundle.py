"""A proof bundle: all that has to be known of a decision to check it without the service (docs/verify.md).

Reading is strict: nothing is left over, nothing is guessed. What it says is only believed by shipworthy.verifying.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from shipworthy.formats.digests import is_digest

BUNDLE_SCHEMA: Final = "shipworthy.bundle/1"
MAX_BUNDLE_BYTES: Final = 64 * 2**20
_MAX_PATH: Final = 64
_HASH: Final = re.compile(r"[0-9a-f]{64}")


class BundleError(ValueError):
    """The bundle is not one; `member` is a JSON pointer to what is wrong."""

    def __init__(self, member: str, problem: str) -> None:
        super().__init__(f"{member or 'the bundle'} {problem}")
        self.member = member


@dataclass(frozen=True, slots=True)
class ProvenRecord:
    """A record's canonical text, its place in the log and the audit path to the bundle's head (RFC 6962, 2.1.1)."""

    record: str
    position: int
    path: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Growth:
    """Proof that the log of `size` leaves is the beginning of the one at the bundle's head (RFC 6962, 2.1.2)."""

    size: int
    path: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Bundle:
    """`decision` is the digest of one of the records, `checkpoint` a signed note of the log's head."""

    decision: str
    checkpoint: str
    growth: tuple[Growth, ...]
    records: tuple[ProvenRecord, ...]


def parse_bundle(data: bytes) -> Bundle:
    """Raises BundleError for anything that is not exactly a bundle."""
    if len(data) > MAX_BUNDLE_BYTES:
        raise BundleError("", f"has {len(data)} bytes; {MAX_BUNDLE_BYTES} are read at most")
    try:
        document = json.loads(data, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise BundleError("", f"is not JSON: {error}") from error
    whole = _members(document, "", {"schema", "decision", "checkpoint", "consistency", "records"})
    if whole["schema"] != BUNDLE_SCHEMA:
        raise BundleError("/schema", f"is not {BUNDLE_SCHEMA}; this version reads no other")
    decision = whole["decision"]
    if not isinstance(decision, str) or not is_digest(decision):
        raise BundleError("/decision", "is not a digest; it names the decision's record")
    growth = tuple(
        _growth(each, f"/consistency/{at}")
        for at, each in enumerate(_list(whole["consistency"], "/consistency"))
    )
    if len({each.size for each in growth}) != len(growth):
        raise BundleError("/consistency", "shows the growth from one size twice")
    return Bundle(
        decision,
        _text(whole["checkpoint"], "/checkpoint"),
        growth,
        tuple(_record(each, f"/records/{at}") for at, each in enumerate(_list(whole["records"], "/records"))),
    )


def bundle_document(bundle: Bundle) -> dict[str, Any]:
    """The JSON of a bundle, which parse_bundle reads again."""
    return {
        "schema": BUNDLE_SCHEMA,
        "decision": bundle.decision,
        "checkpoint": bundle.checkpoint,
        "consistency": [{"from": each.size, "path": _hexed(each.path)} for each in bundle.growth],
        "records": [
            {"record": each.record, "position": each.position, "path": _hexed(each.path)}
            for each in bundle.records
        ],
    }


def _growth(value: object, place: str) -> Growth:
    members = _members(value, place, {"from", "path"})
    return Growth(_count(members["from"], f"{place}/from"), _path(members["path"], f"{place}/path"))


def _record(value: object, place: str) -> ProvenRecord:
    members = _members(value, place, {"record", "position", "path"})
    return ProvenRecord(
        _text(members["record"], f"{place}/record"),
        _count(members["position"], f"{place}/position"),
        _path(members["path"], f"{place}/path"),
    )


def _members(value: object, place: str, names: set[str]) -> Mapping[str, Any]:
    if not isinstance(value, dict) or value.keys() != names:
        raise BundleError(place, f"needs exactly the members {', '.join(sorted(names))}")
    return value


def _list(value: object, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise BundleError(place, "is not a list")
    return value


def _text(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise BundleError(place, "is not text")
    return value


def _count(value: object, place: str) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise BundleError(place, "is not a whole number from 0 on")
    return value


def _path(value: object, place: str) -> tuple[bytes, ...]:
    steps = _list(value, place)
    if len(steps) > _MAX_PATH:
        raise BundleError(place, f"has {len(steps)} steps; no log needs more than {_MAX_PATH}")
    if not all(isinstance(step, str) and _HASH.fullmatch(step) for step in steps):
        raise BundleError(place, "holds something else than SHA-256 hashes in lower-case hexadecimal")
    return tuple(bytes.fromhex(step) for step in steps)


def _hexed(path: tuple[bytes, ...]) -> list[str]:
    return [step.hex() for step in path]


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("an object has a member twice")
    return members
