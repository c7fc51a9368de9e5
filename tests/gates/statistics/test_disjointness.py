"""Whether evaluation and training data share rows: from sketches, from declared splits, and unknown."""

import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gates.statistics import disjointness as module
from gates.statistics.bodies import blobs_needed
from gates.statistics.disjointness import disjointness, found_in
from gates.statistics.refusals import StatisticsRefused
from shipworthy.formats.key_sketch import false_positive_rate, make_sketch, pack_keys
from tests.gates.statistics.tables import Json, claim, digest, evaluation, silent

DATASET = digest("2")
TRAIN, MORE = digest("e"), digest("f")


class Sketches:
    """Writes sketches and keeps where they lie."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.paths: dict[str, str] = {}

    def add(
        self, name: str, sketch: bytes, count: int | None = None, columns: tuple[str, ...] = ("id",)
    ) -> Json:
        path = self._folder / name
        path.write_bytes(sketch)
        self.paths[digest(name)] = str(path)
        return {
            "blob": digest(name),
            "count": len(sketch) // 8 if count is None else count,
            "columns": list(columns),
        }

    def compared(self, evaluation: Json | None, *training: Json, split: Json | None = None) -> Json:
        sketches = {"evaluation": evaluation, "training": list(training), "evaluation_split": split}
        return disjointness(sketches, DATASET, self.paths, silent)


@pytest.fixture
def sketches(tmp_path: Path) -> Sketches:
    return Sketches(tmp_path)


def rows(begin: int, end: int) -> bytes:
    return make_sketch([[f"patient-{number}"] for number in range(begin, end)])


def training(sketch: Json | None, snapshot: str = TRAIN, split: Json | None = None) -> Json:
    return {"snapshot": snapshot, "sketch": sketch, "split": split}


def split(name: str, **members: Any) -> Json:
    return {"name": name, "of": "patients", "method": "hash of id mod 10", **members}


def test_data_without_a_common_row_is_disjoint(sketches: Sketches) -> None:
    found = sketches.compared(sketches.add("a", rows(0, 100)), training(sketches.add("b", rows(100, 400))))
    assert found == {
        "status": "disjoint",
        "method": "key-sketch",
        "keys": 100,
        "overlap": 0,
        "false_positive_rate": false_positive_rate(100, 300),
        "training": [TRAIN],
        "missing": [],
    }


def test_every_common_row_is_counted_once_over_all_training_data(sketches: Sketches) -> None:
    first, second = sketches.add("b", rows(90, 400)), sketches.add("c", rows(80, 95))
    found = sketches.compared(sketches.add("a", rows(0, 100)), training(first), training(second, MORE))
    assert (found["status"], found["overlap"]) == ("overlap", 20)
    assert found["training"] == sorted([TRAIN, MORE])


def test_training_data_that_nothing_is_known_of_makes_it_unknown(sketches: Sketches) -> None:
    known = training(sketches.add("b", rows(100, 200)))
    found = sketches.compared(sketches.add("a", rows(0, 100)), known, training(None, MORE))
    assert (found["status"], found["missing"]) == ("unknown", [MORE])


def test_overlap_is_one_also_when_other_data_is_unknown(sketches: Sketches) -> None:
    known = training(sketches.add("b", rows(50, 200)))
    assert (
        sketches.compared(sketches.add("a", rows(0, 100)), known, training(None, MORE))["status"] == "overlap"
    )


def test_nothing_to_compare_with_is_unknown_not_disjoint(sketches: Sketches) -> None:
    found = sketches.compared(sketches.add("a", rows(0, 100)))
    assert (found["status"], found["method"]) == ("unknown", "none")
    assert sketches.compared(None)["status"] == "unknown"


def test_keys_of_other_columns_are_not_compared(sketches: Sketches) -> None:
    other = training(sketches.add("b", rows(0, 100), columns=("patient", "visit")))
    found = sketches.compared(sketches.add("a", rows(0, 100)), other)
    assert (found["status"], found["missing"]) == ("unknown", [TRAIN])


def test_two_parts_of_one_split_are_disjoint_as_declared(sketches: Sketches) -> None:
    found = sketches.compared(None, training(None, split=split("train")), split=split("test"))
    assert (found["status"], found["method"], found["training"]) == ("disjoint", "declared-split", [TRAIN])


@pytest.mark.parametrize("other", [split("train", of="visits"), split("train", method="by date"), None])
def test_splits_of_other_wholes_or_by_other_methods_say_nothing(
    sketches: Sketches, other: Json | None
) -> None:
    found = sketches.compared(None, training(None, split=other), split=split("test"))
    assert (found["status"], found["missing"]) == ("unknown", [TRAIN])


def test_training_on_the_evaluation_data_itself_is_an_overlap(sketches: Sketches) -> None:
    assert sketches.compared(None, training(None, DATASET))["status"] == "overlap"
    same_part = training(None, split=split("test"))
    assert sketches.compared(None, same_part, split=split("test"))["status"] == "overlap"


def test_of_two_methods_the_weaker_one_is_named(sketches: Sketches) -> None:
    measured = training(sketches.add("b", rows(100, 200)))
    declared = training(None, MORE, split("train"))
    found = sketches.compared(sketches.add("a", rows(0, 100)), measured, declared, split=split("test"))
    assert (found["status"], found["method"]) == ("disjoint", "declared-split")


def test_long_sketches_are_compared_some_keys_at_a_time(
    sketches: Sketches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CHUNK_KEYS", 16)
    draw = random.Random(1)
    ours = {draw.getrandbits(64) for _ in range(200)} | {0, 2**64 - 1}
    shared = set(draw.sample(sorted(ours), 40)) | {0, 2**64 - 1}
    theirs = shared | {draw.getrandbits(64) for _ in range(1000)}
    found = sketches.compared(
        sketches.add("a", pack_keys(ours)), training(sketches.add("b", pack_keys(theirs)))
    )
    assert (found["keys"], found["overlap"]) == (len(ours), len(shared))


def test_intersection_of_sorted_arrays_is_that_of_sets() -> None:
    draw = np.random.default_rng(1)
    for _ in range(300):
        ours, theirs = (
            np.unique(draw.integers(0, 30, draw.integers(1, 20))).astype(np.uint64) for _ in range(2)
        )
        assert found_in(ours, theirs).tolist() == [key in set(theirs) for key in ours]


@pytest.mark.parametrize(
    ("sketch", "count", "sentence"),
    [
        (b"", 0, "empty"),
        (b"", 3, "does not hold the 3 keys"),
        (struct.pack(">QQ", 1, 2), 3, "does not hold the 3 keys"),
        (struct.pack(">QQ", 1, 2) + b"\0", 2, "does not hold the 2 keys"),
        (struct.pack(">QQ", 2, 1), 2, "not ascending"),
        (struct.pack(">QQ", 2, 2), 2, "not ascending"),
    ],
)
def test_sketch_that_is_not_what_its_snapshot_says_is_refused(
    sketches: Sketches, sketch: bytes, count: int, sentence: str
) -> None:
    good = sketches.add("a", rows(0, 10))
    with pytest.raises(StatisticsRefused, match=sentence):
        sketches.compared(good, training(sketches.add("b", sketch, count)))
    with pytest.raises(StatisticsRefused, match=sentence):
        sketches.compared(sketches.add("c", sketch, count), training(good))


def test_only_sketches_that_can_be_compared_are_fetched(sketches: Sketches) -> None:
    ours, theirs = sketches.add("a", rows(0, 10)), sketches.add("b", rows(10, 30))
    strange = sketches.add("c", rows(10, 30), columns=("visit",))
    given = {"evaluation": ours, "training": [training(theirs), training(strange, MORE), training(None)]}
    needed = blobs_needed(claim([evaluation("d", None)], sketches=given))
    assert needed == {ours["blob"]: 80, theirs["blob"]: 160}
    assert blobs_needed(claim([evaluation("d", None)], sketches=given | {"evaluation": None})) == {}
