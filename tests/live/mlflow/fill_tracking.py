"""What a team leaves in an MLflow server, written by MLflow's own client: run by the Python of .venv-mlflow.

    python fill_tracking.py http://127.0.0.1:5000 FOLDER

Prints the ids as JSON. `FOLDER` takes the files that are logged. tests/data/mlflow/answers.json holds what a server
that was filled by this answered to an import.
"""

import json
import sys
from pathlib import Path
from typing import Any

import mlflow
import pandas as pd
from mlflow import MlflowClient

COMMIT = "0f0e0d0c0b0a09080706050403020100ffeeddcc"


class Echo(mlflow.pyfunc.PythonModel):  # type: ignore[misc]
    """The smallest model that MLflow takes."""

    def predict(self, context: Any, model_input: list[str]) -> list[str]:
        return model_input


def main() -> None:
    mlflow.set_tracking_uri(sys.argv[1])
    folder = Path(sys.argv[2])
    client = MlflowClient()
    experiment = mlflow.create_experiment("fraud/train")
    mlflow.set_experiment("fraud/train")
    night, fold = train(folder)
    register(client, night)
    hanging = client.create_run(experiment, run_name="hanging").info.run_id
    killed = client.create_run("0", run_name="killed").info.run_id
    client.set_terminated(killed, "KILLED")
    gone = client.create_run("0", run_name="gone").info.run_id
    client.delete_run(gone)
    ids = {"night": night, "fold": fold, "hanging": hanging, "killed": killed, "gone": gone}
    sys.stdout.write(json.dumps(ids) + "\n")


def train(folder: Path) -> tuple[str, str]:
    """A run with all that MLflow keeps of one, and one that is nested in it."""
    frame = pd.DataFrame({"amount": [1.0, 2.5, 3.0], "label": [0.0, 1.0, 0.0]})
    held_out = mlflow.data.from_pandas(frame.head(2), name="held-out")
    data = mlflow.data.from_pandas(frame, source="s3://bucket/train/v42.parquet", name="payments")
    with mlflow.start_run(run_name="night") as run:
        mlflow.log_params({"learning_rate": 0.1, "seed": 7, "db_password": "hunter2", "note": "x" * 7000})
        mlflow.log_input(data, context="training")
        mlflow.log_input(held_out, context="evaluation")
        for step in range(5):
            mlflow.log_metric("train_loss", 1 / (step + 1), step=step)
        mlflow.log_metric("val_auc", 0.91, step=4)
        mlflow.log_metric("diverged", float("inf"), step=4)
        mlflow.log_metric("undefined", float("nan"), step=4)
        mlflow.log_metric("calibration", 0.02, step=2)
        mlflow.log_metric("system/cpu_utilization_percentage", 12.5, step=0)
        mlflow.set_tags(
            {
                "owner team": "risk",
                "long": "y" * 8500,
                "mlflow.user": "ada@example.org",
                "mlflow.source.name": "train.py",
                "mlflow.source.git.commit": COMMIT,
                "mlflow.source.git.repoURL": "https://ada:hunter2@git.example.org/fraud.git",
                "mlflow.docker.image.uri": f"registry.example.org/train:24.04@sha256:{'ab' * 32}",
            }
        )
        with mlflow.start_run(nested=True, run_name="fold-1") as child:
            mlflow.log_metric("val_auc", 0.9, step=1)
        mlflow.pyfunc.log_model(
            name="model", python_model=Echo(), pip_requirements=["numpy"], registered_model_name="fraud"
        )
        files = folder / "plain"
        (files / "nested").mkdir(parents=True)
        (files / "weights.bin").write_bytes(b"weights" * 1000)
        (files / "nested" / "a b.json").write_text("{}")
        mlflow.log_artifacts(str(files), "plain")
    return run.info.run_id, child.info.run_id


def register(client: MlflowClient, run_id: str) -> None:
    """Version 1 came with the logged model; nobody knows what made version 4; version 5 names a run that did not make
    it."""
    root = client.get_run(run_id).info.artifact_uri
    other = logged_model(client)
    for source, named, model in (
        (f"runs:/{run_id}/plain", run_id, None),
        (f"{root}/plain/weights.bin", run_id, None),
        ("s3://elsewhere/model", None, None),
        (f"models:/{other}", run_id, other),
    ):
        client.create_model_version("fraud", source, named, tags={"validated": "yes"}, model_id=model)
    client.set_registered_model_alias("fraud", "champion", "2")
    client.set_registered_model_alias("fraud", "shadow", "4")
    client.register_prompt("greeting", "Hello {{name}}")
    client.set_prompt_alias("greeting", "polite", 1)
    client.transition_model_version_stage("fraud", "1", "Production")


def logged_model(client: MlflowClient) -> str:
    """One that another run made, with files of its own."""
    foreign = client.create_run("0", run_name="foreign").info.run_id
    client.set_terminated(foreign)
    model = mlflow.initialize_logged_model(name="other", source_run_id=foreign)
    files = Path(sys.argv[2]) / "other"
    files.mkdir()
    (files / "weights.bin").write_bytes(b"of another run")
    client.log_model_artifacts(model.model_id, str(files))
    mlflow.finalize_logged_model(model.model_id, "READY")
    return str(model.model_id)


main()
