"""Attempts made from MLflow's own table of routes and from the public methods of its registry store, with every field
filled by its name. A route or method that a newer MLflow brings is tried like the others."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import quote, urlencode

from tests.live.mlflow.attempts.attempt import Attempt
from tests.live.mlflow.calls import new_name, send
from tests.live.mlflow.exhibits import ALIAS, OTHER, SEALED, STAGE, Exhibit
from tests.live.mlflow.servers import MlflowServer
from tests.support.gates import MODEL

Values = Mapping[str, object]
_PARAMETER: Final = re.compile(r"<(?:path:)?(\w+)>|\{(\w+)(?::path)?\}")
_TOUCHES_RELEASES: Final = re.compile(
    r"registered-models|model-versions|mlflow-artifacts|artifact|/runs/|/experiments/|logged-models|graphql|/workspaces"
)
_ENDS: Final = re.compile(r"delete|DELETE")
_LONG: Final = {
    # Makes models, prompts and runs for a minute, by the same store's methods.
    "POST /ajax-api/3.0/mlflow/demo/generate",
}
_NEUTRAL: Final[Mapping[str, object]] = {"text": "1", "number": 1, "boolean": True, "message": {}, "enum": 1}


@dataclass(frozen=True, slots=True)
class Route:
    """`fields`: name, type and whether repeated, empty where the route reads no message."""

    method: str
    path: str
    fields: tuple[tuple[str, str, bool], ...]
    is_asgi: bool

    @property
    def touches_releases(self) -> bool:
        return _TOUCHES_RELEASES.search(self.path) is not None


def intents(exhibit: Exhibit) -> dict[str, Values]:
    """What a call could be meant to do, as values for fields of these names."""
    files = f"{exhibit.path()}/weights/weights.bin"
    common: Values = {
        "experiment_id": exhibit.experiment,
        "model_id": exhibit.logged_model,
        "artifact_path": files,
        "path": "model/weights/weights.bin",
        "archive_existing_versions": True,
        "artifact_location": exhibit.source,
        "default_artifact_root": exhibit.source,
        "filter": f"name = '{MODEL}'",
        "filter_string": f"name = '{MODEL}'",
        "url": "https://hooks.invalid/x",
        "key": "k",
        "value": "v",
        "description": "words",
    }
    undecided: Values = {**common, "source": exhibit.undecided_source, "run_id": exhibit.undecided_run}
    released: Values = {**common, "source": exhibit.source, "alias": ALIAS, "stage": "Archived"}
    taken = {"alias": ALIAS, "stage": STAGE}
    runs = {"run_id": exhibit.run, "run_uuid": exhibit.run, "new_name": new_name("moved"), "status": "FAILED"}
    logged = {
        "run_id": exhibit.logged_run,
        "run_uuid": exhibit.logged_run,
        "artifact_path": exhibit.logged_path,
    }
    sealed = {"new_name": SEALED, "dst_name": SEALED}
    return {
        "promote": {**undecided, **taken, "name": MODEL, "version": "2"},
        "promote another": {**undecided, **taken, **sealed, "name": OTHER, "version": "1"},
        "register": {**undecided, "name": SEALED, "version": "1", "alias": ALIAS},
        "take away": {**released, **runs, "name": MODEL, "version": "1"},
        "take the stage away": {**released, **logged, "name": MODEL, "version": "3"},
    }


def routes_of(answer: Sequence[Mapping[str, Any]]) -> list[Route]:
    """As the driver lists them, in an order in which what deletes comes last: attempts before it need their objects."""
    found = [
        Route(
            method,
            route["path"],
            tuple((name, kind, repeated) for name, kind, repeated in route["fields"]),
            route["by"].startswith("asgi"),
        )
        for route in answer
        for method in route["methods"]
    ]
    return sorted(
        found, key=lambda each: (bool(_ENDS.search(f"{each.method} {each.path}")), each.path, each.method)
    )


def attempts_by_route(routes: Sequence[Route], exhibit: Exhibit) -> Iterator[Attempt]:
    """Routes that could touch a release are tried with every intent, all others with one; those of them that read are
    left out."""
    for route in routes:
        if f"{route.method} {route.path}" in _LONG or not (route.touches_releases or route.method != "GET"):
            continue
        every = route.touches_releases and route.method != "GET"
        for name, values in intents(exhibit).items():
            if every or name == "take away":
                yield Attempt(
                    f"{route.method} {route.path}: {name}", partial(_send, route=route, values=values)
                )


def arguments_of(parameters: Sequence[tuple[str, bool]], values: Values) -> dict[str, object]:
    """Of a store's method. KeyError for a parameter that must be given and that nothing here knows to fill."""
    known: Values = {
        **values,
        "src_mv": [values["name"], values["version"]],
        "tag": ["k", "v"],
        "tags": None,
        "template": "Good morning",
        "webhook_id": "1",
        "events": [],
        "event": None,
        "stages": None,
        "prompt_versions": [],
        "trace_id": "1",
        "dst_name": values.get("dst_name", OTHER),
        "new_name": values.get("new_name", SEALED),
        "stage": values.get("stage", STAGE),
    }
    optional = set(known) - {"run_link", "local_model_path", "deployment_job_id"}
    return {name: known[name] for name, required in parameters if required or name in optional}


def _send(server: MlflowServer, exhibit: Exhibit, route: Route, values: Values) -> object:
    path = _PARAMETER.sub(
        lambda found: quote(str(values.get(found[1] or found[2], "1")), safe="/"), route.path
    )
    body = json.dumps(
        {name: _fill(name, kind, repeated, values) for name, kind, repeated in route.fields} or values
    )
    query = urlencode({name: str(value) for name, value in values.items() if not isinstance(value, bool)})
    headers = {"Content-Type": "application/json"}
    return send(
        server, route.method, f"{path}?{query}", None if route.method == "GET" else body.encode(), headers
    )


def _fill(name: str, kind: str, repeated: bool, values: Values) -> object:
    if name in values:
        given = values[name]
        return [given] if repeated else given
    if name.endswith(("_id", "_ids")):
        return ["1"] if repeated else "1"
    return [] if repeated else _NEUTRAL[kind]
