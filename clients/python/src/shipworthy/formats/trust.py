"""Whom somebody trusts: keys of logs, and keys of deployments that decide, each for a stretch of the log."""

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from shipworthy.formats.dsse import exact_base64, public_key_id
from shipworthy.formats.notes import NoteError, parse_verifier_key

TRUST_SCHEMA: Final = "shipworthy.trust/1"
_KEY_BYTES: Final = 32
_MAX_TRUST_BYTES: Final = 2**20


class TrustError(ValueError):
    """The trust file is not one; the sentence says which member is wrong."""


@dataclass(frozen=True, slots=True)
class Signer:
    """A decision key (32 bytes), trusted for decisions that stand in the log at `first` up to, but not at, `end`, and
    that were made in one of these namespaces: one deployment signs for all of them with the same key."""

    public_key: bytes
    namespaces: frozenset[str]
    first: int = 0
    end: int | None = None

    def is_trusted_at(self, position: int) -> bool:
        return self.first <= position and (self.end is None or position < self.end)


@dataclass(frozen=True, slots=True)
class Trust:
    """`log_keys` are verifier keys (c2sp.org/signed-note), `signers` decision keys by their id."""

    log_keys: tuple[str, ...]
    signers: Mapping[str, Signer]


def parse_trust(data: bytes) -> Trust:
    """Raises TrustError for anything that is not exactly a trust file with at least one key of either sort."""
    if len(data) > _MAX_TRUST_BYTES:
        raise TrustError(f"the trust file has {len(data)} bytes; {_MAX_TRUST_BYTES} are read at most")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise TrustError(f"the trust file is not JSON: {error}") from error
    if not isinstance(document, dict) or document.keys() != {"schema", "logs", "signers"}:
        raise TrustError("the trust file needs exactly the members schema, logs, signers")
    if document["schema"] != TRUST_SCHEMA:
        raise TrustError(f"the trust file's schema is not {TRUST_SCHEMA}; this version reads no other")
    logs, signers = document["logs"], document["signers"]
    if not isinstance(logs, list) or not logs or not isinstance(signers, list) or not signers:
        raise TrustError("logs and signers are lists with at least one key each; an empty one trusts nobody")
    read = [_signer(each, f"/signers/{at}") for at, each in enumerate(signers)]
    return Trust(
        tuple(_log_key(each, f"/logs/{at}") for at, each in enumerate(logs)),
        {public_key_id(each.public_key): each for each in read},
    )


def trust_document(log_key: str, signer: bytes, namespaces: Iterable[str]) -> dict[str, Any]:
    """The JSON of a trust file for namespaces of one deployment."""
    signed = {
        "public_key": base64.b64encode(signer).decode(),
        "namespaces": sorted(namespaces),
        "first": 0,
        "end": None,
    }
    return {
        "schema": TRUST_SCHEMA,
        "logs": [log_key],
        "signers": [signed],
    }


def _log_key(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise TrustError(f"{place} is not text; give the line that GET /v1/log/key answers")
    try:
        parse_verifier_key(value)
    except NoteError as error:
        raise TrustError(f"{place}: {error}") from error
    return value


def _signer(value: object, place: str) -> Signer:
    if not isinstance(value, dict) or value.keys() != {"public_key", "namespaces", "first", "end"}:
        raise TrustError(f"{place} needs exactly the members public_key, namespaces, first, end")
    namespaces = value["namespaces"]
    if (
        not isinstance(namespaces, list)
        or not namespaces
        or not all(type(each) is str for each in namespaces)
    ):
        raise TrustError(
            f"{place}/namespaces is no list of the namespaces whose decisions you take; name one at least"
        )
    first, end = value["first"], value["end"]
    if type(first) is not int or first < 0 or not (end is None or (type(end) is int and end > first)):
        raise TrustError(f"{place} needs `first`, a place in the log, and `end`, a later one or null")
    try:
        key = exact_base64(value["public_key"])
    except (ValueError, TypeError) as error:
        raise TrustError(f"{place}/public_key is not base64") from error
    if len(key) != _KEY_BYTES:
        raise TrustError(f"{place}/public_key has {len(key)} bytes; an Ed25519 key has {_KEY_BYTES}")
    return Signer(key, frozenset(namespaces), first, end)
