"""What a call to the registry needs from the gates, before anything is written."""

import pytest

from shipworthy.mlflow.planning import (
    plan_alias,
    plan_alias_deletion,
    plan_model_deletion,
    plan_registration,
    plan_rename,
    plan_stage,
    plan_version_deletion,
)
from shipworthy.mlflow.plans import Change, ModelState, Plan, Refused
from shipworthy.mlflow.protections import UNKNOWN, Released
from tests.mlflow.states import MODEL, make_protections, make_released, make_row, make_state

PROTECTIONS = make_protections()
NOTHING = Plan(MODEL)
Asked = tuple[str, str, int | None, int | None]


def asked(plan: Plan) -> list[Asked]:
    """Action, target, version that would stand there, version that stands there now."""
    return [
        (
            move.action,
            move.target,
            None if move.row is None else move.row.version,
            None if move.incumbent is None else move.incumbent.version,
        )
        for move in plan.moves
    ]


def test_moving_a_protected_alias_asks_with_its_present_version() -> None:
    plan = plan_alias(make_state(1, 2, champion=1), PROTECTIONS, "champion", 2)
    assert asked(plan) == [("promote", "champion", 2, 1)]
    assert plan.permits == {Change("alias", MODEL, "champion", "2")}


def test_alias_set_to_what_it_holds_is_asked_again_for_its_artifact_may_be_another() -> None:
    plan = plan_alias(make_state(1, champion=1), PROTECTIONS, "champion", 1)
    assert asked(plan) == [("promote", "champion", 1, 1)]


def test_alias_that_points_to_a_version_that_is_gone_has_no_incumbent() -> None:
    assert asked(plan_alias(make_state(2, champion=1), PROTECTIONS, "champion", 2)) == [
        ("promote", "champion", 2, None)
    ]


def test_free_alias_and_missing_version_need_nothing() -> None:
    assert plan_alias(make_state(1), PROTECTIONS, "dev", 1) == NOTHING
    assert plan_alias(make_state(1), PROTECTIONS, "champion", 9) == NOTHING


def test_lookalike_alias_is_refused_with_the_name_it_reads_like() -> None:
    with pytest.raises(Refused, match=r"reads like the protected alias 'champion'"):
        plan_alias(make_state(1), PROTECTIONS, "Champion", 1)


def test_deleting_a_protected_alias_is_a_demotion_and_another_is_nothing() -> None:
    state = make_state(1, champion=1, dev=1)
    assert asked(plan_alias_deletion(state, PROTECTIONS, "champion")) == [("demote", "champion", 1, 1)]
    assert plan_alias_deletion(state, PROTECTIONS, "dev") == NOTHING
    assert plan_alias_deletion(make_state(1), PROTECTIONS, "champion") == NOTHING


def test_into_production_asks_with_the_highest_version_there() -> None:
    state = make_state(make_row(1, "Production"), make_row(2, "Production"), make_row(3))
    plan = plan_stage(state, PROTECTIONS, 3, "Production", archive_others=False)
    assert asked(plan) == [("promote", "Production", 3, 2)]
    assert plan.permits == {Change("stage", MODEL, "3", "Production")}


def test_archiving_what_was_there_is_permitted_with_the_promotion() -> None:
    state = make_state(make_row(1, "Production"), make_row(2, "Production"), make_row(3))
    plan = plan_stage(state, PROTECTIONS, 3, "Production", archive_others=True)
    assert asked(plan) == [("promote", "Production", 3, 2)]
    assert plan.permits == {
        Change("stage", MODEL, "3", "Production"),
        Change("stage", MODEL, "2", "Archived"),
        Change("stage", MODEL, "1", "Archived"),
    }


def test_lower_version_into_production_needs_the_higher_one_archived() -> None:
    state = make_state(make_row(1), make_row(2, "Production"))
    with pytest.raises(Refused, match="archive_existing_versions=True"):
        plan_stage(state, PROTECTIONS, 1, "Production", archive_others=False)
    plan = plan_stage(state, PROTECTIONS, 1, "Production", archive_others=True)
    assert asked(plan) == [("promote", "Production", 1, 2)]


