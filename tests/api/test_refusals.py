"""What a refusal says: a sentence about the place that is to blame, whatever was wrong."""

import httpx
import pytest

from tests.api.guarded_app import make_probe, post_head, status_and_code
from tests.api.socket_server import exchange, serving
from tests.support.bodies import digest_of, make_artifact, make_event, make_snapshot, make_start
from tests.support.calls import assert_refused, log_size, post
from tests.support.service import RunningService


@pytest.fixture
def recorder(sqlite_service: RunningService) -> httpx.Client:
    return sqlite_service.client("recorder")


def test_a_refused_whole_is_a_sentence(recorder: httpx.Client) -> None:
    run = make_start()
    assert post(recorder, "/v1/runs", run).status_code == 201
    path = f"/v1/runs/{run['run_id']}/events"
    answers = {
        'The body is of type "state" and so needs `state`.': post(recorder, path, make_event(state=None)),
        'The body is graded "content" and so needs `digest`, the sha256 of the file manifest.': post(
            recorder, "/v1/snapshots", make_snapshot(grade="content", digest=None)
        ),
        "/inputs/0 needs either `snapshot` (the data in full) or `digest` (recorded elsewhere), not both.": post(
            recorder, "/v1/runs", make_start(inputs=[{"role": "train"}])
        ),
        "/started_at '…' has no zone; end it with Z or an offset such as +02:00.": post(
            recorder, "/v1/runs", make_start(started_at="2026-05-01T10:00:00")
        ),
    }
    assert {said: answer.json()["detail"] for said, answer in answers.items()} == {
        said: said for said in answers
    }


def test_two_contents_of_one_digest_in_a_post_name_the_second(recorder: httpx.Client) -> None:
    size = log_size(recorder)
    artifacts = [make_artifact(), make_artifact(digest=digest_of("other")), make_artifact(size_bytes=1)]
    answer = post(recorder, "/v1/runs", make_start(artifacts=artifacts))
    assert_refused(answer, 409, "conflict", "/artifacts/2", digest_of("model"), "send it once")
    assert [each["field"] for each in answer.json()["errors"]] == ["/artifacts/2"]
    assert log_size(recorder) == size


def test_invalid_input_always_names_a_place(recorder: httpx.Client) -> None:
    answers = {
        "/path": recorder.get("/v1/ingredients/%00"),
        "/query": recorder.get("/v1/runs", params={"team": "\0"}),
        "/path/digest": recorder.put("/v1/blobs/sha256:12", content=b"x"),
        "": recorder.post("/v1/snapshots", content=b'{"a":' * 40 + b"1" + b"}" * 40),
    }
    assert {name: answer.json()["code"] for name, answer in answers.items()} == dict.fromkeys(
        answers, "invalid_input"
    )
    assert {name: answer.json()["errors"][0]["field"] for name, answer in answers.items()} == {
        name: name for name in answers
    }


def test_two_different_idempotency_keys_are_refused(recorder: httpx.Client) -> None:
    headers = [("Idempotency-Key", "one"), ("Idempotency-Key", "two")]
    answer = recorder.post("/v1/snapshots", json=make_snapshot(), headers=headers)
    assert_refused(answer, 422, "invalid_input", "Idempotency-Key", "send one key")
    same = [("Idempotency-Key", "one"), ("Idempotency-Key", "one")]
    assert recorder.post("/v1/snapshots", json=make_snapshot(), headers=same).status_code == 201


def test_a_transfer_encoding_that_would_be_read_as_plain_is_refused() -> None:
    probe = make_probe()
    with serving(probe.app) as port:
        head = post_head("/v1/things/a", "Transfer-Encoding: gzip, chunked")
        answer = exchange(port, head + b"2\r\n{}\r\n0\r\n\r\n" + post_head("/v1/x", "Connection: close"))
    assert status_and_code(answer.split(b"HTTP/1.1 404")[0]) == (415, "unsupported_encoding")
    assert probe.bodies == []
