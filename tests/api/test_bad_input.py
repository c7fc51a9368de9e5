"""Bad input: the status, the code, a sentence that names the place, and nothing stored by halves."""

import gzip
import json
from typing import Any, Final

import httpx

from tests.support.bodies import (
    Body,
    digest_of,
    make_artifact,
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
from tests.support.calls import assert_refused, log_size, post

MEBIBYTE: Final = 1 << 20
APRIL, MAY = "2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z"
SAVED_BACKWARDS = {"save_started_at": MAY, "save_completed_at": APRIL}
SKETCH_OF_ONE_COLUMN_TWICE = {"blob": digest_of("sketch"), "count": 3, "columns": ["id", "id"]}
BAD_DIGESTS: Final = (
    "",
    "5" * 64,
    "sha256:" + "A" * 64,
    "sha256:" + "a" * 63,
    "md5:" + "a" * 64,
    "latest",
    5,
    None,
)


def send(client: httpx.Client, content: bytes, path: str = "/v1/runs", **headers: str) -> httpx.Response:
    return client.post(path, content=content, headers=headers)


def nested(levels: int) -> Body:
    """A run whose body has so many containers within containers."""
    value: Any = 1
    for _ in range(levels - 2):
        value = {"below": value}
    return make_start(config={"values": value})


def test_what_is_not_one_json_object_is_refused(recorder: httpx.Client) -> None:
    size = log_size(recorder)
    good = json.dumps(make_start())
    for content in (
        "",
        "null",
        "[]",
        '"run"',
        "{",
        good + good,
        good + "}",
        good.replace('"', "'"),
        good[:-1] + ",}",
        good[:-1] + ', "team": NaN}',
        good[:-1] + ', "config": {"values": {"x": Infinity}}}',
        good[:-1] + ', "config": {"values": {"x": -Infinity}}}',
        good[:-1] + ', "team": "a", "team": "a"}',
        good[:-1] + ', "config": {"values": {"x": 1, "x": 2}}}',
        good[:-1] + ', "team": "\\ud800"}',
        "\ufeff" + good,
        "[" * 5000,
        good[:-1] + ', "config": {"values": {"x": ' + "9" * 5000 + "}}}",
    ):
        assert_refused(send(recorder, content.encode()), 400, "invalid_json")
    assert_refused(send(recorder, good[:-1].encode() + b', "team": "\xff"}'), 400, "invalid_json")
    assert_refused(
        send(recorder, good[:-1].encode() + b', "team": 1, "team": 2}'), 400, "invalid_json", '"team"'
    )
    assert log_size(recorder) == size


def test_field_that_breaks_its_rule_is_named(recorder: httpx.Client) -> None:
    size = log_size(recorder)
    cases: list[tuple[str, Body]] = [
        ("/colour", {"colour": "red"}),
        ("/events/0/stat", {"events": [make_event(stat="running")]}),
        ("/config/value", {"config": {"values": {}, "value": {}}}),
        ("/run_id", {"run_id": "7"}),
        ("/run_id", {"run_id": new_run_id().upper()}),
        ("/run_id", {"run_id": "019f0000-0000-4000-8000-000000000001"}),
        ("/run_id", {"run_id": new_run_id() + "\n"}),
        ("/job", {"job": "train"}),
        ("/job/name", {"job": {"namespace": "team-a"}}),
        ("/job/name", {"job": {"namespace": "team-a", "name": ""}}),
        ("/job/name", {"job": {"namespace": "team-a", "name": "a\nb"}}),
        ("/job/name", {"job": {"namespace": "team-a", "name": "a\u202eb"}}),
        ("/job/namespace", {"job": {"namespace": " team-a", "name": "train"}}),
        ("/tags/a", {"tags": {"a": 1}}),
        ("/tags/a", {"tags": {"a": "\x00"}}),
        ("/started_at", {"started_at": "2026-05-01T10:00:00"}),
        ("/started_at", {"started_at": "2026-05-01"}),
        ("/started_at", {"started_at": "2026-02-30T10:00:00Z"}),
        ("/started_at", {"started_at": "0000-01-01T00:00:00Z"}),
        ("/started_at", {"started_at": "0001-01-01T00:00:00+14:00"}),
        ("/started_at", {"started_at": 1777629600}),
        ("/started_at", {"started_at": "2026-05-01T10:00:00.1234567Z"}),
        ("/events/1/at", {"events": [make_event(), make_event(at="yesterday")]}),
        ("/events/0", {"events": [{"type": "state", "at": "2026-05-01T10:00:00Z"}]}),
        ("/events/0/state", {"events": [make_event(state="lost")]}),
        ("/events/0/attempt", {"events": [make_event(attempt=0)]}),
        ("/events/0/attempt", {"events": [make_event(attempt="1")]}),
        ("/events/0/attempt", {"events": [make_event(attempt=True)]}),
        ("/checkpoints/0/step", {"checkpoints": [make_checkpoint(step=2**53)]}),
        ("/checkpoints/0/step", {"checkpoints": [make_checkpoint(step=-1)]}),
        ("/checkpoints/0/step", {"checkpoints": [make_checkpoint(step=1.5)]}),
        ("/checkpoints/0/level", {"checkpoints": [make_checkpoint(level="restore_tested")]}),
        (
            "/checkpoints/0/location/path",
            {"checkpoints": [make_checkpoint(location={"root": "a", "path": "b/../../c"})]},
        ),
        (
            "/checkpoints/0/location/path",
            {"checkpoints": [make_checkpoint(location={"root": "a", "path": "/etc"})]},
        ),
        ("/checkpoints/0", {"checkpoints": [make_checkpoint(**SAVED_BACKWARDS)]}),
        ("/checkpoints/0/contains", {"checkpoints": [make_checkpoint(contains=["model", "model"])]}),
        ("/data_interval", {"data_interval": {"start": MAY, "end": APRIL}}),
        ("/data_interval", {"data_interval": {"start": MAY, "end": MAY}}),
        (
            "/inputs/0/snapshot/extraction",
            {
                "inputs": [
                    {"role": "train", "snapshot": make_snapshot(extraction={"start": MAY, "end": APRIL})}
                ]
            },
        ),
        ("/config/seed_keys/0", {"config": {"values": {"seed": 1}, "seed_keys": ["nopointer"]}}),
        ("/config/seed_keys/1", {"config": {"values": {"seed": 1}, "seed_keys": ["/seed", "/x~2"]}}),
        ("/config/seed_keys", {"config": {"values": {"seed": 1}, "seed_keys": ["/seed", "/seed"]}}),
        (
            "/inputs/0/snapshot/key_sketch/columns",
            {"inputs": [{"role": "train", "snapshot": make_snapshot(key_sketch=SKETCH_OF_ONE_COLUMN_TWICE)}]},
        ),
        ("/artifacts/0/role", {"artifacts": [make_artifact(role="the model")]}),
        ("/seeds/values/torch", {"seeds": {"values": {"torch": 2**53}}}),
        ("/config/values/x", {"config": {"values": {"x": 2**53}}}),
        ("/config/values/x/0", {"config": {"values": {"x": [-(2**53)]}}}),
        ("/evaluations/0/protocol/shots", {"evaluations": [make_evaluation(protocol={"shots": 2**53})]}),
        ("/inputs/0", {"inputs": [{"role": "train"}]}),
        ("/inputs/0/snapshot", {"inputs": [{"role": "train", "snapshot": make_snapshot(digest=None)}]}),
        ("/inputs/0/snapshot", {"inputs": [{"role": "train", "snapshot": make_snapshot(grade="none")}]}),
        ("/model_versions/0/version", {"model_versions": [make_version(version="a/b")]}),
        ("/initiated_by", {"initiated_by": {"owner": "a" * 32, "who": {"$redactable": digest_of("a")}}}),
    ]
    for bad in BAD_DIGESTS:
        cases.append(("/checkpoints/0/digest", {"checkpoints": [make_checkpoint(digest=bad)]}))
        cases.append(("/artifacts/0/digest", {"artifacts": [make_artifact(digest=bad)]}))
    for field, changes in cases:
        answer = post(recorder, "/v1/runs", make_start(**changes))
        assert_refused(answer, 422, "invalid_input", field)
        assert field in [each["field"] for each in answer.json()["errors"]]
    assert log_size(recorder) == size


def test_number_that_is_no_double_is_refused_wherever_it_stands(recorder: httpx.Client) -> None:
    size, subject = log_size(recorder), digest_of("m")
    for field, text in (
        ("/config/values/x", '"config": {"values": {"x": 1e400}}'),
        (
            "/evaluations/0/metrics/x",
            f'"evaluations": [{{"subject": "{subject}", "metrics": {{"x": -1e400}}}}]',
        ),
    ):
        content = json.dumps(make_start())[:-1] + f", {text}}}"
        assert_refused(send(recorder, content.encode()), 422, "invalid_input", field)
    assert log_size(recorder) == size


def test_refusal_does_not_repeat_what_was_sent(recorder: httpx.Client) -> None:
    answer = post(
        recorder, "/v1/runs", make_start(started_at="hunter2", team={"token": "hunter2"}, job="hunter2")
    )
    assert answer.status_code == 422
    assert "hunter2" not in answer.text


def test_depth_is_counted(recorder: httpx.Client) -> None:
    assert post(recorder, "/v1/runs", nested(32)).status_code == 201
    size = log_size(recorder)
    assert_refused(post(recorder, "/v1/runs", nested(33)), 422, "invalid_input", "32 levels")
    assert log_size(recorder) == size


def test_body_is_counted_also_after_decompression(recorder: httpx.Client) -> None:
    run = json.dumps(make_start()).encode()
    full = run.ljust(MEBIBYTE)
    assert send(recorder, full).status_code == 201
    size = log_size(recorder)
    over = json.dumps(make_start()).encode().ljust(MEBIBYTE + 1)
    assert_refused(send(recorder, over), 413, "body_too_large", "1,048,576")
    assert_refused(
        send(recorder, gzip.compress(over), **{"Content-Encoding": "gzip"}),
        413,
        "body_too_large",
        "1,048,576",
    )
    bomb = gzip.compress(b" " * (64 * MEBIBYTE))
    assert_refused(send(recorder, bomb, **{"Content-Encoding": "gzip"}), 413, "body_too_large")
    assert_refused(send(recorder, run, **{"Content-Encoding": "gzip"}), 415, "unsupported_encoding")
    assert_refused(send(recorder, run, **{"Content-Encoding": "br"}), 415, "unsupported_encoding")
    assert log_size(recorder) == size


def test_record_over_256_kib_is_refused_with_its_whole_run(recorder: httpx.Client) -> None:
    size = log_size(recorder)
    large = {f"key {number}": "x" * 16000 for number in range(17)}
    for run in (make_run(config={"values": large}), make_run(evaluations=[make_evaluation(protocol=large)])):
        assert_refused(post(recorder, "/v1/runs", run), 413, "record_too_large", "blob")
    assert log_size(recorder) == size


def test_too_many_nested_facts_are_refused(recorder: httpx.Client) -> None:
    size = log_size(recorder)
    run = make_start(
        events=[{"type": "note", "at": "2026-05-01T00:00:00Z", "text": ""}] * 5000,
        checkpoints=[{"digest": digest_of("c"), "step": 1, "trained_until": "2026-05-01T00:00:00Z"}] * 5000,
        artifacts=[{"digest": digest_of("a")}],
    )
    content = json.dumps(run, separators=(",", ":")).encode()
    assert_refused(send(recorder, content), 422, "invalid_input", "10000", "records:batch")
    assert log_size(recorder) == size


def test_idempotency_key_that_is_none_is_refused(recorder: httpx.Client) -> None:
    size = log_size(recorder)
    for key in ("", "two words", "k" * 256, "schlüssel"):
        answer = recorder.post("/v1/runs", json=make_start(), headers={b"Idempotency-Key": key.encode()})
        assert_refused(answer, 422, "invalid_input", "idempotency key")
    assert log_size(recorder) == size
    assert post(recorder, "/v1/runs", make_start(), "k" * 255).status_code == 201


def test_body_that_contradicts_the_url_is_refused(recorder: httpx.Client) -> None:
    run = make_run()
    post(recorder, "/v1/runs", run)
    size, path = log_size(recorder), f"/v1/runs/{run['run_id']}"
    checkpoint = digest_of("checkpoint")
    for call, body, field in (
        (f"{path}/events", make_event(run_id=new_run_id()), "run_id"),
        (f"{path}/events", make_event(run_id=None), "run_id"),
        (
            f"/v1/checkpoints/{checkpoint}/verifications",
            make_verification(checkpoint=digest_of("b")),
            "checkpoint",
        ),
    ):
        answer = post(recorder, call, body)
        assert_refused(answer, 422, "invalid_input", field)
        assert answer.json()["errors"][0]["field"] == f"/{field}"
    assert log_size(recorder) == size
    assert post(recorder, f"{path}/events", make_event(run_id=run["run_id"])).status_code == 201


def test_malformed_id_in_the_url_is_refused_and_never_a_failure(recorder: httpx.Client) -> None:
    size = log_size(recorder)
    for id in ("7", "%00", "%F0%9F%9A%80", "a%20b", "%ff", "'--", "x" * 3000):
        for call, body in (
            (f"/v1/runs/{id}/events", make_event()),
            (f"/v1/runs/{id}/progress", {"step": 1}),
            (f"/v1/checkpoints/{id}/verifications", make_verification()),
        ):
            answer = post(recorder, call, body)
            assert answer.status_code in (404, 422), (call, answer.text)
    assert log_size(recorder) == size


def test_blob_whose_bytes_differ_from_its_digest_is_not_kept(recorder: httpx.Client) -> None:
    digest = digest_of("these bytes")
    assert_refused(recorder.put(f"/v1/blobs/{digest}", content=b"others"), 422, "blob_digest_mismatch")
    assert_refused(recorder.get(f"/v1/blobs/{digest}"), 404, "not_found")
    assert recorder.put(f"/v1/blobs/{digest}", content=b"these bytes").status_code == 201


def test_refused_nested_fact_takes_its_whole_run_with_it(recorder: httpx.Client) -> None:
    taken = make_run()
    assert post(recorder, "/v1/runs", taken).status_code == 201
    size = log_size(recorder)
    run = make_run(model_versions=[make_version(model=taken["model_versions"][0]["model"])])
    assert_refused(post(recorder, "/v1/runs", run), 409, "model_version_taken")
    assert log_size(recorder) == size
    assert recorder.get(f"/v1/runs/{run['run_id']}").status_code == 404
    assert post(recorder, "/v1/runs", run | {"model_versions": []}).status_code == 201


def test_wrong_method_path_and_trailing_slash_are_told(recorder: httpx.Client) -> None:
    assert_refused(recorder.delete("/v1/runs"), 405, "method_not_allowed", "POST")
    assert_refused(post(recorder, "/v1/run", make_start()), 404, "not_found", "/openapi.json")
    assert_refused(post(recorder, "/v1/runs/", make_start()), 404, "not_found")
