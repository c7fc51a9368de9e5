"""Versions of a model at a release gate: train some, declare and make their evaluations, and leave the verdict to the
gate.

Needs scikit-learn and pyarrow; goes on where examples/scikit_learn.py ended.

    python examples/release_gate.py policy --out out > policy.yaml
    python examples/release_gate.py train --out out 2 3:large-mislabelled
    python examples/release_gate.py evaluate --out out 2 3 --incumbent 2
    shipworthy gate evaluate tumour-screening:2 --gate tumour-champion

SHIPWORTHY_URL and SHIPWORTHY_TOKEN say where and as whom: who trains needs the role recorder, who evaluates the role
evaluator.
"""

import argparse
import io
import sys
from pathlib import Path

import numpy as np

import shipworthy
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize
from shipworthy.query.client import ShipworthyClient
from shipworthy.settings import read_settings

MODEL = "tumour-screening"
MEAN_AREA = 3  # The column of the table that holds the mean area of the cells' nuclei.
SEED = 7
FLAWS = ("large-mislabelled", "small-lost")
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


def train(folder: Path, version: str, flaw: str) -> None:
    """Trains and registers a version. A `flaw` is what a broken join does: rows that get lost, or labels of others."""
    # Here, because neither policy nor evaluation needs it, and it takes seconds.
    from sklearn.linear_model import SGDClassifier
    from sklearn.preprocessing import StandardScaler

    x, y = read(folder / "train.csv")
    is_large = size_of_nuclei(x)
    kept = is_large if flaw == "small-lost" else np.ones(len(y), dtype=bool)
    if flaw == "large-mislabelled":
        y[np.flatnonzero(is_large)[np.arange(is_large.sum()) % 5 < 3]] = 1
    config = {"model": "logistic regression by SGD", "alpha": 0.001, "seed": SEED}
    with shipworthy.run("screening/train", config=config, data={"train": folder / "train.csv"}) as run:
        scaler = StandardScaler().fit(x[kept])
        model = SGDClassifier(loss="log_loss", alpha=0.001, random_state=SEED, max_iter=60, tol=None)
        model.fit(scaler.transform(x[kept]), y[kept])
        path = model_path(folder, version)
        weights = model.coef_[0] / scaler.scale_
        np.save(path, np.append(weights, model.intercept_ - weights @ scaler.mean_))
        run.model_version(MODEL, version, run.artifact(path))
    print(f"trained {MODEL}:{version}")


def evaluate(client: ShipworthyClient, folder: Path, version: str, incumbent: str | None) -> tuple[int, str]:
    """Opens an attempt before anything is measured, then sends what the model says of every row: the service's worker
    makes its own metrics of that. The attempt's number, and the id of that work."""
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
    *weights, intercept = np.load(model_path(folder, version))
    x, y = read(folder / "validation.csv")
    found = 1 / (1 + np.exp(-(x @ weights + intercept)))
    client.complete_evaluation(
        attempt=attempt.id,
        subject=artifact,
        dataset=validation_digest(folder),
        evaluator=EVALUATOR,
        metrics={"roc_auc": roc_auc(y, found), "accuracy": float(np.mean((found >= 0.5) == y))},
        per_example=client.put_blob(per_example(x, y, found)),
    )
    return attempt.number, client.attempt(attempt.id).document["work"]["id"]


def per_example(x: np.ndarray, y: np.ndarray, found: np.ndarray) -> bytes:
    """One row an example, as Parquet."""
    import pyarrow
    import pyarrow.parquet

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


def roc_auc(y: np.ndarray, found: np.ndarray) -> float:
    """The part of all pairs of one benign and one malignant tumour that stand in the right order, ties half."""
    apart = found[y == 1][:, None] - found[y == 0]
    return float(np.mean(apart > 0) + np.mean(apart == 0) / 2)


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    rows = np.loadtxt(path, delimiter=",")
    return rows[:, :-1], rows[:, -1].astype(int)


def size_of_nuclei(x: np.ndarray) -> np.ndarray:
    return x[:, MEAN_AREA] > np.median(x[:, MEAN_AREA])


def validation_digest(folder: Path) -> str:
    return str(shipworthy.snapshot(folder / "validation.csv").digest)


def model_path(folder: Path, version: str) -> Path:
    return folder / f"candidate-{version}.npy"


def main() -> None:
    parser = argparse.ArgumentParser(description="Versions of a model at a release gate.")
    parser.add_argument("step", choices=["policy", "train", "evaluate"])
    parser.add_argument(
        "versions",
        nargs="*",
        metavar="VERSION",
        help=f"to train on broken data: VERSION:FLAW, which is one of {', '.join(FLAWS)}",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out"), help="folder that examples/scikit_learn.py filled"
    )
    parser.add_argument("--incumbent", help="version that the others are compared with")
    given = parser.parse_intermixed_args()
    if given.step == "policy":
        print_policy(given.out)
    elif given.step == "train":
        for text in given.versions:
            version, _, flaw = text.partition(":")
            if flaw not in ("", *FLAWS):
                parser.error(f"there is no flaw {flaw}; write one of {', '.join(FLAWS)}")
            train(given.out, version, flaw)
    else:
        settings = read_settings(None)
        with ShipworthyClient(str(settings.url), settings.token) as client:
            opened = [
                evaluate(client, given.out, version, None if version == given.incumbent else given.incumbent)
                for version in given.versions
            ]
            for number, work in opened:
                state = client.wait_for_work(work, 60).state
                print(f"attempt {number} on this evaluation data; its statistics are {state}")


if __name__ == "__main__":
    main()
