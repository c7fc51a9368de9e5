"""Reading an MLflow server page by page, patiently: an import of hours must not end because of one lost answer."""

import time
from collections.abc import Callable, Iterator
from typing import Final, TypeVar
from urllib.parse import quote

from shipworthy.importing.mlflow.answers import (
    Answer,
    Metric,
    MlflowRun,
    RegisteredVersion,
    metric_of,
    run_of,
    version_of,
)
from shipworthy.registries.mlflow_models import RegisteredModel, registered_model, registered_models
from shipworthy.registries.mlflow_server import MlflowAway, MlflowRefused, MlflowServer

PAUSES: Final = (0.5, 2.0, 8.0)
"""Seconds before a call is made again; after the last of them the trouble is told."""
RUNS_A_PAGE: Final = 100
VERSIONS_A_PAGE: Final = 200
POINTS_A_PAGE: Final = 10_000

_API: Final = "/api/2.0/mlflow"
_Result = TypeVar("_Result")


class Reading:
    """The calls that an import makes. Each raises what MlflowServer raises; `pause` waits so many seconds."""

    def __init__(self, server: MlflowServer, pause: Callable[[float], None] = time.sleep) -> None:
        self.server = server
        self.pause = pause
        self._experiments: dict[str, str] = {}

    def check(self) -> None:
        """Raises MlflowError unless an MLflow server answers, and answers to these credentials."""
        try:
            answer = self.server.get(f"{_API}/experiments/search", {"max_results": 1})
        except MlflowRefused as error:
            if error.code or error.status in (401, 403):
                raise
            raise self._stranger(error.status) from error
        # Empty lists are left out of MLflow's answers.
        if not answer.keys() <= {"experiments", "next_page_token"}:
            raise self._stranger(200)

    def patiently(self, call: Callable[[], _Result]) -> _Result:
        """What `call` returns; made again while MLflow is away. It must be one that may be made twice."""
        for pause in PAUSES:
            try:
                return call()
            except MlflowAway:
                self.pause(pause)
        return call()

    def experiments(self) -> Iterator[str]:
        """Ids of those that are not deleted."""
        asked: dict[str, str | int] = {"max_results": 1000, "view_type": "ACTIVE_ONLY"}
        for each in self._pages(f"{_API}/experiments/search", asked, "experiments"):
            self._experiments[str(each["experiment_id"])] = str(each["name"])
            yield str(each["experiment_id"])

    def experiment_name(self, experiment_id: str) -> str:
        name = self._experiments.get(experiment_id)
        if name is None:
            answer = self._get(f"{_API}/experiments/get", {"experiment_id": experiment_id})
            name = self._experiments[experiment_id] = str(answer["experiment"]["name"])
        return name

    def runs(self, experiment_id: str) -> Iterator[MlflowRun]:
        """Oldest first, so that runs which start meanwhile come at the end and shift no page."""
        token: str | None = None
        while True:
            answer = self._search_runs(experiment_id, token)
            yield from map(run_of, answer.get("runs") or ())
            token = answer.get("next_page_token") or None
            if token is None:
                return

    def run(self, run_id: str) -> MlflowRun:
        return run_of(self._get(f"{_API}/runs/get", {"run_id": run_id})["run"])

    def find_run(self, run_id: str) -> MlflowRun | None:
        """None when MLflow has no run of this id: a version or a tag may name any."""
        try:
            return self.run(run_id)
        except MlflowRefused as error:
            if error.code not in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
                raise
            return None

    def logged_model(self, model_id: str) -> Answer:
        """What MLflow says of a logged model: `source_run_id`, `artifact_uri` …"""
        answer = self._get(f"{_API}/logged-models/{quote(model_id, '')}", {})
        return dict(answer["model"]["info"])

    def history(self, run_id: str, key: str) -> Iterator[Metric]:
        """Every point of one metric, in MLflow's order."""
        asked: dict[str, str | int] = {"run_id": run_id, "metric_key": key, "max_results": POINTS_A_PAGE}
        return map(metric_of, self._pages(f"{_API}/metrics/get-history", asked, "metrics"))

    def models(self) -> list[RegisteredModel]:
        """All that are registered, prompts too: names and aliases, some hundred bytes each."""
        return self.patiently(lambda: list(registered_models(self.server)))

    def model(self, name: str) -> RegisteredModel:
        return self.patiently(lambda: registered_model(self.server, name))

    def versions(self, model: str) -> Iterator[RegisteredVersion]:
        """All versions of a model, the oldest first."""
        # "_" stands for any one character: a quote can't be written within quotes. Others that fit are left out.
        pattern = model.replace("'", "_").replace("\\", "_")
        comparison = f"name = '{model}'" if pattern == model else f"name LIKE '{pattern}'"
        asked: dict[str, str | int] = {
            "filter": comparison,
            "max_results": VERSIONS_A_PAGE,
            "order_by": "version_number ASC",
        }
        found = map(version_of, self._pages(f"{_API}/model-versions/search", asked, "model_versions"))
        return (each for each in found if each.binding.model == model)

    def _search_runs(self, experiment_id: str, token: str | None) -> Answer:
        asked: dict[str, object] = {
            "experiment_ids": [experiment_id],
            "max_results": RUNS_A_PAGE,
            "run_view_type": "ACTIVE_ONLY",
            "order_by": ["attributes.start_time ASC"],
        }
        if token is not None:
            asked["page_token"] = token
        return self.patiently(lambda: self.server.send("POST", f"{_API}/runs/search", asked))

    def _get(self, path: str, parameters: dict[str, str | int]) -> Answer:
        return self.patiently(lambda: self.server.get(path, parameters))

    def _pages(self, path: str, parameters: dict[str, str | int], member: str) -> Iterator[Answer]:
        asked = parameters
        while True:
            answer = self._get(path, asked)
            yield from answer.get(member) or ()
            token = answer.get("next_page_token")
            if not token:
                return
            asked = {**parameters, "page_token": str(token)}

    def _stranger(self, status: int) -> MlflowAway:
        return MlflowAway(
            f"{self.server.url} answers {status}, but not as an MLflow server does; check --tracking-uri"
        )
