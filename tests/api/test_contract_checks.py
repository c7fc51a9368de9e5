"""Asking for checks, and results that come from elsewhere: what is taken, at which level, and what is refused."""

import json
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.support.bodies import Body, digest_of, make_snapshot, make_start, new_run_id
from tests.support.calls import assert_refused, log_size, post, stored_body
from tests.support.contracts import ask, claim, complete, make_result, publish_suite, result_of
from tests.support.facts import get_all
from tests.support.histories import History
from tests.support.service import RunningService

TARGET: Body = {"contract": "orders", "root": "lake", "path": "orders/2026-05.parquet"}


@dataclass(frozen=True)
class Scene:
    service: RunningService
    recorder: httpx.Client
    worker: httpx.Client
    published: Body

    def batch(self, client: httpx.Client, body: object, kind: str = "contract.checked") -> Body:
        """The answer to one line."""
        answer = client.post("/v1/records:batch", content=json.dumps({"kind": kind, "body": body}))
        assert answer.status_code == 200, answer.text
        line: Body = answer.json()["items"][0]
        return line


@pytest.fixture
def scene(service: RunningService) -> Scene:
    published = publish_suite(service, _history(service).actor("author"))
    return Scene(service, service.client("recorder"), service.client("worker"), published)


@pytest.fixture
def sqlite_scene(sqlite_service: RunningService) -> Scene:
    """For what is refused before any database is asked, or by values that it gave."""
    service = sqlite_service
    published = publish_suite(service, _history(service).actor("author"))
    return Scene(service, service.client("recorder"), service.client("worker"), published)


def _history(service: RunningService) -> History:
    return History(service.services.ledger, service.services.ring)


def request_of(scene: Scene, id: str) -> Body:
    found: Body = scene.recorder.get(f"/v1/contract-checks/{id}").json()["request"]
    return found


def test_same_key_gives_the_same_check_and_other_content_is_refused(scene: Scene) -> None:
    first = post(scene.recorder, "/v1/contract-checks", TARGET, "night-1")
    assert (first.status_code, first.json()["state"]) == (202, "queued")
    again = post(scene.recorder, "/v1/contract-checks", TARGET, "night-1")
    assert (again.status_code, again.json()) == (202, first.json())
    other = post(scene.recorder, "/v1/contract-checks", TARGET | {"path": "else"}, "night-1")
    assert_refused(other, 409, "idempotency_key_reused")
    assert post(scene.recorder, "/v1/contract-checks", TARGET, "night-2").json()["id"] != first.json()["id"]
    assert ask(scene.recorder) != ask(scene.recorder)
    stranger = scene.service.client("recorder", namespace="team-b")
    assert_refused(post(stranger, "/v1/contract-checks", TARGET, "night-1"), 404, "not_found")


def test_same_key_still_gives_the_first_answer_when_the_contract_has_moved_on(scene: Scene) -> None:
    first = post(scene.recorder, "/v1/contract-checks", TARGET | {"version": 1}, "night-1").json()["id"]
    publish_suite(scene.service, _history(scene.service).actor("author"), 2, waived=["no_nan:amount"])
    again = post(scene.recorder, "/v1/contract-checks", TARGET | {"version": 1}, "night-1")
    assert (again.status_code, again.json()["id"]) == (202, first)
    old = post(scene.recorder, "/v1/contract-checks", TARGET | {"version": 1})
    assert_refused(old, 409, "contract_moved", "version 2 now, not 1")


def test_request_names_what_is_current_and_where_the_data_lies(scene: Scene) -> None:
    run = make_start()
    assert post(scene.recorder, "/v1/runs", run).status_code == 201
    id = ask(scene.recorder, run_id=run["run_id"], as_of="2026-05-01T14:00:00+02:00", parameters={"top": 3})
    assert request_of(scene, id) == {
        "contract": {name: scene.published[name] for name in ("name", "version", "digest", "suite_digest")},
        "object": "orders",
        "baseline": None,
        "snapshot": None,
        "root": "lake",
        "path": "orders/2026-05.parquet",
        "as_of": "2026-05-01T12:00:00.000000Z",
        "parameters": {"top": 3},
        "run_id": run["run_id"],
        "transformation": None,
    }
    work = claim(scene.worker)
    assert work is not None
    record = complete(scene.worker, work, result_of(work, scene.published)).json()["record"]
    assert stored_body(scene.recorder, record)["run_id"] == run["run_id"]


