"""Runs, logged models, workspaces and files of released versions, kept from whatever MLflow's server does.

The stores and repositories of this process are replaced by subclasses of themselves that look first. That is below
every HTTP surface: REST, the pages' own calls, GraphQL, Flask, FastAPI, jobs.
"""

import asyncio
import functools
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias
from urllib.parse import unquote

from shipworthy.mlflow.kept import Keeper, Kept
from shipworthy.mlflow.locating import Place, place_of
from shipworthy.mlflow.refusals import denied
from shipworthy.mlflow.sources import claim_of

Arguments: TypeAlias = Mapping[str, object]
Look: TypeAlias = Callable[[Keeper, Arguments], None]
"""Raises MlflowException when the call would touch what is kept."""
_UNDER_WAY: Final = (
    "These files are being released at this moment, and were hashed for it: nothing is written to them "
    "meanwhile."
)


def with_looks(keeper: Callable[[], Keeper], instance: object, looks: Mapping[str, Look]) -> object:
    """The same instance, now of a subclass of its class that looks before each of these methods."""
    kind = type(instance)
    present = {name: look for name, look in looks.items() if hasattr(kind, name)}
    methods = {name: _looking(keeper, getattr(kind, name), look) for name, look in present.items()}
    instance.__class__ = type(kind.__name__, (kind,), {"__module__": kind.__module__, **methods})
    return instance


def _looking(
    keeper: Callable[[], Keeper], original: Callable[..., object], look: Look
) -> Callable[..., object]:
    signature = inspect.signature(original)

    def arguments(self: object, args: tuple[object, ...], kwargs: dict[str, object]) -> Arguments:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    if inspect.iscoroutinefunction(original):

        @functools.wraps(original)
        async def call_async(self: object, *args: object, **kwargs: object) -> object:
            await asyncio.to_thread(lambda: look(keeper(), arguments(self, args, kwargs)))
            return await original(self, *args, **kwargs)

        return call_async

    @functools.wraps(original)
    def call(self: object, *args: object, **kwargs: object) -> object:
        look(keeper(), arguments(self, args, kwargs))
        return original(self, *args, **kwargs)

    return call


def _keep_run(keeper: Keeper, arguments: Arguments) -> None:
    _require_known(keeper)
    _refuse_if("run", arguments["run_id"], keeper, lambda kept: kept.runs)


def _keep_experiment(keeper: Keeper, arguments: Arguments) -> None:
    _require_known(keeper)
    _refuse_if("experiment", arguments["experiment_id"], keeper, lambda kept: kept.experiments)


def _keep_logged_model(keeper: Keeper, arguments: Arguments) -> None:
    _require_known(keeper)
    _refuse_if("logged model", arguments["model_id"], keeper, lambda kept: kept.logged_models)


def _keep_alone(keeper: Keeper, arguments: Arguments) -> None:
    claim = (str(arguments["source_run_id"]), str(arguments["name"]))
    if claim in [claim_of(mark.location) for mark in keeper.under_way()]:
        raise denied(_UNDER_WAY)
    for kept in keeper.kept():
        if claim in kept.claims:
            raise denied(
                f"A logged model {claim[1]} of run {claim[0]} would be loaded in place of {kept}, which is or was "
                "released. Give it another name, or log it in a run of its own."
            )


def _keep_workspace(keeper: Keeper, arguments: Arguments) -> None:
    _require_known(keeper)
    _refuse_if("workspace", arguments["workspace_name"], keeper, lambda kept: frozenset({kept.key.workspace}))


def _keep_files(keeper: Keeper, arguments: Arguments) -> None:
    repository = arguments["self"]
    root = place_of(str(getattr(repository, "artifact_uri", "")))
    folder = _text(arguments.get("artifact_path"))
    # Only the name of an uploaded file counts, not where it lay at the one who sends it.
    name = _text(arguments.get("artifact_file_name") or arguments.get("local_file"))
    name = None if name is None else os.path.basename(name)
    # Some repositories decode the path once more before they delete.
    touched = {root.under(folder, name), root.under(None if folder is None else unquote(folder), name)}
    _refuse_overlap(keeper, touched)


def _keep_published_file(keeper: Keeper, arguments: Arguments) -> None:
    # A slow upload may have begun before the release; this is asked just before it takes the place of the old file.
    _refuse_overlap(keeper, {place_of(str(arguments["destination_file_path"]))})


TRACKING_LOOKS: Final[Mapping[str, Look]] = {
    "delete_run": _keep_run,
    "delete_experiment": _keep_experiment,
    "delete_logged_model": _keep_logged_model,
    "create_logged_model": _keep_alone,
    "_hard_delete_run": _keep_run,
    "_hard_delete_experiment": _keep_experiment,
    "_hard_delete_logged_model": _keep_logged_model,
}
WORKSPACE_LOOKS: Final[Mapping[str, Look]] = {"delete_workspace": _keep_workspace}
ARTIFACT_LOOKS: Final[Mapping[str, Look]] = {
    "log_artifact": _keep_files,
    "log_artifacts": _keep_files,
    "log_artifact_from_stream": _keep_files,
    "log_artifact_from_async_stream": _keep_files,
    "delete_artifacts": _keep_files,
    "create_multipart_upload": _keep_files,
    "complete_multipart_upload": _keep_files,
    "create_presigned_upload_url": _keep_files,
    "_publish_staged_artifact": _keep_published_file,
}


def _refuse_if(what: str, name: object, keeper: Keeper, of: Callable[[Kept], frozenset[str]]) -> None:
    for kept in keeper.kept():
        if str(name) in of(kept):
            raise denied(
                f"The {what} {name} stands behind {kept}, which is or was released: what was released is not deleted, "
                "because a rollback may need it and its record names it."
            )


def _refuse_overlap(keeper: Keeper, touched: set[Place]) -> None:
    # Marks first: what is committed after they were looked at is found among the releases.
    for mark in keeper.under_way():
        if any(Place(mark.place, other.is_local).overlaps(other) for other in touched):
            raise denied(_UNDER_WAY)
    for each in keeper.kept():
        for place in each.places:
            if any(place.overlaps(other) for other in touched):
                raise denied(
                    f"These files belong to {each}, which is or was released: what was released is neither overwritten "
                    "nor deleted. Log a new run or model, and register that as a new version."
                )


def _require_known(keeper: Keeper) -> None:
    if not keeper.is_known():
        raise denied(
            "The Shipworthy service has not said what all was released, so nothing is deleted: it can't be reached, or "
            "more was released than it lists."
        )


def _text(value: object) -> str | None:
    return None if value is None or value == "" else str(value)
