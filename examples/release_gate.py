"""Versions of a model at a release gate: train one, declare and make its evaluation, and leave the verdict to the gate.

Needs scikit-learn and pyarrow; goes on where examples/scikit_learn.py ended.

    python examples/release_gate.py policy --out out > policy.yaml
    python examples/release_gate.py train --out out --version 2 --seed 8
    python examples/release_gate.py evaluate --out out --version 2
    shipworthy gate evaluate tumour-screening:2 --gate tumour-champion

SHIPWORTHY_URL and SHIPWORTHY_TOKEN say where and as whom: who trains needs the role recorder, who evaluates the role
evaluator.
"""

import argparse
import io
import sys
from pathlib import Path

import joblib
import numpy as np
import pyarrow
import pyarrow.parquet
from scikit_learn import MEAN_AREA, read
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.preprocessing import StandardScaler

import shipworthy
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize
from shipworthy.query.client import ShipworthyClient
from shipworthy.settings import read_settings

MODEL = "tumour-screening"
POLICY = Path(__file__).parent / "gates" / "tumour_screening.yaml"
PROTOCOL = {"table": "validation.csv", "slices": ["nuclei"], "threshold": 0.5}
EVALUATOR = sha256_digest(Path(__file__).read_bytes())
"""An image's digest in earnest; here this file is all that evaluates."""
CONFIG = sha256_digest(canonicalize(PROTOCOL))


def print_policy(folder: Path) -> None:
    """The policy with the digests of this evaluation."""
    text = POLICY.read_text(encoding="utf-8")
    for digit, digest in zip("012", (EVALUATOR, CONFIG, validation_digest(folder)), strict=True):
        text = text.replace(f"sha256:{digit * 64}", digest)
    sys.stdout.write(text)


def train(folder: Path, version: str, seed: int, flaw: str | None) -> None:
    """Trains and registers a version. A `flaw` is what a broken join does: rows that get lost, or labels of others."""
    x, y = read(folder / "train.csv")
    is_large = size_of_nuclei(x)
    kept = is_large if flaw == "small-lost" else np.ones(len(y), dtype=bool)
    if flaw == "large-mislabelled":
        y[np.flatnonzero(is_large)[np.arange(is_large.sum()) % 5 < 3]] = 1
    config = {"model": "logistic regression by SGD", "alpha": 0.001, "seed": seed}
    with shipworthy.run("screening/train", config=config, data={"train": folder / "train.csv"}) as run:
        scaler = StandardScaler().fit(x[kept])
        model = SGDClassifier(loss="log_loss", alpha=0.001, random_state=seed, max_iter=60, tol=None)
        model.fit(scaler.transform(x[kept]), y[kept])
        path = model_path(folder, version)
        joblib.dump((scaler, model), path)
        run.model_version(MODEL, version, run.artifact(path))
    print(f"trained {MODEL}:{version}")


def evaluate(folder: Path, version: str, incumbent: str | None) -> None:
    """Opens an attempt before anything is measured, then sends what the model says of every row: the service's worker
    makes its own metrics of that."""
    settings = read_settings(None)
    with ShipworthyClient(str(settings.url), settings.token) as client:
        artifact = client.version(MODEL, version).artifact
        attempt = client.open_attempt(
            model=MODEL,
            candidate=artifact,
            incumbent=None if incumbent is None else client.version(MODEL, incumbent).artifact,
            dataset=validation_digest(folder),
            evaluator=EVALUATOR,
            config=CONFIG,
            task="binary",
        )
        scaler, model = joblib.load(model_path(folder, version))
        x, y = read(folder / "validation.csv")
        found = model.predict_proba(scaler.transform(x))[:, 1]
        client.complete_evaluation(
            attempt=attempt.id,
            subject=artifact,
            dataset=validation_digest(folder),
            evaluator=EVALUATOR,
            metrics={"roc_auc": roc_auc_score(y, found), "accuracy": accuracy_score(y, found >= 0.5)},
            per_example=client.put_blob(per_example(x, y, found)),
        )
        work = client.wait_for_work(client.attempt(attempt.id).document["work"]["id"], 60)
    print(f"attempt {attempt.number} on this evaluation data; its statistics are {work.state}")


def per_example(x: np.ndarray, y: np.ndarray, found: np.ndarray) -> bytes:
    """One row an example, as Parquet."""
    table = pyarrow.table(
        {
            "id": [f"row-{number}" for number in range(len(y))],
            "label": y,
            "score": found,
            "slice.nuclei": np.where(size_of_nuclei(x), "large", "small"),
        }
    )
    with io.BytesIO() as buffer:
        pyarrow.parquet.write_table(table, buffer)
        return buffer.getvalue()


def size_of_nuclei(x: np.ndarray) -> np.ndarray:
    return x[:, MEAN_AREA] > np.median(x[:, MEAN_AREA])


def validation_digest(folder: Path) -> str:
    return str(shipworthy.snapshot(folder / "validation.csv").digest)


def model_path(folder: Path, version: str) -> Path:
    return folder / f"candidate-{version}.joblib"


def main() -> None:
    parser = argparse.ArgumentParser(description="A version of a model at a release gate.")
    parser.add_argument("step", choices=["policy", "train", "evaluate"])
    parser.add_argument(
        "--out", type=Path, default=Path("out"), help="folder that examples/scikit_learn.py filled"
    )
    parser.add_argument("--version", default="2")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--flaw", choices=["small-lost", "large-mislabelled"], help="train on broken data")
    parser.add_argument("--incumbent", help="version that it is compared with")
    given = parser.parse_args()
    if given.step == "policy":
        print_policy(given.out)
    elif given.step == "train":
        train(given.out, given.version, given.seed, given.flaw)
    else:
        evaluate(given.out, given.version, given.incumbent)


if __name__ == "__main__":
    main()
