"""Attempts to take away, delete or change what is released, or what stands behind it."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from tests.live.mlflow.attempts.attempt import Attempt
from tests.live.mlflow.attempts.spellings import FEW, Fields, Spelling, plainly
from tests.live.mlflow.calls import AJAX, API, PROXY, new_name, send, send_json
from tests.live.mlflow.exhibits import ALIAS, EXPERIMENT, Exhibit, new_run
from tests.live.mlflow.servers import MlflowServer
from tests.support.gates import MODEL

OTHER_BYTES: Final = b"\x04" * 4000
WEIGHTS: Final = "weights/weights.bin"
_UPLOADS: Final = "/api/2.0/mlflow-artifacts/mpu/"

_Act = Callable[[MlflowServer, Exhibit], object]


def _write(spelling: Spelling, method: str, path: str, fields: Callable[[Exhibit], Fields]) -> _Act:
    return lambda server, exhibit: spelling.write(server, method, path, fields(exhibit))


def _registry_calls() -> Iterator[tuple[str, str, str, Callable[[Exhibit], Fields]]]:
    def same(**fields: str) -> Callable[[Exhibit], Fields]:
        return lambda exhibit: fields

    yield "delete the alias", "DELETE", "registered-models/alias", same(name=MODEL, alias=ALIAS)
    yield "delete the model", "DELETE", "registered-models/delete", same(name=MODEL)
    for version in ("1", "3"):
        yield (
            f"delete version {version}",
            "DELETE",
            "model-versions/delete",
            same(name=MODEL, version=version),
        )
    for stage in ("Archived", "None", "Staging"):
        moved = same(name=MODEL, version="3", stage=stage)
        yield f"move to {stage}", "POST", "model-versions/transition-stage", moved
    yield "delete the run", "POST", "runs/delete", lambda exhibit: {"run_id": exhibit.run}
    yield (
        "delete the logged model's run",
        "POST",
        "runs/delete",
        lambda exhibit: {"run_id": exhibit.logged_run},
    )
    yield (
        "delete the experiment",
        "POST",
        "experiments/delete",
        lambda exhibit: {"experiment_id": exhibit.experiment},
    )


def _rename(server: MlflowServer, exhibit: Exhibit) -> object:
    fields = {"name": MODEL, "new_name": new_name("moved")}
    return plainly(server, "POST", "registered-models/rename", fields)


def _archive_by_another(server: MlflowServer, exhibit: Exhibit) -> object:
    """Promoting version 2 archives what holds the stage."""
    fields: Fields = {"name": MODEL, "version": "2", "stage": "Production", "archive_existing_versions": True}
    return plainly(server, "POST", "model-versions/transition-stage", fields)


def _delete_logged_model(server: MlflowServer, exhibit: Exhibit, root: str) -> object:
    path = f"{root}logged-models/{exhibit.logged_model}"
    return send_json(server, "DELETE", path, {"model_id": exhibit.logged_model})


def _delete_as_demo(server: MlflowServer, exhibit: Exhibit) -> object:
    """The pages delete the runs of the demo, which is any experiment of that name, by MLflow's own client."""
    experiment = {"experiment_id": exhibit.experiment}
    plainly(server, "POST", "experiments/update", {**experiment, "new_name": "MLflow Demo"})
    plainly(server, "POST", "runs/log-parameter", {"run_id": exhibit.run, "key": "demo", "value": "true"})
    answer = send_json(server, "POST", "/ajax-api/3.0/mlflow/demo/delete", {})
    plainly(server, "POST", "experiments/update", {**experiment, "new_name": EXPERIMENT})
    return answer


def _files_of(exhibit: Exhibit) -> tuple[str, str]:
    return exhibit.path(), exhibit.logged_path


def _put(server: MlflowServer, exhibit: Exhibit, change: Callable[[str], str], which: int = 0) -> object:
    """Overwrite the weights under a path that means the same."""
    return send(server, "PUT", change(PROXY + _files_of(exhibit)[which]) + f"/{WEIGHTS}", OTHER_BYTES)


def _add(server: MlflowServer, exhibit: Exhibit, root: str) -> object:
    return send(server, "PUT", f"{root}{exhibit.path()}/extra.py", OTHER_BYTES)


def _delete_files(
    server: MlflowServer, exhibit: Exhibit, place: Callable[[Exhibit], str], root: str = PROXY
) -> object:
    return send(server, "DELETE", root + place(exhibit))


def _multipart(server: MlflowServer, exhibit: Exhibit, step: str) -> object:
    """A server whose artifacts lie on a disk has no multipart uploads; the guard refuses before it knows."""
    path = f"{exhibit.path()}/weights"
    fields = {"path": f"{path}/weights.bin", "num_parts": 1, "upload_id": "1", "parts": []}
    return send_json(server, "POST", f"{_UPLOADS}{step}/{path}", fields)


