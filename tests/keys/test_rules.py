"""Which keys may be made."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import combinations

import pytest

from models.actor import EvidenceLevel, Role
from models.errors import InvalidInput
from models.keys.rules import KeyRights, check_rights

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def make_rights(
    *roles: str,
    namespace: str = "team-a",
    owner: str | None = "ada@example.org",
    groups: Sequence[str] = (),
    level: str | None = None,
    expires_at: datetime | None = None,
) -> KeyRights:
    return check_rights(
        namespace=namespace,
        roles=roles,
        owner=owner,
        groups=groups,
        level=level,
        expires_at=expires_at,
        now=NOW,
    )


def test_admin_goes_with_no_role_that_makes_or_approves_evidence() -> None:
    refused = {Role.APPROVER, Role.RECORDER, Role.EVALUATOR}
    for pair in combinations(Role, 2):
        if Role.ADMIN in pair and refused & set(pair):
            with pytest.raises(InvalidInput, match="admin key may not also be"):
                make_rights(*pair)
        else:
            assert set(make_rights(*pair).roles) == set(pair)


def test_unknown_role_is_answered_with_the_list() -> None:
    with pytest.raises(
        InvalidInput, match=r"'boss' is not known.*reader, recorder, evaluator, author"
    ) as caught:
        make_rights("reader", "boss")
    assert [problem.field for problem in caught.value.problems] == ["/roles"]


def test_a_key_without_a_role_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one role"):
        make_rights()


def test_approver_needs_an_owner() -> None:
    with pytest.raises(InvalidInput, match="needs its owner"):
        make_rights("approver", owner=None)
    assert make_rights("approver", owner=" Ada ").owner == "Ada"


@pytest.mark.parametrize("owner", ["", "   ", "a" * 257, "ada\n@example.org", "ada\u202e"])
def test_owner_is_one_line_of_1_to_256_characters(owner: str) -> None:
    with pytest.raises(InvalidInput, match=r"owner .*1 to 256"):
        make_rights("reader", owner=owner)
    assert make_rights("reader", owner="a" * 256).owner == "a" * 256


@pytest.mark.parametrize("namespace", ["", "-a", "a b", "a\n", "ä", "a" * 257, "../a"])
def test_namespace_follows_the_identifier_pattern(namespace: str) -> None:
    with pytest.raises(InvalidInput, match="namespace") as caught:
        make_rights("reader", namespace=namespace)
    assert [problem.field for problem in caught.value.problems] == ["/namespace"]


@pytest.mark.parametrize(
    ("roles", "level"),
    [
        (["worker"], EvidenceLevel.TRUSTED_RUNNER),
        (["evaluator"], EvidenceLevel.TRUSTED_RUNNER),
        (["recorder"], EvidenceLevel.SELF_REPORTED),
        (["recorder", "evaluator"], EvidenceLevel.SELF_REPORTED),
        (["reader"], EvidenceLevel.SELF_REPORTED),
    ],
)
def test_level_follows_from_the_roles(roles: list[str], level: EvidenceLevel) -> None:
    assert make_rights(*roles).level is level
    assert make_rights(*roles, level=level.value).level is level


def test_server_run_is_for_workers_only() -> None:
    assert make_rights("worker", level="server_run").level is EvidenceLevel.SERVER_RUN
    for roles in (["evaluator"], ["recorder"], ["worker", "recorder"], ["worker", "reader"]):
        with pytest.raises(InvalidInput, match="only role is worker"):
            make_rights(*roles, level="server_run")


@pytest.mark.parametrize("level", ["trusted_runner", "best", ""])
def test_a_recorder_key_can_not_be_given_another_level(level: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make_rights("recorder", level=level)
    assert [problem.field for problem in caught.value.problems] == ["/level"]


def test_expiry_is_a_later_time_with_a_zone() -> None:
    for when in (NOW, NOW - timedelta(days=1), datetime(2030, 1, 1)):  # noqa: DTZ001
        with pytest.raises(InvalidInput, match="expires_at"):
            make_rights("reader", expires_at=when)
    assert make_rights("reader", expires_at=NOW + timedelta(1)).expires_at == NOW + timedelta(1)


def test_roles_and_groups_are_sorted_and_single() -> None:
    rights = make_rights("worker", "author", "worker", groups=["b", " a", "b"])
    assert rights.roles == (Role.AUTHOR, Role.WORKER)
    assert rights.groups == ("a", "b")