def test_out_of_production_is_a_demotion_when_nothing_else_is_there() -> None:
    state = make_state(make_row(2, "Production"))
    assert asked(plan_stage(state, PROTECTIONS, 2, "Archived", False)) == [("demote", "Production", 2, 2)]


def test_out_of_production_promotes_what_consumers_get_then() -> None:
    state = make_state(make_row(1, "Production"), make_row(2, "Production"))
    assert asked(plan_stage(state, PROTECTIONS, 2, "None", False)) == [("promote", "Production", 1, 2)]
    # The lower one is what nobody gets: its leaving changes nothing for anybody.
    assert asked(plan_stage(state, PROTECTIONS, 1, "None", False)) == []


def test_from_one_protected_stage_to_another_asks_both() -> None:
    state = make_state(make_row(1, "Production"))
    protections = make_protections(["Production", "Staging"])
    assert asked(plan_stage(state, protections, 1, "Staging", False)) == [
        ("demote", "Production", 1, 1),
        ("promote", "Staging", 1, None),
    ]


def test_stage_that_reads_like_a_protected_alias_is_refused() -> None:
    """`models:/fraud/staging` is the stage, in any letter case, and `models:/fraud@staging` the alias."""
    protections = make_protections(["staging", "Production"])
    with pytest.raises(Refused, match="reads like"):
        plan_stage(make_state(1), protections, 1, "Staging", False)
    assert asked(plan_stage(make_state(make_row(1, "Staging")), protections, 1, "Archived", False)) == []


def test_unprotected_stage_needs_nobody() -> None:
    assert asked(plan_stage(make_state(1), PROTECTIONS, 1, "Staging", False)) == []


@pytest.mark.parametrize(
    ("state", "released", "why"),
    [
        (make_state(1, champion=1), [], "holds champion"),
        (make_state(make_row(1, "Production")), [], "is in Production"),
        (make_state(1), [make_released(1, "champion", "canary")], "was released to champion, canary"),
    ],
)
def test_released_version_is_neither_deleted_nor_renamed(
    state: ModelState, released: list[Released], why: str
) -> None:
    protections = make_protections(released=released)
    refused = pytest.raises(Refused, match=f"Version 1 of fraud {why}")
    with refused:
        plan_version_deletion(state, protections, 1)
    with refused:
        plan_model_deletion(state, protections)
    with refused:
        plan_rename(state, protections, "other")


def test_what_was_never_released_can_be_deleted_and_renamed() -> None:
    elsewhere = [
        make_released(1, registry="default@team-b"),
        make_released(1, model="other"),
        make_released(2),
    ]
    protections = make_protections(released=elsewhere)
    assert plan_version_deletion(make_state(1, dev=1), protections, 1).permits == {
        Change("version deleted", MODEL, "1", None)
    }
    protections = make_protections(released=elsewhere[:2])
    assert plan_model_deletion(make_state(1, dev=1), protections).permits == {
        Change("model deleted", MODEL, "", None)
    }
    assert plan_rename(make_state(1, dev=1), protections, "new").permits == {
        Change("renamed", MODEL, "", "new")
    }


def test_nothing_is_deleted_while_nobody_knows_all_that_was_released() -> None:
    for protections in (UNKNOWN, make_protections(complete=False)):
        with pytest.raises(Refused, match="nothing is deleted or renamed"):
            plan_version_deletion(make_state(1), protections, 1)
        with pytest.raises(Refused, match="nothing is deleted or renamed"):
            plan_model_deletion(make_state(), protections)


def test_renaming_brings_no_versions_into_a_model_whose_registration_is_gated() -> None:
    protections = make_protections(registration=["gated"])
    with pytest.raises(Refused, match="need a decision of its gate for registration"):
        plan_rename(make_state(1), protections, "gated")
    assert plan_rename(make_state(), protections, "gated").moves == ()


def test_only_gated_registrations_are_asked() -> None:
    row = make_row(0)
    assert plan_registration("free", make_protections(registration=["gated"]), row) == Plan("free")
    for protections in (make_protections(registration=["gated"]), UNKNOWN):
        plan = plan_registration("gated", protections, row)
        assert asked(plan) == [("register", "registration", 0, None)]
        assert plan.permits == {Change("registered", "gated", "", row.source)}
