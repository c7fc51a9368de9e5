"""`POST /v1/records:batch`: each line for itself, in order, with the status that its own call would have had."""

import gzip
import json
from typing import Any

import httpx

from tests.support.bodies import (
    digest_of,
    make_checkpoint,
    make_evaluation,
    make_event,
    make_run,
    make_snapshot,
    make_start,
    make_verification,
    make_version,
    new_run_id,
)
from tests.support.calls import assert_refused, log_size, post, stored_body
from tests.support.service import RunningService

MAX_LINE_BYTES = 256 * 1024


def line(kind: str, body: object, **more: object) -> str:
    return json.dumps({"kind": kind, "body": body, **more})


def send(client: httpx.Client, *lines: str, end: str = "\n", **headers: str) -> list[dict[str, Any]]:
    answer = client.post("/v1/records:batch", content=end.join(lines).encode(), headers=headers)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def statuses(items: list[dict[str, Any]]) -> list[int]:
    return [item["status"] for item in items]


def test_lines_of_all_kinds_are_recorded_in_their_order(recorder: httpx.Client) -> None:
    run = make_start()
    run_id = run["run_id"]
    lines = [
        line("run.registered", run),
        line("run.event", make_event(run_id=run_id)),
        line("checkpoint.saved", make_checkpoint(run_id=run_id)),
        line("checkpoint.verified", make_verification(checkpoint=digest_of("checkpoint"))),
        line("artifact", {"run_id": run_id, "digest": digest_of("model")}),
        line("evaluation.completed", make_evaluation(run_id=run_id)),
        line("model_version", make_version(run_id=run_id)),
        line("snapshot", make_snapshot()),
    ]
    items = send(recorder, *lines)
    assert statuses(items) == [201] * 8
    assert [item["line"] for item in items] == list(range(1, 9))
    assert [item["position"] for item in items] == list(range(items[0]["position"], items[0]["position"] + 8))
    for sent, item in zip(lines, items, strict=True):
        assert stored_body(recorder, item["record"]) == json.loads(sent)["body"]
    again = send(recorder, *lines)
    assert statuses(again) == [200] * 8
    assert [item["record"] for item in again] == [item["record"] for item in items]


def test_line_and_own_call_record_the_same(recorder: httpx.Client) -> None:
    run = make_run()
    (item,) = send(recorder, line("run.registered", run))
    assert (item["status"], item["run_id"], len(item["records"])) == (201, run["run_id"], 3)
    assert post(recorder, "/v1/runs", run).status_code == 200


def test_line_takes_a_body_as_deep_as_its_own_call_does(recorder: httpx.Client) -> None:
    def nested(levels: int) -> dict[str, Any]:
        value: Any = 1
        for _ in range(levels - 2):
            value = [value]
        return make_start(config={"values": {"below": value}})

    items = send(recorder, line("run.registered", nested(31)), line("run.registered", nested(32)))
    assert statuses(items) == [201, 422]
    assert items[1]["errors"][0]["field"] == "/body"
    assert post(recorder, "/v1/runs", nested(31)).status_code == 201
    assert_refused(post(recorder, "/v1/runs", nested(32)), 422, "invalid_input", "32 levels")


def test_line_that_comes_before_what_it_rests_on_is_refused(recorder: httpx.Client) -> None:
    run = make_start()
    event, registered = line("run.event", make_event(run_id=run["run_id"])), line("run.registered", run)
    items = send(recorder, event, registered, event)
    assert statuses(items) == [404, 201, 201]
    assert items[0]["code"] == "run_not_found"


def test_bad_line_harms_no_neighbour(recorder: httpx.Client) -> None:
    size = log_size(recorder)
    run = make_start()
    items = send(
        recorder,
        line("snapshot", make_snapshot()),
        "{",
        "[]",
        line("snapshot", make_snapshot(colour="red")),
        line("snapshot", make_snapshot(row_count=2**53)),
        line("nonsense", {}),
        line("snapshot", [1]),
        line("snapshot", {}, key="two words"),
        line("snapshot", {}, colour="red"),
        line("run.event", make_event(run_id=new_run_id())),
        '{"kind": "snapshot", "kind": "snapshot", "body": {}}',
        line("run.registered", run | {"config": {"values": {"a": "x" * 16384, "b": [1] * 120000}}}),
        line("run.registered", run),
    )
    assert [(item["status"], item.get("code")) for item in items] == [
        (201, None),
        (400, "invalid_json"),
        (400, "invalid_json"),
        (422, "invalid_input"),
        (422, "invalid_input"),
        (422, "invalid_input"),
        (422, "invalid_input"),
        (422, "invalid_input"),
        (422, "invalid_input"),
        (404, "run_not_found"),
        (400, "invalid_json"),
        (413, "body_too_large"),
        (201, None),
    ]
    assert items[3]["errors"][0]["field"] == "/colour"
    assert "one of artifact" in items[5]["errors"][0]["message"]
    assert log_size(recorder) == size + 2


