"""What a registration says a run is made of, and the digests that tell whether two runs are made of the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from models.kinds.facts import Snapshot
from models.kinds.runs import Input, RunRegistered
from models.ledger.canonical import canonical_bytes
from models.ledger.entries import Entry
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import JsonValue

IDENTITY: Final = (
    "job",
    "pipeline",
    "team",
    "parent_run_id",
    "priority",
    "experiment",
    "initiated_by",
    "data_interval",
    "resumed_from",
    "heartbeat",
)
PARTS: Final = ("code", "environment", "config", "hardware", "seeds")


@dataclass(frozen=True, slots=True)
class MadeOf:
    """Digests of what a registration names: each of PARTS that it has, its transformations, and what of it a family of
    runs has in common."""

    parts: Mapping[str, str]
    transformations: Sequence[str]
    family: Mapping[str, str]


def made_of(entry: Entry) -> MadeOf:
    """What the registration in `entry` names; its bytes were made before, only hashes are computed here."""
    fact = cast(RunRegistered, entry.fact)
    members = entry.canonical.members
    parts = {part: sha256_digest(members[part]) for part in PARTS if getattr(fact, part) is not None}
    family = {}
    if fact.config is not None:
        keys = fact.config.seed_keys
        family["config"] = _config_family(entry.body["config"], keys) if keys else parts["config"]
    if fact.seeds is not None:
        family["seeds"] = document_digest(
            {name: value for name, value in entry.body["seeds"].items() if name not in ("values", "ranks")}
        )
    transformations = entry.canonical.elements.get("transformations", ())
    return MadeOf(parts, [sha256_digest(encoded) for encoded in transformations], family)


def identity_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of the run itself. A person is compared by pseudonym: the salted digest is new each time."""
    identity = {name: body[name] for name in IDENTITY if body.get(name) is not None}
    if "initiated_by" in identity:
        identity["initiated_by"] = identity["initiated_by"]["owner"]
    return identity


def document_digest(document: JsonValue) -> str:
    """Content address of an ingredient: sha256 of its RFC 8785 form as it was sent."""
    return sha256_digest(canonical_bytes(document))


def snapshot_digest(snapshot: Snapshot, body: Mapping[str, Any]) -> str | None:
    """Identity of a snapshot: its manifest digest, else that of dataset and version; None when unresolved."""
    if snapshot.digest is not None:
        return snapshot.digest
    if snapshot.version is None:
        return None
    return document_digest({"dataset": body["dataset"], "version": body["version"]})


def changed_identity(view: Mapping[str, Any], entry: Entry) -> list[str]:
    """Fields of a later registration that differ from what is fixed; a later post may only add."""
    body = entry.body
    changed = [
        name for name, value in identity_of(body).items() if view["identity"].get(name, value) != value
    ]
    changed += [
        part
        for part, digest in made_of(entry).parts.items()
        if view["ingredients"].get(part, digest) != digest
    ]
    changed += [
        f"tags.{name}"
        for name, value in body.get("tags", {}).items()
        if view["tags"].get(name, value) != value
    ]
    return changed


def input_of(given: Input, sent: Mapping[str, Any]) -> dict[str, Any]:
    """One input as the view lists it; `digest` is None when nothing identifies the data."""
    if given.snapshot is None:
        return {"role": given.role, "digest": given.digest, "grade": None, "dataset": None}
    return {
        "role": given.role,
        "digest": snapshot_digest(given.snapshot, sent["snapshot"]),
        "grade": str(given.snapshot.grade),
        "dataset": sent["snapshot"]["dataset"],
    }


def recipes(view: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Recipe and family digest, None as long as a part is missing or not pinned: then nothing is a repeat."""
    made_of = view["ingredients"]
    if view["unpinned"] or any(part not in made_of for part in ("code", "environment", "config", "seeds")):
        return None, None
    if not view["inputs"] or any(given["digest"] is None for given in view["inputs"]):
        return None, None
    data = [{"role": given["role"], "digest": given["digest"]} for given in view["inputs"]]
    resumed = view["identity"].get("resumed_from")
    if resumed is not None:
        data.append({"role": "resumed_from", "digest": resumed["checkpoint"]})
    recipe = {
        "code": made_of["code"],
        "config": made_of["config"],
        "data": sorted(data, key=role_order),
        "environment": made_of["environment"],
        "seeds": made_of["seeds"],
        "transformations": view["transformations"],
    }
    return document_digest(recipe), document_digest(recipe | view["family_parts"])


def _config_family(config: Mapping[str, Any], seed_keys: list[str]) -> str:
    """Digest of the config without the values its `seed_keys` point at (JSON pointers into `values`)."""
    values: JsonValue = config["values"]
    for pointer in seed_keys:
        values = _without(values, pointer.split("/")[1:])
    return document_digest({**config, "values": values})


def _without(value: JsonValue, path: list[str]) -> JsonValue:
    name = path[0].replace("~1", "/").replace("~0", "~")
    if not isinstance(value, dict) or name not in value:
        return value
    if len(path) == 1:
        return {key: kept for key, kept in value.items() if key != name}
    return {**value, name: _without(value[name], path[1:])}


def role_order(element: Mapping[str, Any]) -> tuple[str, ...]:
    return element["role"], element["digest"]
