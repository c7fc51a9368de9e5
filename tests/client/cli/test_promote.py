"""`shipworthy promote`, `rollback`, `demote` and `reconcile` between a guarded MLflow registry and the service."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from models.promotions.tables import Reconciliation
from shipworthy.cli.promote import version_before
from shipworthy.query.promotions import PromotionEvent
from tests.client.cli.conftest import Shipworthy
from tests.client.cli.test_gates import token_of
from tests.support.bodies import digest_of
from tests.support.gates import ARTIFACT, MODEL, TO
from tests.support.mlflow_like import MlflowLike, mlflow_like
from tests.support.promotions import PromotionScene
from tests.support.service import RunningService
from tests.web.registry_scenes import reconciled

ARTIFACTS = {"1": ARTIFACT, "2": digest_of("second"), "3": digest_of("never measured")}


@dataclass
class Guarded:
    """An MLflow whose moves the real service judges, and the persons around it."""

    scene: PromotionScene
    mlflow: MlflowLike

    def guard(self, model: str, target: str, version: str | None) -> str | None:
        held = self.mlflow.aliases[model].get(target)
        changes = {"action": "demote" if version is None else "promote", "target": target}
        artifact = ARTIFACTS[str(version or held)]
        holds = None if held is None else (held, ARTIFACTS[held])
        judged = self.scene.check(version or held, holds, artifact=artifact, **changes)
        if not judged["allowed"]:
            return str(judged["sentence"])
        answer = self.scene.settle(judged["grant"])
        assert answer.status_code == 201, answer.text
        return None


@pytest.fixture
def guarded(sqlite_service: RunningService, monkeypatch: pytest.MonkeyPatch) -> Iterator[Guarded]:
    """Versions 1 and 2 pass the gate, 3 was never measured."""
    scene = PromotionScene(sqlite_service)
    scene.ready()
    scene.another(ARTIFACTS["2"])
    with mlflow_like() as mlflow:
        for version, artifact in ARTIFACTS.items():
            mlflow.register(MODEL, version, f"mlflow-artifacts:/{version}")
            scene.register_version(version, artifact)
        made = Guarded(scene, mlflow)
        mlflow.guard = made.guard
        monkeypatch.setenv("SHIPWORTHY_URL", sqlite_service.url)
        monkeypatch.setenv("SHIPWORTHY_TOKEN", token_of(scene.reader))
        for name in ("MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("MLFLOW_TRACKING_URI", mlflow.url)
        yield made


def test_release_and_the_way_back(guarded: Guarded, shipworthy: Shipworthy) -> None:
    guarded.scene.decided(version="1")
    first = shipworthy("promote", f"{MODEL}:1", "--to", TO)
    assert (first.code, first.out) == (0, f"{MODEL}:1 is {TO} now\n"), first.err
    assert first.err.startswith("on decision sha256:")
    guarded.scene.decided(artifact=ARTIFACTS["2"], version="2")
    second = shipworthy("promote", f"{MODEL}:2", "--to", TO, "--json")
    told = json.loads(second.out)
    assert (second.code, told["moved"], told["promotion"]["version"]) == (0, True, "2")
    back = shipworthy("rollback", MODEL, "--to", TO)
    assert (back.code, back.out) == (0, f"{MODEL}:1 is {TO} now; version 2 was\n"), back.err
    assert guarded.mlflow.aliases[MODEL] == {TO: "1"}
    further = shipworthy("rollback", MODEL, "--to", TO)
    assert further.code == 1
    assert "no other version was promoted there before; name one with --version" in further.err
    assert guarded.mlflow.aliases[MODEL] == {TO: "1"}


def test_refused_move_says_why_and_ends_as_check_does(guarded: Guarded, shipworthy: Shipworthy) -> None:
    refused = shipworthy("promote", f"{MODEL}:3", "--to", TO)
    assert (refused.code, refused.out) == (4, "")
    assert "has not decided about this artifact" in refused.err
    told = shipworthy("promote", f"{MODEL}:3", "--to", TO, "--json")
    assert json.loads(told.out)["moved"] is False
    assert shipworthy("check", f"{MODEL}:3", "--to", TO).code == 4
    guarded.scene.another(ARTIFACTS["3"], auc=0.7)
    assert guarded.scene.decided(artifact=ARTIFACTS["3"], version="3")["verdict"] == "blocked"
    assert shipworthy("promote", f"{MODEL}:3", "--to", TO).code == 1
    assert guarded.mlflow.aliases[MODEL] == {}


def test_move_that_no_guard_saw_is_no_success(guarded: Guarded, shipworthy: Shipworthy) -> None:
    guarded.mlflow.guard = None
    moved = shipworthy("promote", f"{MODEL}:3", "--to", TO)
    assert moved.code == 4
    assert f"{guarded.mlflow.url} has no guard" in moved.err


def test_doctor_names_what_takes_a_decision(guarded: Guarded, shipworthy: Shipworthy) -> None:
    assert f"✓ gates    names that take a decision: {TO}\n" in shipworthy("doctor").out


def test_stage_is_given_as_an_alias_is(guarded: Guarded, shipworthy: Shipworthy) -> None:
    guarded.mlflow.guard = None
    guarded.mlflow.versions[0].stage = "Production"
    shipworthy("promote", f"{MODEL}:2", "--to", "Production")
    assert [each.stage for each in guarded.mlflow.versions] == ["Archived", "Production", "None"]


def test_name_is_emptied_by_who_may(
    guarded: Guarded, shipworthy: Shipworthy, monkeypatch: pytest.MonkeyPatch
) -> None:
    guarded.scene.decided(version="1")
    shipworthy("promote", f"{MODEL}:1", "--to", TO)
    asked = ("demote", MODEL, "--from", TO, "--reason", "it invents numbers")
    assert shipworthy(*asked).code == 6
    assert guarded.mlflow.aliases[MODEL] == {TO: "1"}
    monkeypatch.setenv("SHIPWORTHY_TOKEN", token_of(guarded.scene.grace))
    done = shipworthy(*asked)
    assert (done.code, done.out) == (0, f"{TO} of {MODEL} holds nothing now; it held version 1\n"), done.err
    assert guarded.mlflow.aliases[MODEL] == {}
    again = shipworthy(*asked)
    assert (again.code, again.err) == (1, f"shipworthy: {MODEL} holds nothing at {TO}\n")


def test_registry_that_can_not_be_asked(
    guarded: Guarded, shipworthy: Shipworthy, monkeypatch: pytest.MonkeyPatch
) -> None:
    promote = ("promote", f"{MODEL}:1", "--to", TO)
    guarded.mlflow.authorization = "Basic YWRhOnNlY3JldA=="
    stranger = shipworthy(*promote)
    assert (stranger.code, "MLFLOW_TRACKING_USERNAME" in stranger.err) == (6, True)
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "ada")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "secret")
    assert shipworthy(*promote).code == 4
    away = shipworthy(*promote, "--tracking-uri", "http://127.0.0.1:1")
    assert away.code == 5
    assert away.err.startswith("shipworthy: MLflow at http://127.0.0.1:1 can't be reached")
    assert "doctor" not in away.err
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    assert "set MLFLOW_TRACKING_URI" in shipworthy(*promote).err
    assert shipworthy("promote", MODEL, "--to", TO, "--tracking-uri", "nowhere").code == 2


def test_reconcile_shows_what_differs(guarded: Guarded, shipworthy: Shipworthy) -> None:
    never = shipworthy("reconcile")
    assert never.code == 4
    assert "SHIPWORTHY_MLFLOW_URI" in never.err
    guarded.scene.decided(version="1")
    shipworthy("promote", f"{MODEL}:1", "--to", TO)
    reconciled(guarded.scene)
    fine = shipworthy("reconcile")
    assert (fine.code, "1 protected name looked at" in fine.out) == (0, True), fine.err
    exchanged: dict[str, Any] = {TO: {"version": "1", "artifact": ARTIFACTS["3"]}}
    reconciled(guarded.scene, **exchanged)
    differs = shipworthy("reconcile")
    assert differs.code == 1
    assert f"artifact changed  {MODEL}:1 → {TO}" in differs.out
    assert "to be mended by: recorder, evaluator" in differs.out
    assert json.loads(shipworthy("reconcile", "--json").out)["findings"][0]["kind"] == "artifact_changed"


def test_old_comparison_assures_nothing(guarded: Guarded, shipworthy: Shipworthy) -> None:
    guarded.scene.decided(version="1")
    shipworthy("promote", f"{MODEL}:1", "--to", TO)
    reconciled(guarded.scene)
    with guarded.scene.service.services.database.connection() as connection:
        connection.execute(update(Reconciliation).values(at=datetime.now(UTC) - timedelta(minutes=40)))
    old = shipworthy("reconcile")
    assert (old.code, "that is 40 min old" in old.err) == (4, True)
    assert shipworthy("reconcile", "--max-age", "3600").code == 0


@pytest.mark.parametrize(
    ("moves", "present", "expected"),
    [
        ([], None, None),
        (["1"], "1", None),
        (["1", "2"], "2", "1"),
        (["1", "2", "3"], "3", "2"),
        # Back from 3 to 2: what comes before that is 1, not 3 again.
        (["1", "2", "3", "<2"], "2", "1"),
        (["1", "2", "3", "<2", "<1"], "1", None),
        # A hotfix after the way back.
        (["1", "2", "<1", "4"], "4", "1"),
        # The registry holds what nobody promoted: back to the last that was.
        (["1", "2"], "9", "2"),
        (["1", "2"], None, "2"),
    ],
)
def test_version_before(moves: list[str], present: str | None, expected: str | None) -> None:
    events = [
        PromotionEvent(
            state="promoted",
            action="rollback" if move.startswith("<") else "promote",
            registry="default",
            model=MODEL,
            version=move.removeprefix("<"),
            target=TO,
            artifact=None,
            decision=None,
            sentence=None,
            registry_user=None,
            at="2026-05-01T12:00:00.000Z",
            document={},
        )
        for move in reversed(moves)
    ]
    assert version_before(events, present) == expected
