"""What is known of a snapshot does not depend on the order in which it was said, and nothing said is hidden."""

import itertools
from typing import Any

import httpx

from models.lineage.snapshot_fold import MAX_VALUES, said_besides, said_first
from tests.support.bodies import digest_of, make_snapshot, make_start

FACTS = [
    {
        "dataset": {"namespace": "lake", "name": "clicks"},
        "grade": "content",
        "row_count": 1,
        "uri": "s3://one",
        "key_sketch": {"blob": digest_of("sketch"), "count": 3, "columns": ["id"]},
    },
    {
        "dataset": {"namespace": "copy", "name": "clicks"},
        "grade": "declared",
        "row_count": 2,
        "uri": "s3://two",
        "schema_digest": digest_of("schema"),
    },
    {
        "dataset": {"namespace": "lake", "name": "clicks"},
        "grade": "manifest",
        "row_count": 3,
        "split": {"name": "train", "of": "w", "method": "m"},
    },
]


def told(facts: Any) -> dict[str, Any]:
    first, *others = facts
    document = said_first(first, digest_of("bytes"), "record")
    for each in others:
        document = said_besides(document, each, "record")
    return {name: value for name, value in document.items() if name != "completed_by"}


def test_any_order_and_repetition_gives_the_same_snapshot() -> None:
    views = [told((*order, *order)) for order in itertools.permutations(FACTS)]
    assert all(view == views[0] for view in views)
    assert views[0] == {
        "digest": digest_of("bytes"),
        "record": "record",
        "dataset": {"namespace": "copy", "name": "clicks"},
        "grade": "declared",
        "uri": "s3://one",
        "schema_digest": digest_of("schema"),
        "key_sketch": FACTS[0]["key_sketch"],
        "split": FACTS[2]["split"],
        "also": {
            "dataset": [{"namespace": "lake", "name": "clicks"}],
            "grade": ["manifest", "content"],
            "uri": ["s3://two"],
        },
        "conflicts": {"row_count": [1, 2, 3]},
    }


def test_many_values_are_bounded_and_said_to_be_more_in_any_order() -> None:
    facts = [make_snapshot(uri=f"s3://{number:03}") for number in range(MAX_VALUES + 2)]
    forwards, backwards = told(facts), told([*reversed(facts), facts[-1]])
    assert forwards == backwards
    assert len(forwards["also"]["uri"]) == MAX_VALUES - 1
    assert forwards["more"] == ["uri"]


def test_the_same_bytes_are_found_under_each_of_their_names(client: httpx.Client) -> None:
    names = [{"namespace": "lake", "name": "declared"}, {"namespace": "lake", "name": "copy"}]
    for dataset, grade, rows in zip(names, ("declared", "content"), (10, 99), strict=True):
        said = make_snapshot(dataset=dataset, grade=grade, row_count=rows)
        assert client.post("/v1/snapshots", json=said).status_code == 201
    for dataset in names:
        (item,) = client.get(f"/v1/datasets/lake/{dataset['name']}/snapshots").json()["items"]
        assert (item["dataset"], item["grade"]) == (dataset, "declared")
        assert item["conflicts"] == {"row_count": [10, 99]}
        assert "row_count" not in item
    listed = client.get("/v1/datasets").json()["items"]
    assert all(dataset in listed for dataset in names)


def test_a_run_keeps_the_grade_that_it_stated(client: httpx.Client) -> None:
    runs = [
        make_start(inputs=[{"role": "train", "snapshot": make_snapshot(grade=grade)}])
        for grade in ("content", "declared")
    ]
    for run in runs:
        assert client.post("/v1/runs", json=run).status_code == 201
    answers = [client.get(f"/v1/runs/{run['run_id']}/lineage").json() for run in runs]
    assert [answer["weakest_grade"] for answer in answers] == ["content", "declared"]
    assert [answer["snapshots"][0]["grade"] for answer in answers] == ["declared", "declared"]
