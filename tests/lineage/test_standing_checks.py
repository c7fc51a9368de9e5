"""Which result of several on the same bytes a lineage shows: a failure is taken back by nothing but a later answer to
the same question."""

from typing import Any

import pytest

from tests.lineage.test_contract_checks import Scene, shown, warnings
from tests.support.bodies import digest_of
from tests.support.calls import post
from tests.support.service import RunningService

MAY, JUNE, JULY = (f"2026-0{month}-01T12:00:00Z" for month in (5, 6, 7))
DATA = digest_of("clicks")


@pytest.fixture
def scene(service: RunningService) -> Scene:
    return Scene(service)


def outcomes(found: dict[str, Any]) -> list[str]:
    return [outcome for _, outcome in shown(found)]


def test_check_as_of_an_older_time_does_not_hide_a_failure(scene: Scene) -> None:
    scene.check("clicks", failed=1, as_of=JUNE)
    scene.check("clicks", as_of=MAY)
    found = scene.lineage(scene.train("clicks"))
    assert outcomes(found) == ["failed", "passed"]
    assert len(warnings(found)) == 1


def test_check_with_other_parameters_does_not_hide_a_failure(scene: Scene) -> None:
    scene.check("clicks", failed=1, as_of=MAY, parameters={"least": 10, "day": "x"})
    scene.check("clicks", as_of=JUNE, parameters={"least": 1, "day": "x"})
    run = scene.train("clicks")
    assert outcomes(scene.lineage(run)) == ["failed", "passed"]
    scene.check("clicks", as_of=JUNE, parameters={"day": "x", "least": 10})
    assert outcomes(scene.lineage(run)) == ["passed", "passed"], "the order of parameters is none"


def test_check_as_of_a_later_time_takes_the_place_of_all_before_it(scene: Scene) -> None:
    scene.check("clicks", failed=1, as_of=JUNE)
    scene.check("clicks", as_of=MAY)
    scene.check("clicks", as_of=JULY)
    run = scene.train("clicks")
    assert outcomes(scene.lineage(run)) == ["passed"]
    scene.check("clicks", failed=1, as_of=JULY, started_at=JULY)
    assert outcomes(scene.lineage(run)) == ["failed"]


@pytest.mark.parametrize("outcome", ["error", "not_evaluated"])
def test_check_without_an_answer_takes_no_failure_back_and_an_answer_takes_its_place(
    scene: Scene, outcome: str
) -> None:
    scene.check("clicks", failed=1, as_of=MAY)
    scene.check("clicks", as_of=JUNE, outcome=outcome, reason="the child was killed at its memory limit")
    run = scene.train("clicks")
    assert sorted(outcomes(scene.lineage(run))) == sorted([outcome, "failed"])
    scene.check("clicks", as_of=JULY)
    assert outcomes(scene.lineage(run)) == ["passed"]


def test_revoked_result_takes_no_failure_back(scene: Scene) -> None:
    scene.check("clicks", failed=1, as_of=MAY)
    record = scene.check("clicks", as_of=JUNE)
    run = scene.train("clicks")
    before = scene.lineage(run)["as_of"]["position"]
    assert outcomes(scene.lineage(run)) == ["passed"]
    body = {"record": record, "effect": "revoked", "reason": "checked with a broken engine"}
    assert post(scene.client, "/v1/revocations", body).status_code == 201
    found = scene.lineage(run)
    assert outcomes(found) == ["failed", "passed"]
    assert len(warnings(found)) == 1
    assert outcomes(scene.lineage(run, as_of=before)) == ["passed"], "as of then nobody had revoked it"
