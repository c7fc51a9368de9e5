"""What the next artifact is compared with: what was promoted, or was seen there."""

import pytest

from tests.support.bodies import digest_of
from tests.support.gates import ARTIFACT, TO
from tests.support.promotions import PromotionScene
from tests.support.service import RunningService

BETTER = digest_of("a better model")


@pytest.fixture
def scene(sqlite_service: RunningService) -> PromotionScene:
    return PromotionScene(sqlite_service)


@pytest.fixture
def on_both(service: RunningService) -> PromotionScene:
    """For what asks the database in words of its own."""
    return PromotionScene(service)


def test_next_artifact_is_compared_with_what_was_promoted(on_both: PromotionScene) -> None:
    on_both.ready()
    on_both.decided()
    on_both.another(BETTER)
    undone = on_both.decided(artifact=BETTER)
    assert undone["incumbent"]["how"] == "decision"
    promoted = on_both.promote()
    made = on_both.decided(artifact=BETTER)
    assert made["incumbent"] == {
        "artifact": ARTIFACT,
        "how": "promotion",
        "record": promoted["record"],
        "target": TO,
    }
    on_both.promote("2", ("1", ARTIFACT), artifact=BETTER)
    again = on_both.decided()
    assert again["incumbent"]["artifact"] == BETTER
    assert on_both.decided(artifact=BETTER)["incumbent"]["artifact"] == ARTIFACT, "what it replaced"


def test_target_that_moved_on_since_the_decision_asks_for_another(scene: PromotionScene) -> None:
    third = digest_of("a third model")
    scene.ready()
    scene.another(BETTER)
    scene.another(third)
    scene.decided()
    scene.decided(artifact=third)
    scene.decided(artifact=BETTER)
    scene.promote()
    judged = scene.check("2", ("1", ARTIFACT), artifact=BETTER)
    assert judged["code"] == "incumbent_changed", "it was compared with the third one, which never came"
    assert ARTIFACT in judged["sentence"]
    assert third in judged["sentence"]
    scene.decided(artifact=BETTER)
    scene.promote("2", ("1", ARTIFACT), artifact=BETTER)


def test_target_with_a_holder_that_no_record_knows_is_no_first_release(scene: PromotionScene) -> None:
    scene.ready()
    scene.decided()
    judged = scene.check("2", ("1", digest_of("old")))
    assert judged["code"] == "incumbent_unknown"
    assert "promotions:observe" in judged["sentence"]
    assert scene.observe(artifact=digest_of("old")).status_code == 201
    assert scene.refused("2", ("1", digest_of("old"))) == "incumbent_changed"
    made = scene.decided()
    assert (made["incumbent"]["artifact"], made["incumbent"]["how"]) == (digest_of("old"), "observed")
    assert scene.refused("2", ("1", digest_of("other bytes"))) == "incumbent_unknown"
    assert scene.refused("2", None) == "incumbent_changed", "what was seen has to be there"
    scene.promote("2", ("1", digest_of("old")))


def test_what_was_said_to_be_there_before_has_to_be_there_too(scene: PromotionScene) -> None:
    """Else two observations in a row would let a recorder choose what the first release is compared with."""
    scene.ready()
    weak = digest_of("weak")
    scene.observe(artifact=digest_of("weaker"))
    scene.observe(version="9", artifact=weak)
    assert scene.decided()["incumbent"]["artifact"] == weak
    assert scene.refused("2", ("1", digest_of("what really serves"))) == "incumbent_unknown"
    assert scene.refused("2", ("1", None)) == "incumbent_unknown"
    scene.promote("2", ("9", weak))