@pytest.mark.parametrize(
    ("changes", "status", "code", "said"),
    [
        ({"path": "https://example.org/orders.parquet"}, 422, "invalid_input", "URL"),
        ({"path": "../secret"}, 422, "invalid_input", ".."),
        ({"path": "orders/../../secret"}, 422, "invalid_input", ".."),
        ({"path": "/etc/passwd"}, 422, "invalid_input", "/path"),
        ({"path": None, "root": None}, 422, "invalid_input", "names no data"),
        ({"root": None}, 422, "invalid_input", "go together"),
        ({"object": "customers"}, 422, "invalid_input", "'orders'"),
        ({"contract": "nothing"}, 404, "not_found", "contract"),
        ({"baseline": digest_of("b")}, 409, "contract_moved", "baseline"),
        ({"run_id": new_run_id()}, 404, "run_not_found", "run"),
        ({"transformation": digest_of("t")}, 404, "not_found", "ingredient"),
        ({"snapshot": digest_of("s"), "root": None, "path": None}, 404, "not_found", "snapshot"),
        ({"as_of": "2026-05-01"}, 422, "invalid_input", "as_of"),
        ({"sql": "SELECT 1"}, 422, "invalid_input", "sql"),
    ],
)
def test_request_that_can_not_be_met_is_refused(
    sqlite_scene: Scene, changes: Body, status: int, code: str, said: str
) -> None:
    body = {name: value for name, value in (TARGET | changes).items() if value is not None}
    assert_refused(post(sqlite_scene.recorder, "/v1/contract-checks", body), status, code, said)
    assert claim(sqlite_scene.worker, roots=["lake"]) is None


def test_snapshot_without_location_is_told_how_to_be_checked(scene: Scene) -> None:
    snapshot = make_snapshot(digest=digest_of("orders"))
    assert post(scene.recorder, "/v1/snapshots", snapshot).status_code == 201
    body = {"contract": "orders", "snapshot": digest_of("orders")}
    assert_refused(post(scene.recorder, "/v1/contract-checks", body), 422, "invalid_input", "`location`")
    assert post(scene.recorder, "/v1/contract-checks", TARGET | body).status_code == 202


def test_output_of_a_transformation_is_found_by_what_it_recorded(scene: Scene) -> None:
    location = {"root": "lake", "path": "deduplicated"}
    output = make_snapshot(digest=digest_of("deduplicated"), location=location)
    steps = [
        {"name": "deduplicate", "version": "1", "output": digest_of("deduplicated")},
        {"name": "tokenize", "version": "1"},
    ]
    run = make_start(transformations=steps)
    assert post(scene.recorder, "/v1/snapshots", output).status_code == 201
    assert post(scene.recorder, "/v1/runs", run).status_code == 201
    first, second = scene.recorder.get(f"/v1/runs/{run['run_id']}").json()["transformations"]
    id = ask_for(scene, {"transformation": first})
    request = request_of(scene, id)
    assert (request["snapshot"], request["path"]) == (digest_of("deduplicated"), "deduplicated")
    other = {"contract": "orders", "transformation": first, "snapshot": digest_of("other")}
    assert_refused(post(scene.recorder, "/v1/contract-checks", other), 422, "invalid_input", "output")
    unknown = {"contract": "orders", "transformation": second}
    assert_refused(post(scene.recorder, "/v1/contract-checks", unknown), 422, "invalid_input", "`root`")
    id = ask_for(scene, {"transformation": second, "root": "lake", "path": "tokens"})
    assert request_of(scene, id)["snapshot"] is None


def ask_for(scene: Scene, body: Body) -> str:
    answer = post(scene.recorder, "/v1/contract-checks", {"contract": "orders"} | body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def test_result_from_elsewhere_has_the_level_of_its_key_whatever_it_says(scene: Scene) -> None:
    line = scene.batch(scene.recorder, make_result(scene.published))
    assert line["status"] == 201, line
    shown = scene.recorder.get(f"/v1/contract-checks/{line['record']}").json()
    assert (shown["state"], shown["evidence_level"]) == ("done", "self_reported")
    assert scene.batch(scene.worker, make_result(scene.published, failed=1))["status"] == 201
    assert (
        scene.batch(scene.recorder, make_result(scene.published) | {"level": "server_run"})["status"] == 422
    )
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
    publish_suite(scene.service, _history(scene.service).actor("author"), 2, waived=["no_nan:amount"])
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
    return {**result, "checks": [], "counts": {"failed": 2}, "checks_blob": digest_of("no such blob")}


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
    history = _history(service)
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
    short = whole | {"checks": whole["checks"][:1], "checks_blob": digest_of("all checks")}
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


def test_checks_without_a_result_are_listed_by_state(scene: Scene) -> None:
    asked = [ask(scene.recorder) for _ in range(4)]
    work = claim(scene.worker)
    assert work is not None
    scene.recorder.post(f"/v1/contract-checks/{asked[3]}:cancel")

    def listed(state: str) -> list[str]:
        return [each["id"] for each in get_all(scene.recorder, "/v1/contract-checks", state=state, limit=1)]

    assert listed("queued") == [asked[2], asked[1]]
    assert listed("running") == [asked[0]]
    assert listed("cancelled") == [asked[3]]
    both = scene.recorder.get("/v1/contract-checks", params={"state": "queued", "contract": "orders"})
    assert_refused(both, 422, "invalid_input", "no other filter")


def test_record_of_another_kind_is_no_check(scene: Scene) -> None:
    record = post(scene.recorder, "/v1/snapshots", make_snapshot()).json()["record"]
    assert_refused(scene.recorder.get(f"/v1/contract-checks/{record}"), 404, "not_found")
