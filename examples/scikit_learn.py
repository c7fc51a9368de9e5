"""A real small model on a real table: tell malignant from benign tumours. Needs scikit-learn.

Two runs: one splits the table, the other trains on what the first made; the lineage of the model shows both.

    export SHIPWORTHY_URL=http://127.0.0.1:8470
    python examples/scikit_learn.py --version 1
    shipworthy lineage tumour-screening:1
"""

import argparse
from pathlib import Path

import joblib
import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import accuracy_score, log_loss, recall_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import shipworthy

TABLE = Path(__file__).parent / "data" / "breast_cancer.csv"
CONFIG = {"model": "logistic regression by SGD", "alpha": 0.001, "epochs": 60, "save_every": 20, "seed": 7}
MEAN_AREA = 3  # The column of the table that holds the mean area of the cells' nuclei.


def split(folder: Path) -> tuple[Path, Path]:
    """Writes train.csv and validation.csv, and records that they were made of the table."""
    settings = {"validation_part": 0.25, "seed": 11}
    with shipworthy.run("screening/split", config=settings, data={"source": TABLE}) as run:
        rows = np.loadtxt(TABLE, delimiter=",", skiprows=1)
        parts = train_test_split(
            rows, test_size=settings["validation_part"], random_state=settings["seed"], stratify=rows[:, -1]
        )
        paths = folder / "train.csv", folder / "validation.csv"
        for path, part in zip(paths, parts, strict=True):
            np.savetxt(path, part, delimiter=",", fmt="%.10g")
            run.artifact(path, role=path.stem)
    return paths


def train(folder: Path, train_path: Path, validation_path: Path, version: str) -> str:
    """Trains, records and registers the model; the run's id."""
    with shipworthy.run(
        "screening/train",
        config=CONFIG,
        data={"train": train_path, "validation": validation_path},
        team="screening",
    ) as run:
        x, y = read(train_path)
        x_validation, y_validation = read(validation_path)
        scaler = StandardScaler().fit(x)
        model = SGDClassifier(loss="log_loss", alpha=CONFIG["alpha"], random_state=CONFIG["seed"])
        for epoch in range(1, CONFIG["epochs"] + 1):
            model.partial_fit(scaler.transform(x), y, classes=[0, 1])
            run.log(
                step=epoch,
                train_loss=log_loss(y, model.predict_proba(scaler.transform(x))),
                validation_loss=log_loss(y_validation, model.predict_proba(scaler.transform(x_validation))),
            )
            if epoch % CONFIG["save_every"] == 0:
                path = folder / f"checkpoint-{epoch}.joblib"
                joblib.dump((scaler, model), path)
                run.checkpoint(path, step=epoch, contains=["model", "optimizer"])
        path = folder / "model.joblib"
        joblib.dump((scaler, model), path)
        artifact = run.artifact(path)

        found = model.predict_proba(scaler.transform(x_validation))[:, 1]
        is_large = x_validation[:, MEAN_AREA] > np.median(x_validation[:, MEAN_AREA])
        run.evaluation(
            {"auc": roc_auc_score(y_validation, found), **scores(y_validation, found)},
            subject=artifact,
            dataset=shipworthy.snapshot(validation_path),
            slices={
                "nuclei": {
                    "small": scores(y_validation[~is_large], found[~is_large]),
                    "large": scores(y_validation[is_large], found[is_large]),
                }
            },
            step=CONFIG["epochs"],
        )
        run.model_version("tumour-screening", version, artifact)
    return run.id


def scores(truth: np.ndarray, found: np.ndarray) -> dict[str, float]:
    """Accuracy, and of the malignant tumours (0) the part that is found."""
    said = (found > 0.5).astype(int)
    return {
        "accuracy": accuracy_score(truth, said),
        "malignant_recall": recall_score(truth, said, pos_label=0, zero_division=0.0),
    }


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    rows = np.loadtxt(path, delimiter=",")
    return rows[:, :-1], rows[:, -1].astype(int)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train and record a small model.")
    parser.add_argument("--version", default="1", help="version under which the model is registered")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for data and models")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    run_id = train(given.out, *split(given.out), given.version)
    print(f"trained tumour-screening:{given.version} in run {run_id}")


if __name__ == "__main__":
    main()
