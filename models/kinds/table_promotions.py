"""Kinds of what moves a target of a registry, and of what was seen there."""

from typing import Final

from models.actor import Role
from models.kinds import promotions
from models.kinds.kind import SERVER_ONLY, Kind


def _target_subject(fact: promotions.Named, run_id: str | None) -> str:
    return f"target:{fact.registry}|{fact.model}|{fact.target}"


def _moved_artifact(
    fact: promotions.PromotionGranted
    | promotions.Moved
    | promotions.PromotionRefused
    | promotions.PromotionObserved,
) -> list[tuple[str, str]]:
    return [("artifact", fact.artifact)] if fact.artifact else []


def _of_grant(fact: promotions.Promotion | promotions.PromotionFailed, run_id: str | None) -> str | None:
    return fact.grant


PROMOTIONS: Final = (
    Kind(
        "promotion.granted",
        promotions.PromotionGranted,
        SERVER_ONLY,
        _target_subject,
        subjects=_moved_artifact,
    ),
    Kind(
        "promotion",
        promotions.Promotion,
        SERVER_ONLY,
        _target_subject,
        key=_of_grant,
        subjects=_moved_artifact,
    ),
    Kind(
        "promotion.failed",
        promotions.PromotionFailed,
        SERVER_ONLY,
        _target_subject,
        key=_of_grant,
        subjects=_moved_artifact,
    ),
    Kind(
        "promotion.refused",
        promotions.PromotionRefused,
        SERVER_ONLY,
        _target_subject,
        subjects=_moved_artifact,
    ),
    Kind(
        "promotion.observed",
        promotions.PromotionObserved,
        frozenset({Role.RECORDER, Role.REGISTRY, Role.WORKER}),
        _target_subject,
        subjects=_moved_artifact,
        own_call="POST /v1/promotions:observe",
    ),
    Kind(
        "demotion.allowed",
        promotions.DemotionAllowed,
        frozenset({Role.APPROVER}),
        _target_subject,
        own_call="POST /v1/demotions",
        personal=True,
    ),
    Kind(
        "registry.reconciled",
        promotions.RegistryReconciled,
        frozenset({Role.WORKER, Role.REGISTRY}),
        lambda fact, _: f"registry:{fact.registry}",
        own_call="POST /v1/reconciliations",
    ),
)
