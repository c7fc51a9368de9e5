"""What the log remembers of a key: that it was made, with which rights and for whom, and that it was
revoked or retired."""

from typing import Annotated

from pydantic import Field

from models.actor import EvidenceLevel, Role
from models.fields import LAX, Digest, Identifier, Instant, Label, Reason, Value
from models.patterns import KEY_ID_PATTERN, TOKEN_PATTERN

KeyId = Annotated[str, Field(pattern=KEY_ID_PATTERN)]
Pseudonym = Annotated[str, Field(pattern=TOKEN_PATTERN)]
Groups = Annotated[list[Label], Field(max_length=100)]


class Redactable(Value):
    """A personal value by its salted digest: `{"$redactable": "sha256:…"}`; see `disclosure` in the
    ledger."""

    digest: Digest = Field(alias="$redactable")


class KeyCreated(Value):
    """A new key. `owner` is the person's pseudonym in this namespace, `who` stands for the name or
    address, `token` for the secret (models/keys/tokens.py, `hmac_digest`)."""

    key_id: KeyId
    namespace: Identifier
    token: Digest
    roles: Annotated[list[Annotated[Role, LAX]], Field(min_length=1)]
    groups: Groups = []
    level: Annotated[EvidenceLevel, LAX]
    owner: Pseudonym | None = None
    who: Redactable | None = None
    expires_at: Instant | None = None


class KeyEnded(Value):
    """The key is refused from here on."""

    key_id: KeyId
    reason: Reason


class KeyRevoked(KeyEnded):
    """What it wrote before stays, and is trusted no longer: no pass of a gate rests on it any more."""


class KeyRetired(KeyEnded):
    """It was replaced or is not needed any more; what it wrote before counts as ever."""
