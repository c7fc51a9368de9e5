"""Names of a registry as a program asks for them: what happened, what was released when, what a comparison found."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from shipworthy.query.client import ShipworthyClient
from shipworthy.query.errors import NotFound, RoleMissing
from tests.client.query.test_client import token_of
from tests.support.bodies import digest_of
from tests.support.gates import ARTIFACT, MODEL, TO
from tests.support.promotions import PromotionScene
from tests.support.service import RunningService
from tests.web.registry_scenes import promoted, reconciled


@pytest.fixture
def scene(sqlite_service: RunningService) -> PromotionScene:
    return PromotionScene(sqlite_service)


@pytest.fixture
def client(scene: PromotionScene) -> Iterator[ShipworthyClient]:
    with ShipworthyClient(scene.service.url, token_of(scene.reader)) as asking:
        yield asking


def test_what_happened_and_what_was_released_then(scene: PromotionScene, client: ShipworthyClient) -> None:
    promoted(scene)
    between = datetime.now(UTC)
    artifact = digest_of("second")
    scene.another(artifact)
    decision = scene.decided(artifact=artifact)["decision"]
    scene.promote("2", ("1", ARTIFACT), artifact=artifact)
    assert scene.refused("3", ("2", artifact), artifact=digest_of("third")) == "undecided"
    events = list(client.promotions(model=MODEL, target=TO, page=1))
    assert [(each.state, each.version) for each in events] == [
        ("refused", "3"),
        ("promoted", "2"),
        ("promoted", "1"),
    ]
    assert (events[1].decision, events[1].registry_user, events[1].action) == (decision, "ada", "promote")
    assert "has not decided" in str(events[0].sentence)
    assert [each.version for each in client.promotions(state="refused")] == ["3"]
    assert list(client.promotions(registry="eu")) == []
    (now,) = client.released_at(MODEL, datetime.now(UTC))
    (then,) = client.released_at(MODEL, between)
    assert (now.target, now.version, now.artifact, now.decision) == (TO, "2", artifact, decision)
    assert (then.version, then.artifact, then.by, then.how) == ("1", ARTIFACT, "ada", "promotion")


def test_protected_names_and_who_may_empty_them(scene: PromotionScene, client: ShipworthyClient) -> None:
    promoted(scene)
    found = client.protections()
    assert (found["all"], found["targets"]) == (False, ["Production", TO])
    with pytest.raises(RoleMissing):
        client.allow_demotion(MODEL, TO, "it invents numbers")
    with ShipworthyClient(scene.service.url, token_of(scene.grace)) as approver:
        assert approver.allow_demotion(MODEL, TO, "it invents numbers")["record"].startswith("sha256:")


def test_comparison_with_its_findings(scene: PromotionScene, client: ShipworthyClient) -> None:
    with pytest.raises(NotFound, match="SHIPWORTHY_MLFLOW_URI"):
        client.reconciliation()
    promoted(scene)
    reconciled(scene, Production={"version": "7", "artifact": digest_of("unknown")})
    found = client.reconciliation()
    (finding,) = found.findings
    assert (finding.kind, finding.target, finding.version) == ("undecided", "Production", "7")
    assert finding.who
    assert (found.observed, found.complete) == (2, True)
    assert 0 <= found.age_seconds < 600
