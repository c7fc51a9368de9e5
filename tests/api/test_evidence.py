"""Evidence: what was run on something, told apart by what it was run on and of what kind."""

import pytest

from tests.support.attempts import make_evidence
from tests.support.bodies import Body, digest_of
from tests.support.calls import assert_refused, post
from tests.support.facts import get_all
from tests.support.service import RunningService

RESTORED = make_evidence()


def test_evidence_is_found_by_what_it_is_about(service: RunningService) -> None:
    evaluator = service.client("evaluator")
    bodies = [
        RESTORED,
        RESTORED | {"outcome": "failed", "exit_code": 3, "expires_at": "2026-05-08T12:00:00Z"},
        RESTORED | {"kind": "serving-load-test", "checks": 10},
        RESTORED | {"subject": digest_of("model"), "kind": "protected-population", "rows": 5},
    ]
    records = []
    for body in bodies:
        answer = post(evaluator, "/v1/evidence", body)
        assert answer.status_code == 201, answer.text
        records.append(answer.json()["record"])
    assert post(evaluator, "/v1/evidence", RESTORED).json() == {
        "record": records[0],
        "position": get_all(evaluator, "/v1/evidence", kind="checkpoint-restore")[1]["position"],
        "created": False,
    }

    def listed(**filters: str) -> list[str]:
        return [each["record"] for each in get_all(service.client(), "/v1/evidence", limit=1, **filters)]

    assert listed() == records[::-1]
    assert listed(subject=digest_of("checkpoint")) == [records[2], records[1], records[0]]
    assert listed(subject=digest_of("checkpoint"), kind="checkpoint-restore") == [records[1], records[0]]
    assert listed(kind="data-contract") == []
    shown = get_all(evaluator, "/v1/evidence", kind="protected-population")[0]
    assert (shown["evidence_level"], shown["outcome"], shown["rows"]) == ("trusted_runner", "passed", 5)
    assert get_all(service.client(namespace="team-b"), "/v1/evidence") == []


def test_revoked_evidence_says_so(service: RunningService) -> None:
    record = post(service.client("evaluator"), "/v1/evidence", RESTORED).json()["record"]
    revoked = {"record": record, "effect": "revoked", "reason": "ran on the wrong machine"}
    assert post(service.client("author"), "/v1/revocations", revoked).status_code == 201
    (shown,) = get_all(service.client(), "/v1/evidence")
    assert [mark["effect"] for mark in shown["marks"]] == ["revoked"]


def test_evidence_of_a_recorder_that_also_evaluates_is_self_reported(service: RunningService) -> None:
    assert post(service.client("recorder", "evaluator"), "/v1/evidence", RESTORED).status_code == 201
    assert get_all(service.client(), "/v1/evidence")[0]["evidence_level"] == "self_reported"
    assert_refused(
        post(service.client("recorder"), "/v1/evidence", RESTORED), 403, "role_missing", "evaluator"
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"exit_code": 1}, "exit code is 1"),
        ({"checks": 0}, "0 checks"),
        ({"rows": 0}, "0 rows"),
        ({"expires_at": "2026-05-01T12:00:00Z"}, "expires"),
        ({"produced_at": "2026-05-01T12:00:00"}, "/produced_at"),
        ({"outcome": "skipped"}, "/outcome"),
        ({"subject": "model:latest"}, "/subject"),
        ({"kind": ""}, "/kind"),
        ({"level": "server_run"}, "/level"),
    ],
)
def test_pass_that_looked_at_nothing_is_refused(
    sqlite_service: RunningService, changes: Body, said: str
) -> None:
    refused = post(sqlite_service.client("evaluator"), "/v1/evidence", RESTORED | changes)
    assert_refused(refused, 422, "invalid_input", said)
