"""What is refused under the log lock for records about promotions."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Final, cast

from models.bulk import Row
from models.errors import DecisionMoved, GrantVoid, NotFound
from models.gates.in_force import standing
from models.gates.settling import is_settling
from models.kinds import promotions as kinds
from models.ledger.drafts import Draft
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.promotions.judging import fallen, judge, standing_question, taken_back
from models.promotions.projections import find_target
from models.promotions.tables import PromotionGrant, ReleasedVersion, ReleaseTarget
from models.promotions.verdicts import Allowed, Refused, Wanted

GRANT_NOT_FOUND: Final = "no grant with this id in this namespace; POST /v1/promotions:check gives one"
_CHANGED: Final = "what the promotion rests on changed while it was checked; check again"
_SETTLING: Final = "what the promotion rests on may change at this moment; ask again"


def check_grant(workspace: Workspace, entry: Entry) -> None:
    """Raises DecisionMoved unless the same is allowed now as when the grant was drafted."""
    fact = cast(kinds.PromotionGranted, entry.fact)
    _require_allowed(workspace, entry, fact)
    if fact.expires_at <= entry.recorded_at:
        raise DecisionMoved(_CHANGED)


def _require_allowed(
    workspace: Workspace, entry: Entry, fact: kinds.PromotionGranted | kinds.Promotion
) -> None:
    """Raises DecisionMoved unless what the record says is what is allowed now."""
    allowed = judge_in_batch(workspace, wanted_of(entry.namespace, fact), entry.recorded_at)
    drafted = (fact.action, fact.decision, fact.policy_digest, fact.demotion)
    if (
        not isinstance(allowed, Allowed)
        or (allowed.action, allowed.decision, allowed.policy_digest, allowed.demotion) != drafted
    ):
        raise DecisionMoved(_CHANGED)


def load_promotions(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    """What the only move of a commit needs is asked with everything else. Several ask for themselves: a statement for
    each number of them would have to be planned, which takes longer than to ask."""
    draft, *others = drafts
    fact = cast(kinds.Promotion, draft.fact)
    if others or fact.grant is not None:
        return
    workspace.load_row(ReleaseTarget, draft.namespace, fact.registry, fact.model, fact.target)
    if fact.action == "promote":
        released = (fact.registry, fact.model, fact.version, fact.artifact)
        workspace.load_row(ReleasedVersion, draft.namespace, *released)
    if fact.action != "demote":
        wanted = wanted_of(draft.namespace, fact)
        workspace.ask_as(_key(wanted), standing_question(wanted))


def judge_in_batch(workspace: Workspace, wanted: Wanted, now: datetime) -> Allowed | Refused:
    """Under the log lock, where nothing comes between this answer and the record that is made of it.

    Raises DecisionMoved when the batch may change the answer.
    """
    if is_settling(workspace, wanted.namespace, wanted.target, wanted.artifact or ""):
        raise DecisionMoved(_SETTLING)
    find = partial(find_target, workspace, wanted.namespace, wanted.registry, wanted.model)
    return judge(workspace.connection, wanted, find, now, workspace.answer(_key(wanted)))


def _key(wanted: Wanted) -> tuple[str, ...]:
    """Of the answer to `standing_question`."""
    named = (wanted.registry, wanted.model, wanted.target, wanted.version or "", wanted.artifact or "")
    return ("standing", wanted.namespace, *named)


def wanted_of(namespace: str, fact: kinds.PromotionGranted | kinds.Promotion) -> Wanted:
    return Wanted(
        namespace=namespace,
        action="promote" if fact.action == "rollback" else fact.action,
        registry=fact.registry,
        model=fact.model,
        version=fact.version,
        target=fact.target,
        artifact=fact.artifact,
        incumbent=fact.incumbent,
    )


def check_promotion(workspace: Workspace, entry: Entry) -> None:
    """Raises GrantVoid when the grant is over or settled, or what it rests on fell; DecisionMoved when that may change
    in this very batch, and for one without a grant unless it is allowed as it was drafted."""
    fact = cast(kinds.Promotion, entry.fact)
    if fact.grant is None:
        _require_allowed(workspace, entry, fact)
        return
    grant = _open_grant(workspace, entry.namespace, fact.grant)
    if grant["expires_at"] <= entry.recorded_at:
        raise GrantVoid("the grant is over; roll the move back and ask again with POST /v1/promotions:check")
    if is_settling(workspace, entry.namespace, fact.target, fact.artifact or ""):
        raise DecisionMoved(_SETTLING)
    why_not = _why_void(workspace, entry.namespace, fact, entry.recorded_at)
    if why_not is not None:
        raise GrantVoid(f"what the grant rests on no longer stands; roll the move back: {why_not}")


def check_failure(workspace: Workspace, entry: Entry) -> None:
    """Raises GrantVoid when the grant was settled before."""
    _open_grant(workspace, entry.namespace, cast(kinds.PromotionFailed, entry.fact).grant)


def _why_void(workspace: Workspace, namespace: str, fact: kinds.Promotion, now: datetime) -> str | None:
    if fact.action == "demote":
        place = find_target(workspace, namespace, fact.registry, fact.model, fact.target)
        demotion = None if place is None else place["demotion"]
        if demotion is None or taken_back(workspace.connection, namespace, demotion):
            return "the demotion was taken back"
        return None
    assert fact.artifact is not None
    found = standing(workspace.connection, namespace, fact.model, fact.target, fact.artifact, now)
    return fallen(found, fact.action, fact.decision)


def _open_grant(workspace: Workspace, namespace: str, record: str) -> Row:
    grant = workspace.get(PromotionGrant, namespace, record)
    if grant is None:
        raise NotFound(GRANT_NOT_FOUND)
    if grant["settled_by"] is not None:
        raise GrantVoid(
            f"the grant was settled before, by record {grant['settled_by']}; a grant is for one move: check again"
        )
    return grant
