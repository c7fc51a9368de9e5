"""From a claim to the body of its record: metrics, pairs, slices, repeats, what was reported, and errors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from gates.release.protocol import protocol_digest
from gates.statistics import slicing
from tests.gates.statistics.tables import Json, binary_columns, claim, digest, evaluation, measured, write

CANDIDATE, INCUMBENT = digest("a"), digest("b")


def pair(folder: Path, candidate: Json, incumbent: Json, **attempt: Any) -> Json:
    blobs = {
        CANDIDATE: write(folder, candidate, "candidate"),
        INCUMBENT: write(folder, incumbent, "incumbent"),
    }
    inputs = claim([evaluation("c", CANDIDATE)], [evaluation("d", INCUMBENT)], **attempt)
    return measured(inputs, blobs)


def test_models_are_paired_by_id_whatever_the_order_of_rows(tmp_path: Path) -> None:
    better, worse = binary_columns(noise=0.3), binary_columns(noise=1.5)
    order = np.random.default_rng(1).permutation(400)
    shuffled = {name: np.asarray(column)[order] for name, column in worse.items()}
    in_order, out_of_order = pair(tmp_path, better, worse), pair(tmp_path, better, shuffled)
    assert out_of_order == in_order
    for name, difference in in_order["differences"].items():
        assert difference["estimate"] == pytest.approx(difference["candidate"] - difference["incumbent"])
        assert difference["candidate"] == pytest.approx(in_order["metrics"][name]["estimate"])
    assert in_order["differences"].keys() == in_order["metrics"].keys()
    auc = in_order["differences"]["roc_auc"]
    assert auc["estimate"] > 3 * auc["standard_error"]


def test_identical_predictions_have_no_difference_and_still_an_error(tmp_path: Path) -> None:
    body = pair(tmp_path, binary_columns(), binary_columns())
    for name in (
        "accuracy",
        "precision",
        "recall",
        "f1",
        "balanced_accuracy",
        "roc_auc",
        "average_precision",
    ):
        assert body["differences"][name]["estimate"] == 0
        assert body["differences"][name]["standard_error"] > 0.001


def test_same_claim_gives_the_same_bytes_and_another_seed_only_other_resamples(tmp_path: Path) -> None:
    blobs = {CANDIDATE: write(tmp_path, binary_columns(100))}
    inputs = claim([evaluation("c", CANDIDATE)])
    first = measured(inputs, blobs)
    assert measured(inputs, blobs) == first
    other = measured(inputs | {"seed": 8}, blobs)
    assert other["metrics"]["f1"] != first["metrics"]["f1"]
    assert other["metrics"]["roc_auc"] == first["metrics"]["roc_auc"]


def test_slices_have_their_own_metrics_and_add_up(tmp_path: Path) -> None:
    columns = binary_columns()
    body = pair(tmp_path, columns, binary_columns(noise=1.2))
    slices = {part["value"]: part for part in body["slices"]}
    assert sorted(slices) == ["DE", "NO", "SE"]
    assert sum(part["n"] for part in slices.values()) == 400
    inside = columns["slice.country"] == "NO"
    label, score = columns["label"][inside], columns["score"][inside]
    norway = slices["NO"]
    assert (norway["dimension"], norway["n"], norway["positives"]) == ("country", inside.sum(), label.sum())
    assert norway["metrics"]["roc_auc"]["estimate"] == pytest.approx(metrics.roc_auc_score(label, score))
    assert norway["differences"]["recall"]["n"] == label.sum()


def test_slice_without_positives_has_no_recall_rather_than_a_recall_of_zero(tmp_path: Path) -> None:
    columns = binary_columns(60)
    columns["slice.country"] = np.where(columns["label"] == 1, "DE", "NO")
    columns["slice.country"][0] = "SE"
    body = measured(claim([evaluation("c", CANDIDATE)]), {CANDIDATE: write(tmp_path, columns)})
    slices = {part["value"]: part for part in body["slices"]}
    assert slices["NO"]["positives"] == 0
    assert not {"recall", "f1", "roc_auc", "average_precision"} & slices["NO"]["metrics"].keys()
    assert "accuracy" in slices["NO"]["metrics"]
    # One row has no spread.
    assert slices["SE"]["metrics"] == {}


def test_too_many_slices_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slicing, "MAX_SLICES", 2)
    body = measured(claim([evaluation("c", CANDIDATE)]), {CANDIDATE: write(tmp_path, binary_columns(50))})
    assert (body["outcome"], body["metrics"]) == ("error", {})
    assert "3 slices; at most 2" in body["reason"]


def test_repeats_are_averaged_and_what_they_differ_by_is_added(tmp_path: Path) -> None:
    names = [digest(character) for character in "ab"]
    tables = [binary_columns(noise=noise) for noise in (0.2, 3.0)]
    blobs = {name: write(tmp_path, table, name[-1]) for name, table in zip(names, tables, strict=True)}
    both = measured(claim([evaluation("c", names[0]), evaluation("d", names[1], 1)]), blobs)
    alone = measured(claim([evaluation("c", names[0])]), blobs)
    values = both["repeats"]["roc_auc"]
    assert values == pytest.approx([metrics.roc_auc_score(each["label"], each["score"]) for each in tables])
    assert both["metrics"]["roc_auc"]["estimate"] == pytest.approx(np.mean(values))
    spread = np.std(values, ddof=1) / np.sqrt(2)
    assert both["metrics"]["roc_auc"]["standard_error"] > spread
    accuracy = both["metrics"]["accuracy"]
    assert accuracy["estimate"] == accuracy["successes"] / accuracy["trials"]
    assert 0 <= np.mean(both["repeats"]["accuracy"]) - accuracy["estimate"] < 1 / accuracy["trials"]
    assert accuracy["trials"] < alone["metrics"]["accuracy"]["trials"] == 400


def test_repeats_that_are_the_same_are_no_more_evidence_than_one(tmp_path: Path) -> None:
    blobs = {CANDIDATE: write(tmp_path, binary_columns(100))}
    one = measured(claim([evaluation("c", CANDIDATE)]), blobs)
    three = measured(claim([evaluation("c", CANDIDATE, repeat) for repeat in range(3)]), blobs)
    for name in ("accuracy", "recall", "roc_auc", "log_loss", "f1"):
        assert three["metrics"][name] == pytest.approx(one["metrics"][name], abs=1e-12)


def test_reported_metric_that_the_rows_do_not_give_is_named(tmp_path: Path) -> None:
    columns = binary_columns()
    auc = float(metrics.roc_auc_score(columns["label"], columns["score"]))
    reported = {"roc_auc": auc * (1 + 5e-7), "accuracy": 0.99, "perplexity": 12.0}
    inputs = claim([evaluation("c", CANDIDATE, metrics=reported)])
    body = measured(inputs, {CANDIDATE: write(tmp_path, columns)})
    assert [(each["metric"], each["agrees"]) for each in body["reported"]] == [
        ("accuracy", False),
        ("roc_auc", True),
        ("perplexity", False),
    ]
    assert body["reported"][0]["recomputed"] == body["metrics"]["accuracy"]["estimate"]
    assert body["reported"][2]["recomputed"] is None
    assert "perplexity" not in body["metrics"]


def without_first(columns: Json) -> Json:
    return {name: column[1:] for name, column in columns.items()}


def with_other(name: str) -> Json:
    columns = binary_columns(80, noise=1.0)
    if name == "label":
        columns["label"][3] = 1 - columns["label"][3]
    else:
        columns["slice.country"] = np.roll(columns["slice.country"], 1)
    return columns


@pytest.mark.parametrize(
    ("incumbent", "sentence"),
    [
        (without_first(binary_columns(80, noise=1.0)), "Repeat 0 of the incumbent has other ids"),
        (
            binary_columns(80) | {"id": [f"other-{n}" for n in range(80)]},
            "Repeat 0 of the incumbent has other ids",
        ),
        (binary_columns(80) | {"id": range(80)}, "Repeat 0 of the incumbent has other ids"),
        (with_other("label"), "Repeat 0 of the incumbent has other labels"),
        (with_other("slice"), "Repeat 0 of the incumbent puts examples into other slices"),
        (
            binary_columns(80) | {"id": ["same"] * 80},
            "Repeat 0 of the incumbent: the column id holds an id twice",
        ),
    ],
)
def test_models_that_were_not_measured_on_the_same_examples_are_not_compared(
    tmp_path: Path, incumbent: Json, sentence: str
) -> None:
    body = pair(tmp_path, binary_columns(80), incumbent)
    assert body["outcome"] == "error"
    assert body["reason"].startswith(sentence)
    assert (body["metrics"], body["differences"], body["rows"]) == ({}, {}, 0)


def test_incumbent_that_was_never_measured_leaves_the_candidate_alone(tmp_path: Path) -> None:
    blobs = {CANDIDATE: write(tmp_path, binary_columns(80))}
    for others in ([], [evaluation("d", None, statistics={"accuracy": {"n": 80, "mean": 0.75}})]):
        body = measured(claim([evaluation("c", CANDIDATE)], others), blobs)
        assert (body["outcome"], body["incumbent"]) == ("ok", digest("9"))
        assert body["differences"] == {}
        assert "roc_auc" in body["metrics"]


def test_sufficient_statistics_give_intervals_but_are_marked_as_reported() -> None:
    statistics = {
        "recall": {"n": 200, "mean": 0.93, "sd": None, "positives": 200},
        "log_loss": {"n": 1000, "mean": 0.31, "sd": 0.8, "positives": None},
        "roc_auc": {"n": 1000, "mean": 0.9, "sd": None, "positives": 200},
    }
    part = {"dimension": "country", "value": "NO", "metrics": {}, "statistics": statistics}
    given = evaluation("c", None, metrics={"recall": 0.93}, statistics=statistics, slices=[part])
    body = measured(claim([given]), {})
    assert body["metrics"].keys() == {"recall", "log_loss"}
    assert all(metric["method"] == "reported" for metric in body["metrics"].values())
    recall = body["metrics"]["recall"]
    assert (recall["successes"], recall["trials"], recall["estimate"]) == (186, 200, 0.93)
    assert body["metrics"]["log_loss"]["standard_error"] == pytest.approx(0.8 / np.sqrt(1000))
    assert (body["rows"], body["positives"]) == (1000, 200)
    assert body["slices"][0]["metrics"] == body["metrics"]
    assert body["reported"] == [
        {"repeat": 0, "metric": "recall", "reported": 0.93, "recomputed": None, "agrees": False}
    ]


@pytest.mark.parametrize("mean", [0.931, 1.5, -0.1])
def test_proportion_that_is_no_proportion_of_its_n_is_refused(mean: float) -> None:
    given = evaluation(
        "c", None, statistics={"recall": {"n": 200, "mean": mean, "sd": None, "positives": 200}}
    )
    assert "recall is no proportion of its n" in measured(claim([given]), {})["reason"]


@pytest.mark.parametrize("repeats", [[0], [0, 0], [0, 2], [0, 1, 2]])
def test_attempt_without_exactly_its_repeats_is_not_measured(tmp_path: Path, repeats: list[int]) -> None:
    blobs = {CANDIDATE: write(tmp_path, binary_columns(40))}
    body = measured(claim([evaluation("c", CANDIDATE, repeat) for repeat in repeats], repeats=2), blobs)
    assert body["outcome"] == "error"
    assert "exactly one evaluation for each of its repeats" in body["reason"]


def test_attempt_without_a_threshold_has_the_one_of_its_protocol(tmp_path: Path) -> None:
    blobs = {CANDIDATE: write(tmp_path, binary_columns(60))}
    inputs = claim([evaluation("c", CANDIDATE)])
    named = measured(inputs, blobs)
    del inputs["attempt"]["threshold"]
    assert measured(inputs, blobs) == named
    asked = inputs["attempt"]
    assert named["protocol_digest"] == protocol_digest(asked["evaluator"], asked["config"], "binary", 0.5)