def _form_upload(server: MlflowServer, exhibit: Exhibit, run: str, path: str) -> object:
    """What MLflow's pages send."""
    return send(server, "POST", f"{AJAX}upload-artifact?run_uuid={run}&path={path}", OTHER_BYTES)


def _upload_to_the_run(server: MlflowServer, exhibit: Exhibit, path: str) -> object:
    return _form_upload(server, exhibit, exhibit.run, path)


def _presigned(server: MlflowServer, exhibit: Exhibit) -> object:
    fields = {"run_id": exhibit.run, "path": f"model/{WEIGHTS}"}
    return send_json(server, "POST", f"{API}artifacts/presigned-upload-url", fields)


def _nested_experiment(server: MlflowServer, exhibit: Exhibit) -> object:
    """An experiment whose own artifacts lie among the released files."""
    fields = {"name": new_name("nested"), "artifact_location": exhibit.source}
    made = send_json(server, "POST", f"{API}experiments/create", fields)
    if made.status != 200:
        return made
    run = new_run(server, made.fields["experiment_id"])
    return _form_upload(server, exhibit, run, "extra.bin")


def _local_experiment(server: MlflowServer, exhibit: Exhibit) -> object:
    """The same, past the proxy: the folder on the server's disk."""
    location = f"file://{server.artifacts / exhibit.path()}"
    made = send_json(
        server, "POST", f"{API}experiments/create", {"name": new_name("local"), "artifact_location": location}
    )
    if made.status != 200:
        return made
    run = new_run(server, made.fields["experiment_id"])
    return _form_upload(server, exhibit, run, "extra.bin")


def _paths() -> Iterator[tuple[str, Callable[[str], str], bool]]:
    yield "as it is", lambda path: path, True
    yield "ajax-api", lambda path: path.replace("/api/", "/ajax-api/", 1), True
    yield "%2F", lambda path: path.replace("/artifacts/model", "%2Fartifacts%2Fmodel"), True
    yield "escaped letters", lambda path: path.replace("/model", "/%6dodel"), True
    yield "doubly escaped letters", lambda path: path.replace("/model", "/%256dodel"), True
    yield "//", lambda path: path.replace("/artifacts/model", "//artifacts//model"), False
    yield "/./", lambda path: path.replace("/artifacts/model", "/./artifacts/./model"), False
    yield "/../", lambda path: path.replace("/artifacts/model", "/x/../artifacts/model"), False
    yield "%2e%2e", lambda path: path.replace("/artifacts/model", "/x/%2e%2e/artifacts/model"), False
    yield "// before the path", lambda path: f"/{path}", True


def _releases() -> Iterator[Attempt]:
    for what, method, path, fields in _registry_calls():
        for spelling in FEW:
            yield Attempt(f"{what}: {spelling.name}", _write(spelling, method, path, fields))
    yield Attempt("rename the model", _rename)
    yield Attempt("archive by promoting another", _archive_by_another)
    yield Attempt("delete as the demo", _delete_as_demo)
    yield Attempt("delete the logged model", partial(_delete_logged_model, root=API))
    yield Attempt("delete the logged model: ajax-api", partial(_delete_logged_model, root=AJAX))
    for name, change, real in _paths():
        yield Attempt(f"overwrite the weights: {name}", partial(_put, change=change), real)
    yield Attempt("overwrite the logged model's weights", partial(_put, change=str, which=1))
    yield Attempt("add a file", partial(_add, root=PROXY))
    places: dict[str, Callable[[Exhibit], str]] = {
        "a file": lambda exhibit: f"{exhibit.path()}/{WEIGHTS}",
        "the folder": lambda exhibit: exhibit.path(),
        "the run's folder": lambda exhibit: f"{exhibit.experiment}/{exhibit.run}",
        "the experiment's folder": lambda exhibit: exhibit.experiment,
        "the logged model": lambda exhibit: exhibit.logged_path,
        "all logged models": lambda exhibit: f"{exhibit.experiment}/models",
        "a folder with a slash at its end": lambda exhibit: f"{exhibit.path()}/",
    }
    for what, place in places.items():
        yield Attempt(f"delete {what}", partial(_delete_files, place=place))
    for step in ("create", "complete", "abort"):
        yield Attempt(f"multipart upload: {step}", partial(_multipart, step=step), real=False)
    for path in (f"model/{WEIGHTS}", "model/extra.bin", "model/%77eights/weights.bin"):
        yield Attempt(f"upload by a page: {path}", partial(_upload_to_the_run, path=path))
    yield Attempt("presigned upload", _presigned, real=False)
    yield Attempt("an experiment among the released files", _nested_experiment, real=False)
    yield Attempt("an experiment in the released folder", _local_experiment)


RELEASES: Final = tuple(_releases())
