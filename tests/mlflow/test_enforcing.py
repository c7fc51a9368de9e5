"""The last look before a commit: what no plan permits is found, whichever method did it."""

import pytest

from shipworthy.mlflow.enforcing import unguarded
from shipworthy.mlflow.plans import Change, Plan
from shipworthy.mlflow.protections import UNKNOWN
from tests.mlflow.states import MODEL, make_protections

PROTECTIONS = make_protections(registration=["gated"])

GUARDED = [
    Change("alias", MODEL, "champion", "2"),
    Change("alias", MODEL, "champion", None),
    Change("alias", MODEL, "Champion", "2"),
    Change("stage", MODEL, "2", "Production", before="None"),
    Change("stage", MODEL, "2", "Archived", before="Production"),
    Change("stage", MODEL, "2", "Archived"),
    Change("registered", "gated", "", "runs:/r/model"),
    Change("renamed", MODEL, "", "other"),
    Change("rewritten", MODEL, "2", "source"),
    Change("version deleted", MODEL, "2", None),
    Change("model deleted", MODEL, "", None),
]
FREE = [
    Change("alias", MODEL, "dev", "2"),
    Change("alias", MODEL, "dev", None),
    Change("alias", MODEL, "Champion", None),
    Change("stage", MODEL, "2", "Staging", before="None"),
    Change("registered", MODEL, "", "runs:/r/model"),
]


@pytest.mark.parametrize("change", GUARDED, ids=str)
def test_guarded_change_is_found_without_a_plan_and_with_that_of_something_else(change: Change) -> None:
    assert unguarded([*FREE, change], PROTECTIONS, None) == change
    other = Plan(change.model, permits=frozenset({Change("alias", change.model, "champion", "9")}))
    assert unguarded([change], PROTECTIONS, other) == change
    assert unguarded([change], PROTECTIONS, Plan(change.model, permits=frozenset({change}))) is None


def test_free_changes_pass_without_a_plan() -> None:
    assert unguarded(FREE, PROTECTIONS, None) is None


@pytest.mark.parametrize("change", FREE[:2], ids=str)
def test_every_alias_is_guarded_before_the_service_has_answered(change: Change) -> None:
    assert unguarded([change], UNKNOWN, None) == change
