"""What a verification comes to, and the refusal that ends it."""

from dataclasses import dataclass
from enum import IntEnum


class Verified(IntEnum):
    """Exit codes of `shipworthy verify`."""

    PROVEN = 0
    FORGED = 2
    """A hash, a proof or a signature is wrong."""
    NOT_ACCEPTED = 3
    """All is genuine, but the signer is not trusted, or the decision does not let the artifact pass now."""
    INCOMPLETE = 4
    """Something that is needed is not in the bundle, the trust file or the pin."""


class VerificationFailed(Exception):
    """The sentence says what is wrong and what to do."""

    def __init__(self, outcome: Verified, sentence: str) -> None:
        super().__init__(sentence)
        self.outcome = outcome
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Report:
    """What was shown, a sentence each, and what nobody can show from these files alone."""

    model: str
    target: str
    artifact: str
    decision: str
    proven: tuple[str, ...]
    not_proven: tuple[str, ...]
