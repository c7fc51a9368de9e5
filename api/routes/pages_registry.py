"""Registries as a page: what stands at each protected name, on which decision, and what is not as it was decided."""

import json
from datetime import UTC, datetime
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlmodel import Session

from api.keeping import kept_blob
from api.services import Services, services_of
from api.web.answers import page
from api.web.registry_view import (
    Look,
    finding_row,
    findings_of,
    held_row,
    refused_row,
    verdict_of,
    worst_first,
)
from api.web.viewers import CurrentViewer
from api.web.words import STATES
from models.promotions.queries import list_events
from models.promotions.registry_page import has_gate, latest_of_each, list_held

router = APIRouter(include_in_schema=False)

_HELD: Final = 200
_FINDINGS: Final = 100
_REFUSED: Final = 10


@router.get("/registry")
def show_registry(request: Request, viewer: CurrentViewer) -> Response:
    services, namespace = services_of(request), viewer.actor.namespace
    with services.database.read() as session:
        looks = looks_at(session, services, namespace)
        held = list_held(session.connection(), namespace, _HELD + 1)
        refused = list_events(session, namespace, None, _REFUSED, state="refused")
        # A guard alone asks whether a name may move, and the records hold its answers.
        done = {
            "gate": has_gate(session.connection(), namespace),
            "guard": bool(held or refused),
            "moved": any(each["decision"] is not None for each in held),
        }
    findings = findings_of(looks)
    values = {
        "verdict": verdict_of(looks, len(held), datetime.now(UTC)),
        "findings": [finding_row(each) for each in findings[:_FINDINGS]],
        "more_findings": max(len(findings) - _FINDINGS, 0),
        "held": worst_first([held_row(each, findings) for each in held[:_HELD]]),
        "more_held": len(held) > _HELD,
        "refused": [refused_row(json.loads(each.document)) for each in refused],
        "looks": looks,
        "done": done,
        "words": STATES,
    }
    return page(request, "registry.html", values, viewer=viewer)


def looks_at(session: Session, services: Services, namespace: str) -> list[Look]:
    """The last comparison of each registry, with its findings."""
    looks = []
    for name, each in latest_of_each(session.connection(), namespace).items():
        told = json.loads(each.document)
        findings = []
        if told["findings"]:
            findings = json.loads(kept_blob(services.blobs, namespace, each.report))["findings"]
        looks.append(Look(name, each.seen_at, told["complete"], told["observed"], findings))
    return looks
