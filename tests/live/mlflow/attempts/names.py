"""Attempts to put a version under a protected name that no decision put there."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from tests.live.mlflow.attempts.attempt import Attempt
from tests.live.mlflow.attempts.spellings import FEW, SPELLINGS, Fields, Spelling, plainly
from tests.live.mlflow.calls import AJAX, PROXY, call, new_name, send, send_json
from tests.live.mlflow.exhibits import (
    ALIAS,
    FILES,
    OTHER,
    PROMPT,
    SEALED,
    STAGE,
    Exhibit,
    new_run,
    new_version,
    upload_files,
)
from tests.live.mlflow.servers import MlflowServer
from tests.support.gates import MODEL

SET_ALIAS: Final = "registered-models/alias"
STAGING: Final = "model-versions/transition-stage"
LOOKALIKES: Final = (
    "Champion",
    "CHAMPION",
    "сhampion",  # a Cyrillic es
    "champiоn",  # a Cyrillic o
    "champıon",  # a dotless i
    "ｃｈａｍｐｉｏｎ",
    "𝐜𝐡𝐚𝐦𝐩𝐢𝐨𝐧",
    "champi0n",
    "champlon",
)


def _written(
    spelling: Spelling, method: str, path: str, fields: Fields
) -> Callable[[MlflowServer, Exhibit], object]:
    return lambda server, exhibit: spelling.write(server, method, path, fields)


def _calls() -> Iterator[tuple[str, str, Fields, tuple[Spelling, ...]]]:
    yield "alias", SET_ALIAS, {"name": MODEL, "alias": ALIAS, "version": "2"}, SPELLINGS
    yield "stage", STAGING, {"name": MODEL, "version": "2", "stage": STAGE}, FEW
    yield "alias of a model without a gate", SET_ALIAS, {"name": OTHER, "alias": ALIAS, "version": "1"}, FEW
    yield "alias of a prompt", SET_ALIAS, {"name": PROMPT, "alias": ALIAS, "version": "1"}, FEW
    for stage in ("production", "PRODUCTION", "pRoDuCtIoN"):
        yield f"stage {stage}", STAGING, {"name": MODEL, "version": "2", "stage": stage}, FEW
    yield "stage of a model without a gate", STAGING, {"name": OTHER, "version": "1", "stage": STAGE}, FEW
    archiving: Fields = {"name": MODEL, "version": "2", "stage": STAGE, "archive_existing_versions": True}
    yield "stage and archive", STAGING, archiving, FEW


def _lookalike(alias: str) -> Callable[[MlflowServer, Exhibit], object]:
    return lambda server, _: plainly(
        server, "POST", SET_ALIAS, {"name": MODEL, "alias": alias, "version": "2"}
    )


def _seal_by_rename(server: MlflowServer, exhibit: Exhibit) -> object:
    name = new_name("loose")
    call(server, "registered-models/create", name=name)
    new_version(server, name, exhibit.undecided_source, run_id=exhibit.undecided_run)
    return plainly(server, "POST", "registered-models/rename", {"name": name, "new_name": SEALED})


def _seal(server: MlflowServer, exhibit: Exhibit, spelling: Spelling, source: str | None = None) -> object:
    """Registers a version under a name that asks for a pass before registration."""
    plainly(server, "POST", "registered-models/create", {"name": SEALED})
    fields = {"name": SEALED, "source": source or exhibit.undecided_source}
    run = {} if source else {"run_id": exhibit.undecided_run}
    return spelling.write(server, "POST", "model-versions/create", fields | run)


def _promote_new(server: MlflowServer, exhibit: Exhibit, **fields: str) -> object:
    """A new version of the gated model, promoted by the call that a pass would open."""
    made = send_json(server, "POST", "/api/2.0/mlflow/model-versions/create", {"name": MODEL, **fields})
    version = made.fields["model_version"]["version"] if made.status == 200 else "2"
    return plainly(server, "POST", SET_ALIAS, {"name": MODEL, "alias": ALIAS, "version": version})


def _foreign_source(server: MlflowServer, exhibit: Exhibit) -> object:
    """The run is the good one, the files are not: they lie in another of its folders."""
    source = f"mlflow-artifacts:/{exhibit.experiment}/{exhibit.run}/artifacts/other"
    return _promote_new(server, exhibit, source=source, run_id=exhibit.run)


def _path_of_the_disk(server: MlflowServer, exhibit: Exhibit) -> object:
    """Readers get what lies below the run; joined carelessly, the path is that of the good files."""
    run = new_run(server, exhibit.experiment)
    good = server.artifacts / exhibit.path()
    upload_files(server, "undecided", f"{exhibit.experiment}/{run}/artifacts/{str(good).lstrip('/')}")
    return _promote_new(server, exhibit, source=f"runs:/{run}/{good}", run_id=run)


def _decoded_by_readers(server: MlflowServer, exhibit: Exhibit) -> object:
    """The good files lie in a folder `mo%64el`, which the proxy takes for `model`, where the others are."""
    run = new_run(server, exhibit.experiment)
    root = f"{exhibit.experiment}/{run}/artifacts"
    location = f"file://{server.artifacts}/{root}/mo%2564el"
    made = call(server, "experiments/create", name=new_name("escaped"), artifact_location=location)
    other = new_run(server, made["experiment_id"])
    for name, content in FILES["released"].items():
        send(server, "POST", f"{AJAX}upload-artifact?run_uuid={other}&path=model/{name}", content)
    upload_files(server, "undecided", f"{root}/model/{other}/artifacts/model")
    source = f"runs:/{run}/mo%64el/{other}/artifacts/model"
    return _promote_new(server, exhibit, source=source, run_id=run)


def _swapped_before(server: MlflowServer, exhibit: Exhibit) -> object:
    """Files that passed, replaced by others of the same length after their digest was read once."""
    run = new_run(server, exhibit.experiment)
    upload_files(server, "released", exhibit.path(run))
    source = exhibit.source.replace(exhibit.run, run)
    version = new_version(server, MODEL, source, run_id=run)
    # The name is protected on this model too, but has no gate: refused after the guard hashed the files.
    plainly(server, "POST", STAGING, {"name": MODEL, "version": version, "stage": STAGE})
    upload_files(server, "undecided", exhibit.path(run))
    return plainly(server, "POST", SET_ALIAS, {"name": MODEL, "alias": ALIAS, "version": version})


def _unreadable(server: MlflowServer, exhibit: Exhibit, source: str) -> object:
    return _promote_new(server, exhibit, source=source)


def _copied(server: MlflowServer, exhibit: Exhibit) -> object:
    """What `copy_model_version` sends, into a model whose gate knows nothing of it."""
    name = new_name("copy")
    call(server, "registered-models/create", name=name)
    plainly(server, "POST", "model-versions/create", {"name": name, "source": f"models:/{MODEL}/2"})
    return plainly(server, "POST", SET_ALIAS, {"name": name, "alias": ALIAS, "version": "1"})


def _copied_within(server: MlflowServer, exhibit: Exhibit) -> object:
    return _promote_new(server, exhibit, source=f"models:/{MODEL}/2")


def _released_elsewhere(server: MlflowServer, exhibit: Exhibit) -> object:
    """The files passed for another model: a decision is about a model, a name and files together."""
    name = new_name("churn")
    call(server, "registered-models/create", name=name)
    new_version(server, name, exhibit.source, run_id=exhibit.run)
    return plainly(server, "POST", SET_ALIAS, {"name": name, "alias": ALIAS, "version": "1"})


def _other_name(server: MlflowServer, exhibit: Exhibit) -> object:
    """The files passed for the stage and not for the alias."""
    return plainly(server, "POST", SET_ALIAS, {"name": MODEL, "alias": ALIAS, "version": "3"})


def _recreated(server: MlflowServer, exhibit: Exhibit) -> object:
    """Version numbers begin anew when a model is deleted: version 1 passed, this version 1 did not."""
    plainly(server, "DELETE", "registered-models/delete", {"name": MODEL})
    plainly(server, "POST", "registered-models/create", {"name": MODEL})
    fields = {"name": MODEL, "source": exhibit.undecided_source, "run_id": exhibit.undecided_run}
    plainly(server, "POST", "model-versions/create", fields)
    return plainly(server, "POST", SET_ALIAS, {"name": MODEL, "alias": ALIAS, "version": "1"})


def _renamed_into(server: MlflowServer, exhibit: Exhibit) -> object:
    """The released model out of the way, another in its place."""
    plainly(server, "POST", "registered-models/rename", {"name": MODEL, "new_name": new_name("moved")})
    plainly(server, "POST", "registered-models/rename", {"name": OTHER, "new_name": MODEL})
    return plainly(server, "POST", SET_ALIAS, {"name": MODEL, "alias": ALIAS, "version": "1"})


def _graphql(server: MlflowServer, exhibit: Exhibit) -> object:
    mutation = (
        f'mutation {{ mlflowSetRegisteredModelAlias(input: {{name: "{MODEL}", alias: "{ALIAS}", version: "2"}}) '
        "{ apiError { code } } }"
    )
    return send_json(server, "POST", "/graphql", {"query": mutation})


def _in_workspace(server: MlflowServer, exhibit: Exhibit) -> object:
    fields = {"name": MODEL, "alias": ALIAS, "version": "2"}
    headers = {"X-MLFLOW-WORKSPACE": "default"}
    return send_json(server, "POST", f"/api/2.0/mlflow/{SET_ALIAS}", fields, headers)


def _through_the_proxy(server: MlflowServer, exhibit: Exhibit) -> object:
    """One path that two routers could take for theirs."""
    path = PROXY + "../../mlflow/registered-models/alias"
    return send(server, "POST", path, b"{}", {"Content-Type": "application/json"})


def _names() -> Iterator[Attempt]:
    for what, path, fields, spellings in _calls():
        for spelling in spellings:
            yield Attempt(f"{what}: {spelling.name}", _written(spelling, "POST", path, fields), spelling.real)
    for alias in LOOKALIKES:
        yield Attempt(f"lookalike alias {alias!r}", _lookalike(alias))
    # First: those after it leave a model of that name, which no other can be renamed to.
    yield Attempt("sealed model: rename", _seal_by_rename)
    for spelling in FEW:
        yield Attempt(f"sealed model: {spelling.name}", partial(_seal, spelling=spelling))
    yield Attempt("sealed model: copy", partial(_seal, spelling=FEW[0], source=f"models:/{MODEL}/1"))
    yield Attempt("foreign source with a good run's id", _foreign_source)
    yield Attempt("files swapped after they were hashed", _swapped_before)
    yield Attempt("source with a path of the server's disk", _path_of_the_disk)
    yield Attempt("source that readers decode", _decoded_by_readers)
    for source in (
        "s3://bucket/model",
        "https://models.example.org/model",
        "dbfs:/model",
        "ftp://models.example.org/model",
        "hdfs://cluster/model",
    ):
        yield Attempt(f"unreadable source {source}", partial(_unreadable, source=source))
    yield Attempt("copy into another model", _copied)
    yield Attempt("copy within the model", _copied_within)
    yield Attempt("files that passed for another model", _released_elsewhere)
    yield Attempt("files that passed for another name", _other_name)
    yield Attempt("model deleted and created again", _recreated)
    yield Attempt("another model renamed into its place", _renamed_into)
    yield Attempt("GraphQL mutation", _graphql, real=False)
    yield Attempt("workspace header", _in_workspace, real=False)
    yield Attempt("path of the artifact proxy", _through_the_proxy, real=False)


NAMES: Final = tuple(_names())
