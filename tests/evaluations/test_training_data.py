"""What an artifact was trained on, traced through the runs behind it; what can't be traced is never left out."""

import pytest

from models.evaluations.training_data import training_data
from tests.support.bodies import (
    Body,
    digest_of,
    make_artifact,
    make_checkpoint,
    make_snapshot,
    make_start,
)
from tests.support.calls import post
from tests.support.service import RunningService

MODEL = digest_of("model")


class Lineage:
    """Runs as a recorder sends them."""

    def __init__(self, service: RunningService) -> None:
        self.service, self.recorder = service, service.client("recorder")

    def run(self, *made: str, **fields: object) -> None:
        body = make_start(artifacts=[make_artifact(digest=digest_of(name)) for name in made]) | fields
        answer = post(self.recorder, "/v1/runs", body)
        assert answer.status_code == 201, answer.text

    def traced(self) -> set[str]:
        with self.service.services.database.read() as session:
            return set(training_data(session.connection(), "team-a", MODEL))


@pytest.fixture
def lineage(service: RunningService) -> Lineage:
    return Lineage(service)


def data(name: str, role: str = "train") -> Body:
    return {"role": role, "snapshot": make_snapshot(digest=digest_of(name))}


def test_data_of_every_run_behind_a_model_counts(lineage: Lineage) -> None:
    lineage.run("base", inputs=[data("crawl")])
    lineage.run(inputs=[data("first half")], checkpoints=[make_checkpoint(digest=digest_of("half way"))])
    lineage.run(
        inputs=[data("second half"), {"role": "base_model", "digest": digest_of("base")}],
        resumed_from={"checkpoint": digest_of("half way")},
        checkpoints=[make_checkpoint(digest=digest_of("final"))],
    )
    lineage.run(artifacts=[make_artifact(digest=MODEL, checkpoint=digest_of("final"))])
    expected = {digest_of(name) for name in ("crawl", "first half", "second half")}
    assert lineage.traced() == expected


def test_data_is_where_the_trace_stops_even_when_a_run_made_it(lineage: Lineage) -> None:
    """The whole from which train and test were cut is not what the model learnt from."""
    lineage.run("train split", "test split", inputs=[data("whole")])
    lineage.run("model", inputs=[data("train split")])
    assert lineage.traced() == {digest_of("train split")}


def test_only_what_a_model_learnt_from_counts(lineage: Lineage) -> None:
    roles = ("train", "validation", "test", "evaluation", "tokenizer")
    lineage.run("model", inputs=[data(role, role) for role in roles])
    assert lineage.traced() == {digest_of("train"), digest_of("validation")}


@pytest.mark.parametrize("case", ["no run", "no inputs", "no digest", "only test data", "own checkpoint"])
def test_unknown_origin_stands_for_itself(lineage: Lineage, case: str) -> None:
    nameless = {"dataset": {"namespace": "s3", "name": "old"}, "grade": "none"}
    own = make_artifact(digest=MODEL, checkpoint=digest_of("checkpoint"))
    if case == "no inputs":
        lineage.run("model")
    elif case == "no digest":
        lineage.run("model", inputs=[{"role": "train", "snapshot": nameless}])
    elif case == "only test data":
        lineage.run("model", inputs=[data("test", "test")])
    elif case == "own checkpoint":
        lineage.run(artifacts=[own], checkpoints=[make_checkpoint()])
    assert lineage.traced() == {MODEL}


def test_base_model_from_elsewhere_is_listed_as_unknown(lineage: Lineage) -> None:
    bought = {"role": "base_model", "digest": digest_of("bought")}
    lineage.run("model", inputs=[data("train"), bought])
    assert lineage.traced() == {digest_of("train"), digest_of("bought")}


def test_models_that_rest_on_each_other_are_traced_to_an_end(lineage: Lineage) -> None:
    lineage.run("model", inputs=[data("a"), {"role": "base_model", "digest": digest_of("other")}])
    lineage.run("other", inputs=[data("b"), {"role": "base_model", "digest": MODEL}])
    assert lineage.traced() == {digest_of("a"), digest_of("b")}


def test_chain_that_is_too_long_ends_in_the_unknown(lineage: Lineage) -> None:
    lineage.run("0", inputs=[data("first")])
    for number in range(1, 205):
        lineage.run(str(number), inputs=[{"role": "base_model", "digest": digest_of(str(number - 1))}])
    lineage.run("model", inputs=[{"role": "base_model", "digest": digest_of("204")}])
    assert lineage.traced() == {MODEL}
