"""Statistics from the predictions of real models to the record: a real service, a real worker, a child process."""

import csv
import io
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, recall_score, roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shipworthy.formats.key_sketch import make_sketch
from tests.support.attempts import answered, opened, shown, uploaded
from tests.support.bodies import digest_of, make_artifact, make_snapshot, make_start
from tests.support.calls import post, stored_body
from tests.support.databases import sqlite_copy
from tests.support.service import RunningService, running_service
from tests.support.workers import ENDED, worker

CANCER = Path(__file__).parents[2] / "data" / "tables" / "breast_cancer.csv"
Json = dict[str, Any]
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bench:
    service: RunningService
    evaluator: httpx.Client
    is_malignant: NDArray[np.int64]
    measurements: Array

    def predictions(self, columns: int) -> Array:
        """Of a logistic regression on so many of the measurements, each tumour by a model that has not seen it."""
        model = make_pipeline(StandardScaler(), LogisticRegression())
        made = cross_val_predict(
            model, self.measurements[:, :columns], self.is_malignant, cv=5, method="predict_proba"
        )
        return np.asarray(made[:, 1])

    def table(self, score: Array) -> bytes:
        radius = np.where(self.measurements[:, 0] > 14, "large", "small")
        ids = [f"tumour-{number}" for number in range(len(score))]
        columns = {"id": ids, "label": self.is_malignant, "score": score, "slice.radius": radius}
        sink = io.BytesIO()
        parquet.write_table(pa.table(columns), sink)
        return sink.getvalue()

    def measured(self, attempt: Json) -> Json:
        """The body of the statistics of a closed attempt, once a worker has made them."""
        deadline = time.monotonic() + 120
        while (found := shown(self.evaluator, attempt))["work"]["state"] not in ENDED:
            assert time.monotonic() < deadline, found
            time.sleep(0.2)
        work = self.evaluator.get(f"/v1/work/{found['work']['id']}").json()
        assert work["state"] == "done", work
        (statistics,) = found["statistics"]
        return stored_body(self.evaluator, statistics["record"])


@pytest.fixture(scope="module")
def bench(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("statistics")
    urls = sqlite_copy(sqlite_template, folder / "shipworthy.sqlite3")
    with CANCER.open() as file:
        rows = [[float(value) for value in row] for row in list(csv.reader(file))[1:]]
    table = np.array(rows)
    with (
        running_service(urls, folder / "data") as service,
        worker(service, folder / "worker", "--root", f"here={folder}") as running,
    ):
        running.wait_until_ready()
        is_malignant = (table[:, -1] == 0).astype(np.int64)
        yield Bench(service, service.client("evaluator"), is_malignant, table[:, :-1])


def sketched(bench: Bench, first: int, last: int) -> Json:
    sketch = make_sketch([[f"tumour-{number}"] for number in range(first, last)])
    return {"blob": uploaded(bench.evaluator, sketch), "count": last - first, "columns": ["id"]}


def test_candidate_is_measured_against_the_incumbent_on_the_same_tumours(bench: Bench) -> None:
    train = make_snapshot(digest=digest_of("train"), key_sketch=sketched(bench, 560, 2000))
    run = make_start(
        inputs=[{"role": "train", "snapshot": train}], artifacts=[make_artifact(digest=digest_of("model"))]
    )
    recorder = bench.service.client("recorder")
    assert post(recorder, "/v1/runs", run).status_code == 201
    held_out = make_snapshot(digest=digest_of("fraud-eval"), key_sketch=sketched(bench, 0, 569))
    assert post(recorder, "/v1/snapshots", held_out).status_code == 201
    better, worse = bench.predictions(30), bench.predictions(2)

    incumbent = opened(bench.evaluator, candidate=digest_of("champion"))
    stored = uploaded(bench.evaluator, bench.table(worse))
    answered(
        bench.evaluator,
        incumbent,
        subject=digest_of("champion"),
        metrics={},
        statistics={},
        per_example=stored,
    )
    alone = bench.measured(incumbent)
    assert (alone["outcome"], alone["incumbent"], alone["differences"]) == ("ok", None, {})

    reported = {
        "roc_auc": float(roc_auc_score(bench.is_malignant, better)),
        "f1": float(f1_score(bench.is_malignant, better >= 0.5)),
        "recall": 0.99,
    }
    attempt = opened(bench.evaluator, incumbent=digest_of("champion"))
    stored = uploaded(bench.evaluator, bench.table(better))
    record = answered(bench.evaluator, attempt, metrics=reported, statistics={}, per_example=stored)
    body = bench.measured(attempt)
    assert (body["outcome"], body["rows"], body["positives"]) == ("ok", 569, 212)
    assert body["evaluations"] == [record]
    assert body["metrics"]["roc_auc"]["estimate"] == pytest.approx(reported["roc_auc"])
    recall = float(recall_score(bench.is_malignant, better >= 0.5))
    assert {each["metric"]: (each["agrees"], each["recomputed"]) for each in body["reported"]} == {
        "roc_auc": (True, pytest.approx(reported["roc_auc"])),
        "f1": (True, pytest.approx(reported["f1"])),
        "recall": (False, pytest.approx(recall)),
    }
    gain = body["differences"]["roc_auc"]
    assert gain["incumbent"] == alone["metrics"]["roc_auc"]["estimate"]
    assert gain["estimate"] > 3 * gain["standard_error"] > 0
    assert [(each["value"], each["n"] > 200) for each in body["slices"]] == [("large", True), ("small", True)]
    # Nine tumours lie in both.
    assert (body["disjointness"]["status"], body["disjointness"]["overlap"]) == ("overlap", 9)
    assert body["engine"].keys() == {"numpy", "pyarrow", "scikit-learn", "scipy"}


def test_predictions_that_are_refused_end_in_a_record_that_says_why(bench: Bench) -> None:
    attempt = opened(bench.evaluator, candidate=digest_of("other"))
    score = bench.predictions(2)
    score[7] = np.nan
    stored = uploaded(bench.evaluator, bench.table(score))
    answered(
        bench.evaluator, attempt, subject=digest_of("other"), metrics={}, statistics={}, per_example=stored
    )
    body = bench.measured(attempt)
    assert (body["outcome"], body["metrics"]) == ("error", {})
    assert body["reason"] == (
        "Repeat 0 of the candidate: the column score holds NaN or an infinite number; give finite numbers."
    )


def test_bytes_that_crash_a_reader_end_in_a_record_too(bench: Bench) -> None:
    for number, content in enumerate(
        (b"PAR1 and no more", b"ARROW1\0\0" + bytes(64), b"id,label,score\n1,0,0.5\n")
    ):
        name = digest_of(f"strange {number}")
        attempt = opened(bench.evaluator, candidate=name)
        stored = uploaded(bench.evaluator, content)
        answered(bench.evaluator, attempt, subject=name, metrics={}, statistics={}, per_example=stored)
        body = bench.measured(attempt)
        assert body["outcome"] == "error"
        assert "no whole Parquet or Arrow IPC file" in body["reason"]
