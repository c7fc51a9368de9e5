"""The page of the registry: what stands where, what is not as it was decided, and who can mend it."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from models.promotions.tables import Reconciliation
from tests.support.bodies import digest_of
from tests.support.gates import ARTIFACT, MODEL, TO
from tests.support.promotions import PromotionScene
from tests.support.service import RunningService
from tests.web.decision_scenes import signed_in
from tests.web.registry_scenes import promoted, reconciled, troubled
from tests.web.test_decision_pages import text_of


@pytest.fixture
def scene(service: RunningService) -> PromotionScene:
    """The test runs twice, as [sqlite] and as [postgresql]."""
    return PromotionScene(service)


@pytest.fixture
def sqlite_scene(sqlite_service: RunningService) -> PromotionScene:
    return PromotionScene(sqlite_service)


def shown(scene: PromotionScene, path: str = "/registry") -> str:
    page = signed_in(scene, "rob", "reader").get(path)
    assert page.status_code == 200, page.text
    return page.text


def test_registry_that_nobody_guards_says_how_to_begin(sqlite_scene: PromotionScene) -> None:
    said = text_of(shown(sqlite_scene))
    assert "Nothing was promoted through a gate yet." in said
    for command in (
        "shipworthy gate publish",
        "shipworthy+sqlite:///",
        "SHIPWORTHY_MLFLOW_URI=",
        "shipworthy promote",
    ):
        assert command in said


def test_steps_that_are_done_are_marked(sqlite_scene: PromotionScene) -> None:
    promoted(sqlite_scene)
    said = text_of(shown(sqlite_scene))
    assert "What is left to do" in said
    assert said.count("Done") == 3
    assert "Done Have a worker compare" not in said
    assert "the step below that is not done says how" in said


def test_promoted_version_stands_there_on_its_decision(scene: PromotionScene) -> None:
    promoted(scene)
    said = text_of(shown(scene))
    assert "Nobody has compared the registry with what was decided." in said
    assert reconciled(scene)["findings"] == []
    page = shown(scene)
    decision = scene.in_force()["decision"]["decision"]
    assert "Nothing needs you: 1 protected name holds what was decided." in text_of(page)
    assert f'href="/decisions/{decision}"' in page.replace("%3A", ":")
    assert f"{MODEL} version 1" in text_of(page)


def test_findings_come_worst_first_with_who_can_mend_them(scene: PromotionScene) -> None:
    troubled(scene)
    page = shown(scene)
    said = text_of(page)
    assert "The registry is not what was decided: 4 findings need you." in said
    places = [said.index(word) for word in ("Exchanged", "Undecided", "Unreadable", "What stands where")]
    assert places == sorted(places)
    assert "Who can mend it recorder, evaluator" in said
    assert "s3://models/8 (s3) can neither be read" in said
    assert digest_of("exchanged") in page, "to be copied whole"
    assert "Refused newest first" in said
    assert f"{MODEL} version 2 as {TO} by ada" in said


def test_overview_lists_the_findings(scene: PromotionScene) -> None:
    assert "no gate stands before any name of a model registry yet" in text_of(shown(scene, "/"))
    troubled(scene)
    said = text_of(shown(scene, "/"))
    assert said.index("Exchanged") < said.index("Undecided") < said.index("Unreadable")


def test_old_comparison_is_no_assurance(sqlite_scene: PromotionScene) -> None:
    promoted(sqlite_scene)
    reconciled(sqlite_scene)
    with sqlite_scene.service.services.database.connection() as connection:
        connection.execute(update(Reconciliation).values(at=datetime.now(UTC) - timedelta(minutes=40)))
    assert "Nobody has looked at default for 40 minutes." in text_of(shown(sqlite_scene))
    assert "Nobody has looked at default for 40 minutes." in text_of(shown(sqlite_scene, "/"))
    # The same again is no new record, and counts as a look.
    assert reconciled(sqlite_scene)["created"] is False
    assert "Nothing needs you" in text_of(shown(sqlite_scene))


def test_each_registry_is_named_and_others_namespaces_are_not_seen(sqlite_scene: PromotionScene) -> None:
    promoted(sqlite_scene)
    reconciled(sqlite_scene, "eu", challenger={"version": "3", "artifact": ARTIFACT})
    said = text_of(shown(sqlite_scene))
    assert "Undecided" in said
    assert f"{MODEL} version 3 at challenger eu" in said
    other = PromotionScene(sqlite_scene.service, "team-b")
    assert "Nothing was promoted through a gate yet." in text_of(shown(other))


def test_names_from_a_registry_are_text(sqlite_scene: PromotionScene) -> None:
    promoted(sqlite_scene)
    hostile = {"version": "1", "artifact": None, "unreadable": "<img src=x onerror=alert(1)>"}
    reconciled(sqlite_scene, challenger=hostile)
    page = shown(sqlite_scene)
    assert "<img" not in page
    assert "&lt;img src=x" in page
