"""Answers that are pages: rendered, never stored by a cache, and errors in the same clothes."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from api.services import services_of
from api.web import links
from api.web.templating import render
from api.web.viewers import Viewer

SEE_OTHER: Final = 303
_SERVICE_PATHS: Final = ("/v1", "/healthz", "/readyz", "/metrics", "/openapi.json", "/static")
_VERDICTS: Final[Mapping[int, str]] = {
    400: "The request can’t be read.",
    401: "You are not signed in.",
    403: "This was refused.",
    404: "There is nothing here by that name.",
    405: "This address does not take that.",
    413: "That was too much at once.",
    422: "The address asks for something that can’t be answered.",
    429: "Too many tries.",
    503: "The service can’t answer now.",
}
_FAILED: Final = "The service failed in a way it did not foresee."


def page(
    request: Request,
    template: str,
    values: Mapping[str, object],
    status: int = 200,
    viewer: Viewer | None = None,
) -> Response:
    """`template` rendered with its `values` and what every page has."""
    shown = {
        "viewer": viewer,
        "address": address_of(request),
        "persons": {} if viewer is None else _persons(request, viewer),
        "path": request.url.path,
        "query": "",
        "refresh_to": None,
        **values,
    }
    return HTMLResponse(render(template, shown), status, headers={"Cache-Control": "no-store"})


def _persons(request: Request, viewer: Viewer) -> dict[str, str]:
    """The pseudonyms that a page tells in a word."""
    local = services_of(request).authenticator.local_person
    known = {} if viewer.actor.owner is None else {viewer.actor.owner: "you"}
    return known | {local: "local"}


def address_of(request: Request) -> str:
    """Where the viewer reached the service: what commands on pages take as SHIPWORTHY_URL."""
    return str(request.base_url).rstrip("/")


def wants_page(request: Request) -> bool:
    """Whether an error is told to a person: under a page's address, to who takes HTML."""
    path = request.url.path
    if any(path == service or path.startswith(f"{service}/") for service in _SERVICE_PATHS):
        return False
    return "text/html" in request.headers.get("accept", "")


def error_page(
    request: Request, status: int, detail: str, request_id: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Who isn't signed in is sent to the form and comes back after it; a poll of a page is told instead."""
    if (
        status == HTTPStatus.UNAUTHORIZED
        and request.method == "GET"
        and "hx-request" not in request.headers
        # In open mode the form would lead straight back: it has nobody to sign in.
        and not services_of(request).authenticator.is_open
    ):
        return _sign_in_redirect(request)
    viewer: Viewer | None = getattr(request.state, "viewer", None)
    values = {
        "status": status,
        "verdict": _VERDICTS.get(status, _FAILED if status >= 500 else _VERDICTS[400]),
        "detail": detail,
        "request_id": request_id,
    }
    answer = page(request, "error.html", values, status, viewer)
    answer.headers.update(headers or {})
    return answer


def _sign_in_redirect(request: Request) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(
        links.sign_in(request.url.path + query), SEE_OTHER, headers={"Cache-Control": "no-store"}
    )
