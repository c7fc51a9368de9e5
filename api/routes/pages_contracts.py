"""Contracts as pages: what must be true of data, and which rules nobody checks."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from api.pages import Scope, decode_position, encode_cursor
from api.services import Services, services_of
from api.web import links
from api.web.answers import page
from api.web.contract_view import contract_evidence, contract_verdict, table_views
from api.web.verdicts import Verdict
from api.web.viewers import CurrentViewer
from api.web.words import OUTCOMES, Word, plural
from models.contracts.queries import get_contract, get_contract_version, list_contracts

router = APIRouter(include_in_schema=False)

PAGE_ROWS: Final = 50


@dataclass(frozen=True, slots=True)
class ContractRow:
    name: str
    version: int
    checks: int
    not_evaluated: int


@router.get("/contracts")
def show_contracts(
    request: Request, viewer: CurrentViewer, after: Annotated[str | None, Query()] = None
) -> Response:
    """Contracts whose rules are not all evaluated first, the last published before older ones."""
    scope: Scope = ["page of contracts", viewer.actor.namespace]
    position = decode_position(scope, after)
    with services_of(request).database.read() as session:
        found = list_contracts(session, viewer.actor.namespace, position, PAGE_ROWS + 1)
    shown = found[:PAGE_ROWS]
    rows = sorted((_row(json.loads(each.document)) for each in shown), key=lambda row: not row.not_evaluated)
    more = encode_cursor(scope, (shown[-1].position,)) if len(found) > PAGE_ROWS else None
    values = {
        "verdict": _verdict(rows, more is not None or position is not None),
        "rows": rows,
        "next_page": links.contracts(after=more) if more else None,
    }
    return page(request, "contracts.html", values, viewer=viewer)


@router.get("/contracts/{name}")
def show_current_version(
    name: Annotated[str, Path(max_length=128)], request: Request, viewer: CurrentViewer
) -> Response:
    return _version_page(name, None, request, viewer)


@router.get("/contracts/{name}/versions/{version}")
def show_version(
    name: Annotated[str, Path(max_length=128)],
    version: Annotated[int, Path(ge=1, le=1_000_000)],
    request: Request,
    viewer: CurrentViewer,
) -> Response:
    return _version_page(name, version, request, viewer)


def _version_page(name: str, version: int | None, request: Request, viewer: CurrentViewer) -> Response:
    services, namespace = services_of(request), viewer.actor.namespace
    with services.database.read() as session:
        current = get_contract(session, namespace, name)
        published = get_contract_version(session, namespace, name, version)
    document: Mapping[str, Any] = json.loads(published.document)
    tables = table_views(_suite(services, namespace, published.suite_digest))
    values = {
        "contract": document,
        "verdict": contract_verdict(published.version, current.version, tables),
        "tables": tables,
        "evidence": contract_evidence(document),
        "words": OUTCOMES,
    }
    return page(request, "contract_version.html", values, viewer=viewer)


def _suite(services: Services, namespace: str, digest: str) -> Mapping[str, Any]:
    _, chunks = services.blobs.read(namespace, digest)
    suite: Mapping[str, Any] = json.loads(b"".join(chunks))
    return suite


def _row(document: Mapping[str, Any]) -> ContractRow:
    tables = document["objects"]
    return ContractRow(
        name=document["name"],
        version=document["version"],
        checks=sum(table["checks"] for table in tables),
        not_evaluated=sum(table["not_evaluated"] for table in tables),
    )


def _verdict(rows: list[ContractRow], has_more: bool) -> Verdict:
    if not rows:
        word = Word("none", "None", "open")
        return Verdict(word, "No contract says what data must be.", "Publish one; then data can be checked.")
    listed = f"{len(rows):,} contracts on this page" if has_more else plural(len(rows), "contract")
    partly = sum(row.not_evaluated > 0 for row in rows)
    if partly:
        sentence = f"{partly:,} of {listed} {'has' if partly == 1 else 'have'} rules that are not evaluated."
        return Verdict(OUTCOMES["not_evaluated"], sentence, "Open it to read which rules, and why.")
    return Verdict(OUTCOMES["passed"], f"{listed}: every rule is checked.", "Nothing to do.")
