"""Results that come from elsewhere: what is taken, at which level, what is refused, and how they are listed."""

import json
from typing import Any

import pytest

from tests.api.check_scenes import Scene, history_of, make_scene
from tests.support.bodies import Body, digest_of
from tests.support.calls import log_size
from tests.support.contracts import ask, claim, complete, make_result, publish_suite, result_of
from tests.support.facts import get_all
from tests.support.service import RunningService


@pytest.fixture
def scene(service: RunningService) -> Scene:
    return make_scene(service)


@pytest.fixture
def sqlite_scene(sqlite_service: RunningService) -> Scene:
    """For what is refused before any database is asked, or by values that it gave."""
    return make_scene(sqlite_service)


def test_result_from_elsewhere_has_the_level_of_its_key_whatever_it_says(scene: Scene) -> None:
    line = scene.batch(scene.recorder, make_result(scene.published))
    assert line["status"] == 201, line
    shown = scene.recorder.get(f"/v1/contract-checks/{line['record']}").json()
    assert (shown["state"], shown["evidence_level"]) == ("done", "self_reported")
    assert (
        scene.batch(scene.recorder, make_result(scene.published) | {"level": "server_run"})["status"] == 422
    )
    ask(scene.recorder)
    work = claim(scene.worker)
    assert work is not None
    complete(scene.worker, work, result_of(work, scene.published, failed=1))
    levels = [each["evidence_level"] for each in get_all(scene.recorder, "/v1/contract-checks")]
    assert levels == ["trusted_runner", "self_reported"]
    assert scene.batch(scene.service.client("author"), make_result(scene.published))["code"] == "role_missing"


def test_own_report_cannot_pass_for_the_result_of_a_check_that_was_asked_for(scene: Scene) -> None:
    id = ask(scene.recorder)
    line = scene.batch(scene.recorder, make_result(scene.published, check=id))
    assert (line["status"], line["code"]) == (422, "invalid_input")
    assert "/body/check" in line["detail"]
    assert scene.recorder.get(f"/v1/contract-checks/{id}").json()["state"] == "queued"


def test_result_about_what_is_no_longer_current_is_refused(scene: Scene) -> None:
    size = log_size(scene.recorder)
    right = make_result(scene.published)
    for part, value in (
        ("version", 2),
        ("digest", digest_of("other document")),
        ("suite_digest", digest_of("other suite")),
    ):
        line = scene.batch(scene.recorder, right | {"contract": right["contract"] | {part: value}})
        assert (line["status"], line["code"]) == (409, "contract_moved")
        assert part in line["detail"]
    line = scene.batch(scene.recorder, right | {"baseline": digest_of("baseline")})
    assert (line["status"], line["code"]) == (409, "contract_moved")
    publish_suite(scene.service, history_of(scene.service).actor("author"), 2, waived=["no_nan:amount"])
    assert scene.batch(scene.recorder, right)["code"] == "contract_moved"
    unknown = scene.batch(scene.recorder, right | {"contract": right["contract"] | {"name": "nothing"}})
    assert unknown["status"] == 404
    assert log_size(scene.recorder) == size + 2, "a key and a version were added, no result"


def _failing(result: Body) -> Body:
    return {**result, "checks": [result["checks"][0] | {"outcome": "failed"}, result["checks"][1]]}


def _short(result: Body) -> Body:
    return {**result, "checks": result["checks"][:1], "counts": {"passed": 1}}


