"""Whatever value is accepted over HTTP reads back identical."""

import httpx

from tests.support.bodies import (
    digest_of,
    make_checkpoint,
    make_event,
    make_start,
)
from tests.support.calls import post, stored_body

NUMBERS = [
    0,
    1,
    -1,
    2**53 - 1,
    -(2**53) + 1,
    0.1,
    1e-05,
    1e-7,
    1.5e300,
    5e-324,
    1e21,
    1e16,
    -2.5,
    1.0,
    123456.789,
]
TEXTS = [
    "",
    " ",
    "ü",
    "\U0001f680",
    "e\u0301",
    "\u2028",
    "\ufeff",
    'quote " and \\',
    "\x00\x1f\x7f",
    "</script>",
]


def test_what_is_accepted_reads_back_identical(recorder: httpx.Client) -> None:
    values = {
        **{f"number {place}": number for place, number in enumerate(NUMBERS)},
        **{f"text {place}": value for place, value in enumerate(TEXTS)},
        "ключ \U0001f511": {"": [None, True, False, [], {}]},
        "\uff5e": 1,
        "\U0001f600": 2,
    }
    run = make_start(config={"values": values}, tags={"ünïcode \U0001f680": "line\nbreak\ttab"})
    answer = post(recorder, "/v1/runs", run)
    assert answer.status_code == 201, answer.text
    assert stored_body(recorder, answer.json()["record"]) == run


def test_float_that_is_a_whole_number_keeps_its_value_beyond_2_to_the_53(recorder: httpx.Client) -> None:
    body = (
        b'{"subject": "%s", "metrics": {"a": 9007199254740994.0, "b": 1E+22, "c": -0.0}}'
        % digest_of("m").encode()
    )
    answer = recorder.post("/v1/evaluations", content=body)
    assert answer.status_code == 201
    stored = stored_body(recorder, answer.json()["record"])
    assert stored["metrics"] == {"a": 9007199254740994, "b": 1e22, "c": 0}


INSTANTS = [
    "0001-01-01T00:00:00Z",
    "0999-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59.999999000Z",
    "2026-05-01T12:00:00.123456+02:00",
    "2026-05-01t12:00:00z",
]


def test_any_instant_that_is_accepted_reads_back_identical(recorder: httpx.Client) -> None:
    for moment in INSTANTS:
        run = make_start(started_at=moment, events=[make_event(at=moment, state="completed")])
        run["checkpoints"] = [make_checkpoint(trained_until=moment, retain_until=moment)]
        answer = post(recorder, "/v1/runs", run)
        assert answer.status_code == 201, answer.text
        registered = stored_body(recorder, answer.json()["record"])
        assert registered["started_at"] == registered["events"][0]["at"] == moment
        assert registered["checkpoints"][0]["trained_until"] == moment
        assert recorder.get(f"/v1/runs/{run['run_id']}").status_code == 200
        saved = recorder.get(f"/v1/runs/{run['run_id']}/checkpoints").json()["items"]
        assert saved[0]["trained_until"] == moment
