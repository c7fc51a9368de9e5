"""A registry before whose names a gate stands: one version promoted, and what a reconciler then sees there."""

from typing import Any

from tests.support.bodies import Body, digest_of
from tests.support.calls import post
from tests.support.gates import ARTIFACT, MODEL, TO, ahead
from tests.support.promotions import PromotionScene


def promoted(scene: PromotionScene) -> None:
    """Version 1 is the champion, on a decision."""
    scene.ready()
    scene.register_version("1")
    assert scene.decided(version="1")["verdict"] == "passed"
    scene.promote("1")


def reconciled(scene: PromotionScene, registry: str = "default", **seen: Any) -> Body:
    """What is found when the champion is what was promoted and `seen` stands at other targets, or in its place."""
    holds = {TO: {"version": "1", "artifact": ARTIFACT}, **seen}
    observed = [{"model": MODEL, "target": target, **held} for target, held in holds.items()]
    body = {
        "registry": registry,
        "started_at": ahead(seconds=-1),
        "finished_at": ahead(),
        "observed": observed,
        "complete": True,
    }
    answer = post(scene.worker, "/v1/reconciliations", body)
    assert answer.status_code in (200, 201), answer.text
    found: Body = answer.json()
    return found


def troubled(scene: PromotionScene) -> None:
    """A refused try, a name that was moved past the gate, an artifact that was exchanged, one that nobody can read."""
    promoted(scene)
    assert scene.refused("2", ("1", ARTIFACT), artifact=digest_of("never decided")) == "undecided"
    seen: dict[str, Any] = {
        TO: {"version": "1", "artifact": digest_of("exchanged")},
        "Production": {"version": "7", "artifact": digest_of("unknown")},
        "challenger": {
            "version": "8",
            "artifact": None,
            "unreadable": "its artifact at s3://models/8 (s3) can neither be read here nor through MLflow",
        },
    }
    reconciled(scene, **seen)
