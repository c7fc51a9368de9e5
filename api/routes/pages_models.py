"""Models, their versions, and one version: may it ship, why not, what unblocks it, and what is it made of?"""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from api.pages import Scope, decode_cursor, decode_position, encode_cursor
from api.routes.reading_promotions import protected_names
from api.services import services_of
from api.web import links
from api.web.answers import page
from api.web.check_view import Evidence
from api.web.models_view import model_row, model_verdict, models_verdict, version_row
from api.web.standing_view import decision_row, place_of, version_verdict
from api.web.viewers import CurrentViewer
from api.web.words import Word
from models.catalog import listed_models, newest_decisions, targets_of
from models.errors import NotFound
from models.gates.in_force import standing
from models.gates.queries import gates_of_model, list_decisions, superseded_among
from models.lineage.lineage import lineage_on
from models.lineage.model_queries import get_version, list_manifests, list_versions
from models.lineage.queries import list_models
from models.lineage.question import NOW, Direction, Question, VersionName
from models.promotions.queries import protections

router = APIRouter(include_in_schema=False)

PAGE_ROWS: Final = 50
_DECISIONS: Final = 20
Registry = Annotated[str, Query(max_length=256)]
After = Annotated[str | None, Query()]
_UNKNOWN: Final = {
    "unresolved": Word("unresolved", "Unknown", "broken"),
    "weak": Word("weak", "Weak", "open"),
}


@router.get("/models")
def show_models(request: Request, viewer: CurrentViewer, after: After = None) -> Response:
    """A page at a time, by registry and name."""
    namespace = viewer.actor.namespace
    scope: Scope = ["page of models", namespace]
    key = decode_cursor(scope, after, str, str)
    with services_of(request).database.read() as session:
        start = None if key is None else (str(key[0]), str(key[1]))
        names = list_models(session, namespace, start, PAGE_ROWS + 1)
        found = listed_models(session.connection(), namespace, names[:PAGE_ROWS])
    rows = [model_row(each) for each in found]
    more = encode_cursor(scope, names[PAGE_ROWS - 1]) if len(names) > PAGE_ROWS else None
    values = {
        "verdict": models_verdict(rows, is_part=more is not None or after is not None),
        "rows": rows,
        "next_page": links.models(after=more) if more else None,
    }
    return page(request, "models.html", values, viewer=viewer)


@router.get("/models/{model:path}/versions/{version}")
def show_model_version(
    model: str,
    version: str,
    request: Request,
    viewer: CurrentViewer,
    registry: Registry = "default",
) -> Response:
    namespace, now = viewer.actor.namespace, datetime.now(UTC)
    with services_of(request).database.read() as session:
        connection = session.connection()
        line = get_version(session, namespace, registry, model, version)
        found = [
            standing(connection, namespace, model, gate.target, line.artifact, now)
            for gate in gates_of_model(connection, namespace, model)
        ]
        rows = list_decisions(session, namespace, None, _DECISIONS, model=model, artifact=line.artifact)
        superseded = superseded_among(session, namespace, rows)
        protected = None
        if not found and "*" not in (protect := services_of(request).settings.protect):
            protected = protected_names(protections(connection, namespace), protect)
        manifests = list_manifests(session, namespace, registry, model, version, 1)
        question = Question(namespace, 1, Direction.UPSTREAM, NOW, now, False)
        lineage = orjson.loads(lineage_on(connection, question, VersionName(registry, model, version)))
    name = f"{model}:{version}"
    places = [place_of(each, each.gate.target, name) for each in found if each.gate is not None]
    values = {
        "model": model,
        "registry": registry,
        "version": version,
        "name": name,
        "verdict": version_verdict(name, places, protected),
        "places": places,
        "rows": [decision_row(row, is_superseded=row.record in superseded) for row in rows],
        "evidence": [
            Evidence("Artifact", line.artifact, links.search(line.artifact)),
            Evidence("Run", line.run_id, links.run(line.run_id)),
            *(
                Evidence(
                    "Sealed lineage",
                    each.digest,
                    links.lineage_manifest(each.digest),
                    f"revision {each.revision}",
                )
                for each in manifests
            ),
            Evidence("Whole lineage", name, links.lineage(model, version, registry)),
        ],
        "unknown": _unknown(lineage),
    }
    return page(request, "model_version.html", values, viewer=viewer)


@router.get("/models/{model:path}")
def show_model(
    model: str, request: Request, viewer: CurrentViewer, registry: Registry = "default", after: After = None
) -> Response:
    """Its versions, the last registered first. Behind the page of a version, whose address this one's would take in."""
    namespace = viewer.actor.namespace
    scope: Scope = ["page of a model", namespace, registry, model]
    position = decode_position(scope, after)
    with services_of(request).database.read() as session:
        connection = session.connection()
        lines = list_versions(session, namespace, registry, model, position, PAGE_ROWS + 1)
        shown = lines[:PAGE_ROWS]
        decisions = newest_decisions(connection, namespace, model, [each.artifact for each in shown])
        held = targets_of(connection, namespace, [model]).get((registry, model), [])
    if not lines and position is None:
        raise NotFound(
            "no version of this model is registered in this registry; /models lists those that are"
        )
    rows = [version_row(each, held, decisions) for each in shown]
    older = encode_cursor(scope, (shown[-1].position,)) if len(lines) > PAGE_ROWS else None
    values = {
        "model": model,
        "registry": None if registry == "default" else registry,
        "verdict": model_verdict(model, rows, held, is_part=older is not None or position is not None),
        "rows": rows,
        "next_page": links.model(model, registry, after=older) if older else None,
    }
    return page(request, "model.html", values, viewer=viewer)


def _unknown(lineage: dict[str, Any]) -> list[dict[str, Any]]:
    """Parts of the lineage that nobody knows, or not well, the worst first."""
    listed = [
        {"part": each["part"], "reason": each["reason"] or "", "word": _UNKNOWN[each["status"]]}
        for each in lineage["completeness"]
        if each["status"] in _UNKNOWN
    ]
    return sorted(listed, key=lambda each: list(_UNKNOWN).index(each["word"].code))
