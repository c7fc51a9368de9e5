"""A run as MLflow's REST interface records it: the nearest equivalent of one `POST /v1/runs`.

Five calls: create the run, log its parameters, tags and metrics in one batch, log three inputs, end it, create a model
version. Checkpoints, environment, hardware, seeds and events have no counterpart and are left out, in MLflow's favour.
"""

import json
import time
from typing import Any, Final

from benchmarks.support.http import Client
from benchmarks.support.load import Failed
from benchmarks.support.workload import METRICS, PARAMETERS, TAGS, new_mark

MODEL: Final = "bench-model"
_API: Final = "/api/2.0/mlflow/"
_DATASETS: Final = ("train", "validation", "test")


async def prepare(client: Client) -> str:
    """Makes the experiment and the registered model; gives the experiment's id."""
    created = await _call(client, "experiments/create", {"name": "bench"})
    await _call(client, "registered-models/create", {"name": MODEL})
    return str(created["experiment_id"])


async def record_run(client: Client, experiment: str) -> int:
    """Raises Failed at the first call that MLflow refuses: half a run is no run."""
    mark, now = new_mark(), time.time_ns() // 1_000_000
    created = await _call(
        client,
        "runs/create",
        {"experiment_id": experiment, "start_time": now, "run_name": f"trial-{mark}"},
    )
    run = created["run"]["info"]
    parameters = PARAMETERS | {"run.name": f"trial-{mark}"}
    await _call(
        client,
        "runs/log-batch",
        {
            "run_id": run["run_id"],
            "params": [{"key": key, "value": str(value)} for key, value in parameters.items()],
            "tags": [{"key": key, "value": value} for key, value in TAGS.items()],
            "metrics": [
                {"key": key, "value": value, "timestamp": now, "step": 5000} for key, value in METRICS.items()
            ],
        },
    )
    await _call(client, "runs/log-inputs", {"run_id": run["run_id"], "datasets": _datasets(mark)})
    await _call(client, "runs/update", {"run_id": run["run_id"], "status": "FINISHED", "end_time": now + 1})
    await _call(
        client,
        "model-versions/create",
        {"name": MODEL, "source": f"s3://bench/{mark}/model", "run_id": run["run_id"]},
    )
    return 1


def _datasets(mark: str) -> list[dict[str, Any]]:
    return [
        {
            "tags": [{"key": "mlflow.data.context", "value": role}],
            "dataset": {
                "name": f"clicks/{role}",
                "digest": mark[:8] if role == "train" else "5f2a9c1d",
                "source_type": "s3",
                "source": json.dumps({"uri": f"s3://bench/clicks/{role}"}),
            },
        }
        for role in _DATASETS
    ]


async def _call(client: Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = await client.post(_API + path, json.dumps(body).encode())
    if answer.status != 200:
        raise Failed(f"{path} answered {answer.status}: {answer.body[:120]!r}")
    given: dict[str, Any] = json.loads(answer.body)
    return given
