"""Signing in with a key, and out."""

import os
from typing import Final
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from api.services import services_of
from api.web.answers import SEE_OTHER, page
from api.web.cookies import FORM, SESSION, read_cookie, remove_cookie, set_cookie
from api.web.forms import CheckedForm, Form, require_token
from api.web.sign_in_tries import SignInTries
from api.web.viewers import CurrentViewer
from models.errors import TokenInvalid
from models.keys.sessions import SESSION_HOURS

router = APIRouter(include_in_schema=False)

_INVALID: Final = (
    "This key is malformed, unknown, expired or revoked. Check that it was copied whole, or have a new one "
    "made."
)
_MAX_ADDRESS: Final = 2048


@router.get("/login")
async def show_sign_in(request: Request, next: str = "/") -> Response:
    """In open mode nobody signs in."""
    next = _own_address(next)
    if services_of(request).authenticator.is_open:
        return _go(next)
    comes_from_elsewhere = request.headers.get("sec-fetch-site") == "cross-site"
    return _form(request, next, refresh_to=next if comes_from_elsewhere else None)


@router.post("/login")
async def sign_in(request: Request, fields: Form) -> Response:
    authenticator = services_of(request).authenticator
    next = _own_address(fields.get("next", "/"))
    if authenticator.is_open:
        return _go(next)
    nonce = read_cookie(request, FORM)
    require_token(fields, authenticator.sealer.form_token(nonce or os.urandom(16).hex()))
    tries: SignInTries = request.app.state.sign_in_tries
    address = request.client.host if request.client else ""
    wait = tries.seconds_to_wait(address)
    if wait:
        problem = f"Too many tries with keys that are not valid. Wait {wait} seconds, then try again."
        answer = _form(request, next, 429, problem)
        answer.headers["Retry-After"] = str(wait)
        return answer
    try:
        session = await authenticator.sign_in(fields.get("key", "").strip())
    except TokenInvalid:
        tries.failed(address)
        return _form(request, next, 401, _INVALID)
    answer = _go(next)
    set_cookie(request, answer, SESSION, authenticator.sealer.seal(session))
    remove_cookie(request, answer, FORM)
    return answer


@router.post("/logout")
async def sign_out(request: Request, viewer: CurrentViewer, fields: CheckedForm) -> Response:
    if viewer.session is not None:
        await run_in_threadpool(services_of(request).authenticator.sign_out, viewer.session)
    answer = _go("/login")
    remove_cookie(request, answer, SESSION)
    return answer


def _form(
    request: Request,
    next: str,
    status: int = 200,
    problem: str | None = None,
    refresh_to: str | None = None,
) -> Response:
    """The form; its token is tied to a cookie that only this browser has."""
    sealer = services_of(request).authenticator.sealer
    nonce = read_cookie(request, FORM) or os.urandom(16).hex()
    values = {
        "next": next,
        "problem": problem,
        "refresh_to": refresh_to,
        "form_token": sealer.form_token(nonce),
        "hours": SESSION_HOURS,
    }
    answer = page(request, "login.html", values, status)
    set_cookie(request, answer, FORM, nonce)
    return answer


def _own_address(text: str) -> str:
    """An address of this service to go on to; the overview when it is none, so that nobody is led elsewhere."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return "/"
    is_ours = not parts.scheme and not parts.netloc and text.startswith("/") and not text.startswith("//")
    is_plain = text.isascii() and text.isprintable() and not set("\\ ;") & set(text)
    return text if is_ours and is_plain and len(text) <= _MAX_ADDRESS else "/"


def _go(address: str) -> Response:
    return RedirectResponse(address, SEE_OTHER, headers={"Cache-Control": "no-store"})
