"""A lineage that is asked for while records arrive: every answer is that of one moment."""

import threading
from typing import Any

from tests.lineage.chains import chain, digest, lineage, post, run_id
from tests.support.service import RunningService

ANSWERS = 60
COMPARED = ("edges", "evaluations", "manifest", "snapshots", "checkpoints", "revocations", "partial")


def test_answer_given_while_records_arrive_is_that_of_the_position_it_names(service: RunningService) -> None:
    asking = service.client("reader")
    chain(service.client("recorder", "author"), 3)
    enough, recorded = threading.Event(), 0

    def record() -> None:
        """Of the first run, which the walk comes to last, and of the artifact, which is looked at after the walk."""
        nonlocal recorded
        recording = service.client("recorder", "evaluator")
        while not enough.is_set():
            recorded += 1
            at = f"2026-05-01T{recorded // 3600:02}:{recorded // 60 % 60:02}:{recorded % 60:02}Z"
            note = {"type": "note", "text": "on its way", "at": at, "step": recorded}
            post(recording, f"/v1/runs/{run_id(1)}/events", note)
            evaluation = {"subject": digest(3), "step": recorded, "metrics": {"auc": 0.5}}
            post(recording, "/v1/evaluations", evaluation)

    thread = threading.Thread(target=record)
    thread.start()
    try:
        answers = [lineage(asking, depth=10) for _ in range(ANSWERS)]
    finally:
        enough.set()
        thread.join()
    assert recorded > 1
    for answer in answers:
        then = lineage(asking, depth=10, as_of=answer["as_of"]["position"])
        assert {name: answer[name] for name in COMPARED} == {name: then[name] for name in COMPARED}
        assert steps(answer) == steps(then)


def steps(answer: dict[str, Any]) -> dict[str, int | None]:
    return {run["run_id"]: run["last_step"] for run in answer["runs"]}