def test_record_that_is_too_large_harms_no_neighbour(recorder: httpx.Client) -> None:
    values = {f"key {number}": "x" * 16000 for number in range(16)}
    values["rest"] = "y" * 5700
    large = line("run.registered", make_start(config={"values": values}))
    assert MAX_LINE_BYTES - 300 < len(large) <= MAX_LINE_BYTES
    items = send(recorder, large, line("snapshot", make_snapshot()))
    assert statuses(items) == [413, 201]
    assert items[0]["code"] == "record_too_large"


def test_blank_lines_and_crlf_are_taken(recorder: httpx.Client) -> None:
    snapshots = [line("snapshot", make_snapshot(row_count=count)) for count in range(3)]
    items = send(recorder, "", snapshots[0], "  ", snapshots[1], "", snapshots[2], "", end="\r\n")
    assert [(item["line"], item["status"]) for item in items] == [(2, 201), (4, 201), (6, 201)]
    assert send(recorder) == []
    assert send(recorder, "", "", "\t") == []


def test_line_of_256_kib_is_taken_and_one_byte_more_is_not(recorder: httpx.Client) -> None:
    body = line("snapshot", make_snapshot())
    other = line("snapshot", make_snapshot(row_count=1))
    items = send(recorder, body.ljust(MAX_LINE_BYTES), other.ljust(MAX_LINE_BYTES + 1), other)
    assert statuses(items) == [201, 413, 201]
    assert items[1]["code"] == "body_too_large"


def test_batch_may_be_gzipped_and_is_counted_unpacked(recorder: httpx.Client) -> None:
    lines = [line("snapshot", make_snapshot(row_count=count)) for count in range(1200)]
    packed = gzip.compress("\n".join(lines).encode())
    headers = {"Content-Encoding": "gzip"}
    answer = recorder.post("/v1/records:batch", content=packed, headers=headers)
    items = answer.json()["items"]
    assert statuses(items) == [201] * 1200
    assert [item["line"] for item in items] == list(range(1, 1201))
    size = log_size(recorder)
    over = gzip.compress(b"\n".join(b" " * 200_000 for _ in range(84)))
    assert_refused(
        recorder.post("/v1/records:batch", content=over, headers=headers), 413, "body_too_large", "16,777,216"
    )
    assert log_size(recorder) == size


def test_batch_of_too_many_lines_is_refused_whole(recorder: httpx.Client) -> None:
    size = log_size(recorder)
    content = line("snapshot", make_snapshot()).encode() + b"\n1" * 20_001
    answer = recorder.post("/v1/records:batch", content=content)
    assert_refused(answer, 413, "body_too_large", "20,000", "smaller parts")
    assert log_size(recorder) == size


def test_idempotency_key_of_a_line_counts_as_the_header_does(recorder: httpx.Client) -> None:
    run = make_start()
    first = line("run.registered", run, key="once")
    items = send(recorder, first, first, line("run.registered", make_start(), key="once"))
    assert statuses(items) == [201, 200, 409]
    assert items[2]["code"] == "idempotency_key_reused"
    assert items[2]["record"] == items[0]["record"]
    assert post(recorder, "/v1/runs", run, "once").status_code == 200


def test_role_is_asked_for_each_line(service: RunningService) -> None:
    recorder = service.client("recorder")
    run = make_start(checkpoints=[make_checkpoint()])
    post(recorder, "/v1/runs", run)
    record = post(recorder, "/v1/snapshots", make_snapshot()).json()["record"]
    lines = [
        line("run.event", make_event(run_id=run["run_id"])),
        line("checkpoint.verified", make_verification(checkpoint=digest_of("checkpoint"))),
        line("evaluation.completed", make_evaluation()),
        line("revocation", {"record": record, "effect": "contested", "reason": "rows are missing"}),
    ]
    for role, expected in (
        ("worker", [403, 201, 403, 403]),
        ("evaluator", [403, 403, 201, 403]),
        ("author", [403, 403, 403, 201]),
        ("recorder", [201, 200, 200, 403]),
    ):
        items = send(service.client(role), *lines)
        assert statuses(items) == expected, role
        assert {item["code"] for item in items if item["status"] == 403} == {"role_missing"}
    for role in ("reader", "approver", "registry", "admin"):
        answer = service.client(role).post("/v1/records:batch", content=lines[0])
        assert_refused(answer, 403, "role_missing")


def test_kinds_of_the_server_are_refused_from_anybody(service: RunningService) -> None:
    client = service.client("recorder", "evaluator", "worker", "author")
    size = log_size(client)
    items = send(
        client, *(line(kind, {}) for kind in ("key.created", "key.revoked", "key.retired", "log.restored"))
    )
    assert [(item["status"], item["code"]) for item in items] == [(403, "role_missing")] * 4
    assert all("by the service alone" in item["detail"] for item in items)
    assert log_size(client) == size


def test_body_under_another_name_of_the_kind_is_not_taken(recorder: httpx.Client) -> None:
    assert send(recorder, line("run", make_start()))[0]["status"] == 422
