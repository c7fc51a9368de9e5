"""What MLflow's users do all day, and what it answers: a guard must change none of it. Runs in MLflow's environment."""

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import mlflow
from mlflow.entities import Metric, Param, RunTag
from mlflow.entities.webhook import WebhookEvent
from mlflow.exceptions import MlflowException
from mlflow.pyfunc import PythonModel
from mlflow.tracking import MlflowClient

_NUMBERED = re.compile(r"m-[0-9a-f]{32}|[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f-]{27}|127\.0\.0\.1:\d+")
_EXPERIMENT = re.compile(r"(?<=mlflow-artifacts:/)\d+")
_DATABASE_WORDS = re.compile(r" Error: .*", re.DOTALL)
_TIME = re.compile(r"\b1[78]\d{11}\b")


class Echo(PythonModel):  # type: ignore[misc]  # mlflow ships no types where this is checked
    def predict(
        self, context: Any, model_input: list[str], params: dict[str, Any] | None = None
    ) -> list[str]:
        return model_input


def ordinary_calls(asked: dict[str, Any]) -> list[Any]:
    """Each call's name with its answer or its error, less what differs between any two servers."""
    os.environ["MLFLOW_TRACKING_USERNAME"], os.environ["MLFLOW_TRACKING_PASSWORD"] = asked["user"]
    mlflow.set_tracking_uri(asked["uri"])
    mlflow.set_registry_uri(asked["uri"])
    describe = _Describer(asked["mark"])
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name, call in _calls(MlflowClient(asked["uri"], asked["uri"]), asked["mark"], Path(folder)):
            try:
                found.append([name, describe(call())])
            except MlflowException as error:
                message = _DATABASE_WORDS.sub("", str(error.message))
                found.append([name, f"{error.error_code}: {describe(message)}"])
    return found


