"""A model version as a page: may it ship, why not, what unblocks it, and what is it made of?"""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from api.routes.reading_promotions import protected_names
from api.services import services_of
from api.web import links
from api.web.answers import page
from api.web.check_view import Evidence
from api.web.standing_view import decision_row, place_of, version_verdict
from api.web.viewers import CurrentViewer
from api.web.words import Word
from models.gates.in_force import standing
from models.gates.queries import gates_of_model, list_decisions
from models.lineage.lineage import lineage_on
from models.lineage.model_queries import get_version, list_manifests
from models.lineage.question import NOW, Direction, Question, VersionName
from models.promotions.queries import protections

router = APIRouter(include_in_schema=False)

_DECISIONS: Final = 20
_UNKNOWN: Final = {
    "unresolved": Word("unresolved", "Unknown", "broken"),
    "weak": Word("weak", "Weak", "open"),
}


@router.get("/models/{model:path}/versions/{version}")
def show_model_version(
    model: str,
    version: str,
    request: Request,
    viewer: CurrentViewer,
    registry: Annotated[str, Query(max_length=256)] = "default",
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
        "version": version,
        "name": name,
        "verdict": version_verdict(name, places, protected),
        "places": places,
        "rows": [decision_row(row) for row in rows],
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


def _unknown(lineage: dict[str, Any]) -> list[dict[str, Any]]:
    """Parts of the lineage that nobody knows, or not well, the worst first."""
    listed = [
        {"part": each["part"], "reason": each["reason"] or "", "word": _UNKNOWN[each["status"]]}
        for each in lineage["completeness"]
        if each["status"] in _UNKNOWN
    ]
    return sorted(listed, key=lambda each: list(_UNKNOWN).index(each["word"].code))
