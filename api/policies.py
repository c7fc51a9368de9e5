"""From the bytes of a policy to what is published of it, and back from a published version to the policy."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from api.documents import MEDIA_TYPES, media_type_of
from api.keeping import kept_blob
from gates.documents.problems import DocumentError, Problem
from gates.release.criteria.review import ReviewCriterion
from gates.release.loading import load_policy
from gates.release.policy import Policy
from models.blobs import BlobStore
from models.gates.people import Approver, eligible
from models.gates.queries import PublishedGate

MAX_POLICY_BYTES: Final = 256 * 1024
WHAT: Final = "policy"


@dataclass(frozen=True, slots=True)
class ReadPolicy:
    """A policy as it was sent."""

    policy: Policy
    data: bytes
    media_type: str


def read_policy(data: bytes, content_type: str | None) -> ReadPolicy:
    """Raises DocumentError for bytes that are no policy, InvalidInput for another kind of content."""
    media_type = media_type_of(data, content_type, WHAT)
    if len(data) > MAX_POLICY_BYTES:
        message = f"has {len(data)} bytes, the limit is {MAX_POLICY_BYTES}"
        raise DocumentError([Problem(1, "", "error", message)])
    return ReadPolicy(load_policy(data, MEDIA_TYPES[media_type]), data, media_type)


def published_policy(blobs: BlobStore, namespace: str, version: PublishedGate) -> Policy:
    """The policy of a published version; read from its bytes, which no database can change."""
    media_type = json.loads(version.document)["media_type"]
    return load_policy(kept_blob(blobs, namespace, version.digest), MEDIA_TYPES[media_type])


def people_problems(policy: Policy, found: Sequence[Approver], author: str | None) -> list[Problem]:
    """Reviews and waivers that nobody, or too few, could give: such a gate could never be passed as it is meant.

    The author is left out, as reviews leave the author out. Who trains a model is not known yet.
    """
    problems = []
    for index, criterion in enumerate(policy.criteria):
        if not isinstance(criterion, ReviewCriterion):
            continue
        pointer = f"/criteria/{index}/approvals"
        if author is None:
            message = (
                "asks for a review, and the key that publishes it names no person, so that nobody could be shown to be "
                "somebody else than its author; publish with a key that has an owner (keys create --owner ADDRESS)"
            )
            problems.append(_at(policy, f"/criteria/{index}", message))
            continue
        persons = eligible(found, criterion.roles, [author])
        if persons < criterion.approvals:
            problems.append(_at(policy, pointer, _too_few(criterion.approvals, criterion.roles, persons)))
    rule = policy.document.waivers
    if rule is not None and rule.allowed and eligible(found, (), [author]) < rule.approvals:
        persons = eligible(found, (), [author])
        problems.append(_at(policy, "/waivers/approvals", _too_few(rule.approvals, (), persons)))
    return problems


def _too_few(needed: int, groups: Sequence[str], persons: int) -> str:
    of = f" of the groups {', '.join(groups)}" if groups else ""
    command = f"keys create --role approver --owner ADDRESS{' --groups ' + groups[0] if groups else ''}"
    word = "person" if needed == 1 else "persons"
    return (
        f"asks for {needed} {word}{of}, but besides the author {persons} {'has' if persons == 1 else 'have'} an "
        f"approver key in force; have keys made ({command}), or ask for fewer"
    )


def _at(policy: Policy, pointer: str, message: str) -> Problem:
    place = pointer
    while place and place not in policy.lines:
        place = place.rpartition("/")[0]
    return Problem(policy.lines.get(place, 1), pointer, "error", message)