def _calls(client: MlflowClient, mark: str, folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Later calls use what earlier ones made, so each runs before the next is made."""
    made = _Made(client, mark, folder)
    yield from _tracking(client, made)
    yield from _versions(client, made)
    yield from _names(client, made)
    yield from _prompts(client, made)
    yield from _logged(client, made)
    yield from _errors(client, made)
    yield from _endings(client, made)


class _Made:
    """Names, and ids that the server gave."""

    def __init__(self, client: MlflowClient, mark: str, folder: Path) -> None:
        self.mark, self.model, self.other, self.folder = mark, f"model-{mark}", f"other-{mark}", folder
        self.experiment = client.create_experiment(f"experiment-{mark}")
        self.run = client.create_run(self.experiment, run_name="first").info.run_id
        self.file = folder / "notes.txt"
        self.file.write_text("first\n")
        inner = folder / "inner"
        inner.mkdir()
        (inner / "weights.bin").write_bytes(b"\x05" * 1000)
        self.inner = inner


def _tracking(client: MlflowClient, made: _Made) -> Iterator[tuple[str, Callable[[], Any]]]:
    run = made.run
    yield "log_param", lambda: client.log_param(run, "rate", 0.1)
    yield "log_metric", lambda: client.log_metric(run, "loss", 0.5, step=1)
    batch = ([Metric("loss", 0.25, 1_700_000_000_000, 2)], [Param("depth", "3")], [RunTag("team", "risk")])
    yield "log_batch", lambda: client.log_batch(run, *batch)
    yield "set_tag", lambda: client.set_tag(run, "reviewed", "no")
    yield "delete_tag", lambda: client.delete_tag(run, "reviewed")
    yield "log_artifact", lambda: client.log_artifact(run, str(made.file), "model")
    yield "log_artifacts", lambda: client.log_artifacts(run, str(made.inner), "model/inner")
    yield "list_artifacts", lambda: client.list_artifacts(run, "model")
    made.file.write_text("second\n")
    yield "overwrite an artifact", lambda: client.log_artifact(run, str(made.file), "model")
    yield "log_dict", lambda: client.log_dict(run, {"a": 1}, "settings.json")
    yield "download", lambda: Path(client.download_artifacts(run, "model/notes.txt")).read_text()
    yield "set_terminated", lambda: client.set_terminated(run)
    yield "get_run", lambda: client.get_run(run)
    yield "search_runs", lambda: list(client.search_runs([made.experiment], "metrics.loss < 0.3"))
    yield "get_metric_history", lambda: client.get_metric_history(run, "loss")
    yield "set_experiment_tag", lambda: client.set_experiment_tag(made.experiment, "owner", "risk")
    yield "rename_experiment", lambda: client.rename_experiment(made.experiment, f"renamed-{made.mark}")
    yield "get_experiment", lambda: client.get_experiment(made.experiment)


def _versions(client: MlflowClient, made: _Made) -> Iterator[tuple[str, Callable[[], Any]]]:
    model, run = made.model, made.run
    yield "create_registered_model", lambda: client.create_registered_model(model, {"a": "b"}, "words")
    source = f"{client.get_run(run).info.artifact_uri}/model"
    for _ in range(3):
        yield "create_model_version", lambda: client.create_model_version(model, source, run, {"k": "v"})
    yield (
        "create_model_version of a run",
        lambda: client.create_model_version(model, f"runs:/{run}/model", run),
    )
    yield "get_model_version", lambda: client.get_model_version(model, "1")
    yield "update_model_version", lambda: client.update_model_version(model, "1", "better words")
    yield "set_model_version_tag", lambda: client.set_model_version_tag(model, "1", "checked", "yes")
    yield "delete_model_version_tag", lambda: client.delete_model_version_tag(model, "1", "k")
    yield "get_model_version_download_uri", lambda: client.get_model_version_download_uri(model, "1")
    yield "search_model_versions", lambda: list(client.search_model_versions(f"name='{model}'"))
    yield "update_registered_model", lambda: client.update_registered_model(model, "other words")
    yield "set_registered_model_tag", lambda: client.set_registered_model_tag(model, "team", "risk")
    yield "delete_registered_model_tag", lambda: client.delete_registered_model_tag(model, "a")
    yield "create another model", lambda: client.create_registered_model(made.other)
    yield "copy_model_version", lambda: client.copy_model_version(f"models:/{model}/1", made.other)


def _names(client: MlflowClient, made: _Made) -> Iterator[tuple[str, Callable[[], Any]]]:
    model = made.model
    yield "set_registered_model_alias", lambda: client.set_registered_model_alias(model, "challenger", "2")
    yield "move the alias", lambda: client.set_registered_model_alias(model, "challenger", "3")
    yield "another alias", lambda: client.set_registered_model_alias(model, "Blue_green-1", "3")
    yield "get_model_version_by_alias", lambda: client.get_model_version_by_alias(model, "challenger")
    yield "delete_registered_model_alias", lambda: client.delete_registered_model_alias(model, "challenger")
    for version, stage in (("1", "Staging"), ("2", "staging"), ("1", "Archived"), ("3", "None")):
        yield (
            f"stage {stage} of {version}",
            partial(client.transition_model_version_stage, model, version, stage),
        )
    yield "stage and archive", lambda: client.transition_model_version_stage(model, "3", "Staging", True)
    yield "get_latest_versions", lambda: client.get_latest_versions(model)
    yield "get_registered_model", lambda: client.get_registered_model(model)
    yield "search_registered_models", lambda: list(client.search_registered_models(f"name='{model}'"))
    yield "load an artifact by alias", lambda: client.get_model_version_by_alias(model, "Blue_green-1").source


def _prompts(client: MlflowClient, made: _Made) -> Iterator[tuple[str, Callable[[], Any]]]:
    prompt = f"prompt-{made.mark}"
    yield "register_prompt", lambda: client.register_prompt(prompt, "Good morning, {{ name }}", "first")
    yield (
        "register_prompt again",
        lambda: client.register_prompt(prompt, "Good evening, {{ name }}", "second"),
    )
    yield "set_prompt_alias", lambda: client.set_prompt_alias(prompt, "challenger", 2)
    yield "load_prompt", lambda: client.load_prompt(f"prompts:/{prompt}@challenger").template
    yield "set_prompt_tag", lambda: client.set_prompt_tag(prompt, "language", "en")
    yield "search_prompts", lambda: [each.name for each in client.search_prompts(f"name='{prompt}'")]
    yield "delete_prompt_alias", lambda: client.delete_prompt_alias(prompt, "challenger")
    yield "delete_prompt_version", lambda: client.delete_prompt_version(prompt, "1")


def _logged(client: MlflowClient, made: _Made) -> Iterator[tuple[str, Callable[[], Any]]]:
    def log_model() -> Any:
        with mlflow.start_run(experiment_id=made.experiment):
            found = mlflow.pyfunc.log_model(
                name="echo",
                python_model=Echo(),
                registered_model_name=made.other,
                pip_requirements=["mlflow"],
            )
            return found.registered_model_version

    yield "log_model", log_model
    yield "get the version", lambda: client.get_model_version(made.other, "2")
    yield "load_model", lambda: mlflow.pyfunc.load_model(f"models:/{made.other}/2").predict(["a", "b"])
    logged = client.create_logged_model(made.experiment, name="spare")
    yield "finalize_logged_model", lambda: client.finalize_logged_model(logged.model_id, "READY")
    yield "set_logged_model_tags", lambda: client.set_logged_model_tags(logged.model_id, {"a": "b"})
    yield "delete_logged_model", lambda: client.delete_logged_model(logged.model_id)


def _errors(client: MlflowClient, made: _Made) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Mistakes, which MLflow explains in its own words."""
    model = made.model
    yield "alias of no version", lambda: client.set_registered_model_alias(model, "challenger", "99")
    yield "alias of no model", lambda: client.set_registered_model_alias("nothing", "challenger", "1")
    yield "alias with a space", lambda: client.set_registered_model_alias(model, "two words", "1")
    yield "reserved alias", lambda: client.set_registered_model_alias(model, "latest", "1")
    yield "unknown stage", lambda: client.transition_model_version_stage(model, "1", "Shipping")
    yield "stage of no version", lambda: client.transition_model_version_stage(model, "99", "Staging")
    yield "model twice", lambda: client.create_registered_model(model)
    yield "no such alias", lambda: client.get_model_version_by_alias(model, "nobody")
    yield "no such version", lambda: client.delete_model_version(model, "99")
    yield "no such model", lambda: client.rename_registered_model("nothing", "something")
    yield "rename to a name that is taken", lambda: client.rename_registered_model(model, made.other)
    yield "no such run", lambda: client.delete_run("0" * 32)
    yield "version of no model", lambda: client.create_model_version("nothing", "runs:/1/model")


def _endings(client: MlflowClient, made: _Made) -> Iterator[tuple[str, Callable[[], Any]]]:
    model = made.model
    event = WebhookEvent.from_str("model_version.created")
    # A name that nobody knows: tests have no network.
    yield "create_webhook", lambda: client.create_webhook("hook", "https://hooks.invalid/x", [event])
    yield "list_webhooks", lambda: list(client.list_webhooks())
    yield "rename_registered_model", lambda: client.rename_registered_model(model, f"renamed-{made.mark}")
    yield "delete_model_version", lambda: client.delete_model_version(f"renamed-{made.mark}", "1")
    yield "delete_registered_model", lambda: client.delete_registered_model(f"renamed-{made.mark}")
    yield "delete_run", lambda: client.delete_run(made.run)
    yield "restore_run", lambda: client.restore_run(made.run)
    yield "delete_experiment", lambda: client.delete_experiment(made.experiment)
    yield "restore_experiment", lambda: client.restore_experiment(made.experiment)


class _Describer:
    """Entities as plain values; ids become numbers in the order of their first appearance."""

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._numbers: dict[str, str] = {}

    def __call__(self, value: Any) -> Any:
        if isinstance(value, str):
            text = _EXPERIMENT.sub("<experiment>", _TIME.sub("<time>", value.replace(self._mark, "<mark>")))
            return _NUMBERED.sub(lambda found: self._number(found.group()), text)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            return "<time>" if value > 10**12 else value
        if isinstance(value, dict):
            return {str(self(key)): self(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            # Databases give the latest versions of stages in an order of their own.
            in_order = sorted(value, key=lambda each: int(getattr(each, "version", None) or 0))
            return [self(each) for each in in_order]
        return {
            "type": type(value).__name__,
            **{
                name: "<experiment>" if name == "experiment_id" else self(each)
                for name, each in sorted(_properties(value).items())
            },
        }

    def _number(self, text: str) -> str:
        return self._numbers.setdefault(text, f"<{len(self._numbers) + 1}>")


def _properties(value: Any) -> dict[str, Any]:
    names = [name for name, each in vars(type(value)).items() if isinstance(each, property)]
    if names:
        return {name: getattr(value, name) for name in names}
    kept = {name: each for name, each in getattr(value, "__dict__", {}).items() if not name.startswith("_")}
    return kept or {"as": str(value)}
