"""What is said of one kind of record: body, who may write it, what identifies it, what it is about."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from models.actor import Role
from models.fields import Value
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize

RECORDER: Final = frozenset({Role.RECORDER})
SERVER_ONLY: Final[frozenset[Role]] = frozenset()


def _no_key(fact: object, run_id: str | None) -> str | None:
    return None


def _no_subjects(fact: object) -> list[tuple[str, str]]:
    return []


@dataclass(frozen=True)
class Kind:
    """One kind of record. `key` is the natural identity (None = the content itself), `subject` the thing under
    which its history is found, `subjects` the digests named in the envelope. `own_call` is the only call that makes
    such a record, where a batch of records may not hold one. `personal`: what two persons say in the same words are
    two records."""

    name: str
    body: type[Value]
    roles: frozenset[Role]
    subject: Callable[[Any, str | None], str]
    key: Callable[[Any, str | None], str | None] = _no_key
    subjects: Callable[[Any], list[tuple[str, str]]] = _no_subjects
    own_call: str | None = None
    personal: bool = False

    @cached_property
    def schema(self) -> bytes:
        """The canonical JSON schema of the body. Made when it is first asked for: those of all kinds would be a tenth
        of the time in which every command starts."""
        return canonicalize(self.body.model_json_schema() | {"title": self.name})

    @cached_property
    def schema_digest(self) -> str:
        return sha256_digest(self.schema)

    def idempotency_key(
        self, fact: Value, run_id: str | None, content: str, owner: str | None, given: str | None
    ) -> str:
        """Under which key a record is stored once: the client's own, else what identifies the fact."""
        key = given or self.key(fact, run_id) or f"{run_id or ''}|{content}"
        # A client's key has no space: nobody can take another person's.
        person = f"{owner or ''} " if self.personal else ""
        return f"{'key' if given else self.name}|{person}{key}"
