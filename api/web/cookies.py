"""The two cookies of the pages: the session after sign-in, and what ties the sign-in form to its browser before.

HttpOnly, SameSite=Strict, and over https with the prefix `__Host-`: no script reads them, no other site makes the
browser send them, no neighbouring host name sets them.
"""

from typing import Final

from starlette.requests import HTTPConnection
from starlette.responses import Response

from models.keys.sessions import SESSION_HOURS

SESSION: Final = "shipworthy-session"
FORM: Final = "shipworthy-form"


def read_cookie(request: HTTPConnection, name: str) -> str | None:
    return request.cookies.get(_full_name(request, name))


def set_cookie(request: HTTPConnection, response: Response, name: str, value: str) -> None:
    response.set_cookie(
        _full_name(request, name),
        value,
        max_age=SESSION_HOURS * 3600,
        path="/",
        secure=_is_https(request),
        httponly=True,
        samesite="strict",
    )


def remove_cookie(request: HTTPConnection, response: Response, name: str) -> None:
    response.delete_cookie(
        _full_name(request, name), path="/", secure=_is_https(request), httponly=True, samesite="strict"
    )


def _full_name(request: HTTPConnection, name: str) -> str:
    return f"__Host-{name}" if _is_https(request) else name


def _is_https(request: HTTPConnection) -> bool:
    """As the browser sees it: uvicorn takes X-Forwarded-Proto from a proxy on this machine."""
    return request.url.scheme == "https"
