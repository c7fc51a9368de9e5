"""Keys as the log remembers them against the table that tokens are looked up in.

The service may change that table, so whoever has its role could give a key more rights, unseen by the log.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from models.actor import EvidenceLevel
from models.bulk import sql_table
from models.keys.records import KeyCreated, KeyEnded
from models.keys.tables import ApiKey
from models.keys.tokens import hmac_digest
from models.ledger.entries import Entry
from models.ledger.findings import Findings
from shipworthy.formats.jcs import canonicalize


@dataclass(frozen=True, slots=True)
class KnownKey:
    """What a key.created record gave."""

    namespace: str
    token: str
    roles: str
    groups: str
    level: str
    owner: str | None
    who: str | None
    expires_at: datetime | None


@dataclass(slots=True)
class KeyCheck:
    """Fed with every entry in log order; `finish` compares with the table."""

    findings: Findings
    keys: dict[str, KnownKey] = field(default_factory=dict)
    revoked: set[str] = field(default_factory=set)

    def feed(self, entry: Entry, actor: dict[str, Any]) -> None:
        for problem in self._actor_problems(entry, actor):
            self.findings.add(f"record {entry.position} {problem}")
        if isinstance(entry.fact, KeyCreated):
            created = entry.fact
            self.keys[created.key_id] = KnownKey(
                namespace=created.namespace,
                token=created.token,
                roles=",".join(sorted(created.roles)),
                groups=canonicalize([*created.groups]).decode(),
                level=created.level.value,
                owner=created.owner,
                who=created.who.digest if created.who is not None else None,
                expires_at=created.expires_at,
            )
        elif isinstance(entry.fact, KeyEnded):
            self.revoked.add(entry.fact.key_id)

    def _actor_problems(self, entry: Entry, actor: dict[str, Any]) -> Iterator[str]:
        """Row, signed bytes and the key that made the record must name one level."""
        if actor.get("level") != entry.level:
            yield f"says level {actor.get('level')!r:.40}, its row {entry.level}"
        if actor["auth"] == "system" and entry.level != EvidenceLevel.SERVER_RUN:
            yield f"was made by the service, but its level is {entry.level}"
        if actor["auth"] != "key":
            return
        key = self.keys.get(actor["id"])
        if key is None:
            yield f"was made with key {actor['id']}, which the log does not know before it"
            return
        if entry.level != key.level:
            yield f"has level {entry.level}, the key that made it {key.level}"
        if entry.namespace != key.namespace:
            yield f"is in namespace {entry.namespace}, the key that made it in {key.namespace}"

    def finish(self, connection: Connection) -> None:
        columns = sql_table(ApiKey).columns
        names = ("namespace", "roles", "groups", "level", "owner", "who", "expires_at")
        query = select(
            columns["key_id"],
            columns["revoked_at"],
            columns["secret_hmac"],
            *(columns[name] for name in names),
        )
        left = set(self.keys)
        for key_id, revoked_at, secret, *values in connection.execute(query):
            self.findings.checked["keys"] += 1
            known = self.keys.get(key_id)
            if known is None:
                self.findings.add(f"key {key_id} is in the table, but no record made it")
                continue
            left.discard(key_id)
            for name, value in zip(names, values, strict=True):
                if name == "roles":
                    value = ",".join(sorted(value.split(",")))
                if value != getattr(known, name):
                    self.findings.add(
                        f"key {key_id} differs in {name}: its record says {getattr(known, name)}, "
                        f"the table {value}"
                    )
            if hmac_digest(bytes(secret)) != known.token:
                self.findings.add(f"key {key_id} opens to another token than the one it was made with")
            if (revoked_at is not None) != (key_id in self.revoked):
                said = "says it was revoked" if key_id in self.revoked else "does not say that it was revoked"
                self.findings.add(f"key {key_id}: the log {said}, the table the contrary")
        for key_id in sorted(left):
            self.findings.add(f"key {key_id} has a record, but is missing from the table")
