"""Which keys made records, and what their revocation takes from the facts."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from models.bulk import select_among
from models.gates.asking import JsonObject

_ENVELOPE_START: Final = b'{"actor":'
# The actor is the first member of a record's canonical bytes, and has at most some 400 of them.
_STARTS: Final = (
    "SELECT digest, position, substr(payload, 1, 1024) AS start FROM record "
    "WHERE namespace = :namespace AND digest IN :keys"
)
_ENDED: Final = (
    "SELECT idempotency_key FROM record WHERE namespace = :namespace AND idempotency_key IN :keys "
    "AND kind = 'key.revoked'"
)
_ENDED_PREFIX: Final = "key.revoked|"
_LISTED: Final = ("evidence", "evaluations", "reviews", "waivers")


@dataclass(frozen=True, slots=True)
class Maker:
    """Which key made a record, and where the record stands in the log."""

    key_id: str
    position: int


def makers_of(connection: Connection, namespace: str, records: Iterable[str]) -> dict[str, Maker]:
    """By record digest, for records of this namespace."""
    decoder = json.JSONDecoder()
    found = {}
    for digest, position, start in select_among(connection, _STARTS, namespace, sorted(set(records))):
        text = bytes(start).removeprefix(_ENVELOPE_START).decode(errors="ignore")
        actor: dict[str, Any] = decoder.raw_decode(text)[0]
        found[digest] = Maker(actor["id"], position)
    return found


def of_ended_keys(connection: Connection, namespace: str, records: Iterable[str]) -> set[str]:
    """Those of the records whose key was revoked, whenever that was."""
    makers = makers_of(connection, namespace, records)
    keys = {maker.key_id for maker in makers.values()}
    rows = select_among(connection, _ENDED, namespace, [_ENDED_PREFIX + key for key in sorted(keys)])
    ended = {row[0].removeprefix(_ENDED_PREFIX) for row in rows}
    return {record for record, maker in makers.items() if maker.key_id in ended}


def without_ended_keys(connection: Connection, facts: JsonObject) -> JsonObject:
    """The facts with all evidence marked as revoked whose key was: what a stolen key attested is worth nothing, also
    where it was attested before anybody knew.

    Registrations are no evidence and stay: they are the recorder's own word in any case, and a run can't be recorded
    again.
    """
    bad = of_ended_keys(connection, facts["namespace"], evidence_of(facts))
    if not bad:
        return facts
    changed = {name: [_marked(each, [each["record"]], bad) for each in facts[name]] for name in _LISTED}
    for name in ("family", "repeats"):
        changed[name] = [each for each in facts[name] if bad.isdisjoint((each["record"], *each["rests_on"]))]
    attempt, statistics = facts["attempt"], facts["statistics"]
    artifact, attempts = facts["artifact"], facts["attempts"]
    checksum = artifact["checksum"]
    allowed = [each for each in attempts["extensions"] if bad.isdisjoint(each["records"])]
    return {
        **facts,
        **changed,
        "artifact": artifact | {"checksum": None if checksum and checksum["record"] in bad else checksum},
        "attempts": attempts | {"extensions": allowed},
        "attempt": attempt and _marked(attempt, [attempt["id"]], bad),
        "statistics": statistics and _marked(statistics, _measured(statistics), bad),
    }


def _marked(entry: JsonObject, records: Iterable[str], bad: set[str]) -> JsonObject:
    return entry if bad.isdisjoint(records) else entry | {"revoked": True}


def evidence_of(facts: JsonObject) -> Iterator[str]:
    """The records of the facts that somebody attested or measured; not registrations."""
    for name in (*_LISTED, "family", "repeats"):
        yield from (each["record"] for each in facts[name])
    for name in ("family", "repeats"):
        yield from (record for each in facts[name] for record in each["rests_on"])
    for extension in facts["attempts"]["extensions"]:
        yield from extension["records"]
    if facts["artifact"]["checksum"] is not None:
        yield facts["artifact"]["checksum"]["record"]
    if facts["attempt"] is not None:
        yield facts["attempt"]["id"]
    if facts["statistics"] is not None:
        yield from _measured(facts["statistics"])


def _measured(statistics: JsonObject) -> list[str]:
    return [
        statistics["record"],
        statistics["attempt"],
        *statistics["evaluations"],
        *statistics["incumbent_evaluations"],
    ]
