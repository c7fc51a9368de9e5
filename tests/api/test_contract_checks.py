"""Asking for checks and finding them again: what is taken and what is refused."""

import pytest

from tests.api.check_scenes import TARGET, Scene, history_of, make_scene, request_of
from tests.support.bodies import Body, digest_of, make_snapshot, make_start, new_run_id
from tests.support.calls import assert_refused, post, stored_body
from tests.support.contracts import ask, claim, complete, publish_suite, result_of
from tests.support.facts import get_all
from tests.support.service import RunningService


@pytest.fixture
def scene(service: RunningService) -> Scene:
    return make_scene(service)


@pytest.fixture
def sqlite_scene(sqlite_service: RunningService) -> Scene:
    """For what is refused before any database is asked, or by values that it gave."""
    return make_scene(sqlite_service)


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
    publish_suite(scene.service, history_of(scene.service).actor("author"), 2, waived=["no_nan:amount"])
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


def test_queued_work_says_which_root_it_waits_for_and_when_a_worker_was_seen(scene: Scene) -> None:
    id = ask(scene.recorder)
    told = scene.recorder.get(f"/v1/contract-checks/{id}").json()
    assert told["waits_for"] == {"root": "lake", "worker_seen_at": None}
    claim(scene.worker, kinds=["checkpoint_verification"], roots=["lake"])
    for path in ("/v1/contract-checks", "/v1/work"):
        told = scene.recorder.get(f"{path}/{id}").json()
        assert told["waits_for"]["root"] == "lake"
        assert told["waits_for"]["worker_seen_at"] >= told["requested_at"]
    assert claim(scene.worker) is not None
    assert "waits_for" not in scene.recorder.get(f"/v1/contract-checks/{id}").json()


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
