"""Who writes, for records that a test hands to the ledger itself."""

from models.actor import Actor
from tests.support.gates import GateScene
from tests.support.histories import History


def actor_of(scene: GateScene, *roles: str) -> Actor:
    services = scene.service.services
    return History(services.ledger, services.ring).actor(*roles, owner="kim@example.org")