def _unjudged(result: Body) -> Body:
    """Says passed, and nobody looked: what is counted lies in a blob, or does not block."""
    return {**result, "checks": [], "counts": {"failed": 2}, "checks_blob": digest_of("document")}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (lambda result: _failing(result) | {"counts": {"passed": 1, "failed": 1}}, "worst of the blocking"),
        (_failing, "counts"),
        (lambda result: result | {"counts": {"passed": 3}}, "counts 3 checks as passed, but lists 2"),
        (lambda result: result | {"checks": [result["checks"][0]] * 2}, "twice"),
        (_short, "the suite has 2"),
        (_unjudged, "only 0 checks did"),
        (lambda result: result | {"object": "customers"}, "object"),
        (lambda result: result | {"outcome": "fine"}, "outcome"),
        (lambda result: result | {"data": result["data"] | {"path": "../x"}}, "/data/path"),
        (lambda result: result | {"data": result["data"] | {"manifest": None}}, "/data/manifest"),
    ],
)
def test_result_that_does_not_add_up_is_refused(sqlite_scene: Scene, changed: Any, said: str) -> None:
    line = sqlite_scene.batch(sqlite_scene.recorder, changed(make_result(sqlite_scene.published)))
    assert (line["status"], line["code"]) == (422, "invalid_input"), line
    assert said in json.dumps(line)


def test_contract_with_a_blocking_rule_that_is_not_evaluated_never_passes(service: RunningService) -> None:
    history = history_of(service)
    published = publish_suite(service, history.actor("author"))
    unjudged = [published["objects"][0] | {"not_evaluated": 1, "unjudged": 1}]
    body = published | {"version": 2, "objects": unjudged}
    history.add(history.actor("author"), "contract.published", body)
    scene = Scene(service, service.client("recorder"), service.client("worker"), body)
    line = scene.batch(scene.recorder, make_result(body))
    assert (line["status"], line["code"]) == (422, "invalid_input")
    assert "not evaluated" in line["detail"]
    assert scene.batch(scene.recorder, make_result(body) | {"outcome": "not_evaluated"})["status"] == 201


def test_result_of_many_checks_may_keep_the_good_ones_in_a_blob(scene: Scene) -> None:
    whole = make_result(scene.published, failed=1)
    short = whole | {"checks": whole["checks"][:1], "checks_blob": digest_of("document")}
    assert scene.batch(scene.recorder, short)["status"] == 201


def test_check_that_was_killed_is_recorded_as_error_with_its_reason(scene: Scene) -> None:
    id = ask(scene.recorder)
    work = claim(scene.worker)
    assert work is not None
    killed = result_of(work, scene.published) | {
        "outcome": "error",
        "reason": "killed at its memory limit of 2 GB; raise it with --memory",
        "counts": {"passed": 0, "failed": 0, "error": 0, "not_evaluated": 0},
        "checks": [],
    }
    assert complete(scene.worker, work, killed).status_code == 200
    assert scene.recorder.get(f"/v1/contract-checks/{id}").json()["result"]["outcome"] == "error"


@pytest.mark.parametrize("kind", ["contract.published", "baseline.published", "baseline.approved"])
def test_other_records_about_contracts_come_by_their_own_calls_alone(sqlite_scene: Scene, kind: str) -> None:
    client = sqlite_scene.service.client("author", "worker")
    line = sqlite_scene.batch(client, {}, kind)
    assert line["status"] in (403, 422), line
    assert kind in line["detail"] or line["code"] == "role_missing"


def test_results_are_listed_by_contract_snapshot_and_outcome(scene: Scene) -> None:
    records = {}
    for name, failed in (("a", 0), ("b", 1), ("c", 0)):
        result = make_result(scene.published, failed=failed, manifest=digest_of(name))
        records[name] = scene.batch(scene.recorder, result)["record"]
    ask(scene.recorder)
    work = claim(scene.worker)
    assert work is not None
    complete(scene.worker, work, result_of(work, scene.published))

    def listed(**filters: str | int) -> list[str]:
        return [each["record"] for each in get_all(scene.recorder, "/v1/contract-checks", **filters)]

    everything = listed(limit=1)
    assert everything[1:] == [records["c"], records["b"], records["a"]]
    assert listed(contract="orders") == everything
    assert listed(contract="nothing") == []
    assert listed(outcome="failed") == [records["b"]]
    assert listed(snapshot=digest_of("a"), outcome="passed") == [records["a"]]
    first = get_all(scene.recorder, "/v1/contract-checks")[0]
    assert (first["id"], "checks" in first, first["counts"]["passed"]) == (work["id"], False, 2)
    stranger = scene.service.client(namespace="team-b")
    assert get_all(stranger, "/v1/contract-checks") == []
