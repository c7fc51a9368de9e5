"""Errors as HTTP: one table from class to status, RFC 9457 problem documents, and the handlers of the app."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import OperationalError, TimeoutError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from api.error_codes import ERRORS_PAGE
from api.problems import invalid_input, parameter_problems, problems_of, refusal
from api.web.answers import error_page, wants_page
from api.web.viewers import find_viewer
from models import errors
from models.errors import FieldProblem, ShipworthyError
from models.file_limit import at_file_limit

__all__ = ["STATUS", "install", "invalid_input", "problem_response", "problems_of", "respond"]

STATUS: Final[Mapping[type[ShipworthyError], int]] = {
    ShipworthyError: 500,
    errors.InvalidJson: 400,
    errors.InvalidInput: 422,
    errors.RecordTooLarge: 413,
    errors.BodyTooLarge: 413,
    errors.UnsupportedEncoding: 415,
    errors.RequestTimeout: 408,
    errors.TokenMissing: 401,
    errors.TokenInvalid: 401,
    errors.RoleMissing: 403,
    errors.NotFound: 404,
    errors.RunNotFound: 404,
    errors.Conflict: 409,
    errors.IdempotencyKeyReused: 409,
    errors.RunConflict: 409,
    errors.ModelVersionTaken: 409,
    errors.ContractMoved: 409,
    errors.GateMoved: 409,
    errors.SloMoved: 409,
    errors.TargetTaken: 409,
    errors.GateClosed: 409,
    errors.DecisionMoved: 409,
    errors.GrantVoid: 409,
    errors.AttemptEnded: 409,
    errors.AttemptNotClosed: 409,
    errors.WorkLeaseLost: 409,
    errors.WorkEnded: 409,
    errors.SeparationOfDuties: 403,
    errors.BlobDigestMismatch: 422,
    errors.TooManyWaits: 429,
    errors.Unavailable: 503,
    errors.WriteFailed: 500,
    errors.LedgerDamaged: 500,
    errors.StartRefused: 500,
}

# What the framework and the routes answer without an error class. Python's own status phrases
# would not do: they changed in 3.13.
_HTTP_CODES: Final[Mapping[int, str]] = {
    404: errors.NotFound.code,
    405: "method_not_allowed",
    413: errors.BodyTooLarge.code,
    416: "range_not_satisfiable",
}

_HEADERS: Final[Mapping[int, Mapping[str, str]]] = {
    401: {"WWW-Authenticate": "Bearer"},
    429: {"Retry-After": "2"},  # seconds
    503: {"Retry-After": "1"},
}

_log: structlog.typing.FilteringBoundLogger = structlog.get_logger("api.errors")


@dataclass(frozen=True, slots=True)
class _Problem:
    """What is told of an error, as a document to programs and as a page to persons."""

    status: int
    code: str
    detail: str
    request_id: str
    problems: tuple[FieldProblem, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    def document(self) -> Response:
        """`type` is an absolute path, as RFC 9457 section 3.1.1 advises where the host is not known: the service
        runs under names of its owners', and the page at that path explains the code. Programs compare `code`. The
        title is made from the code, so that it never changes between occurrences."""
        content = {
            "type": f"{ERRORS_PAGE}#{self.code}",
            "title": self.code.replace("_", " ").capitalize(),
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "request_id": self.request_id,
            "errors": [{"field": each.field, "message": each.message} for each in self.problems],
        }
        return JSONResponse(
            content,
            status_code=self.status,
            headers={**_HEADERS.get(self.status, {}), **self.headers},
            media_type="application/problem+json",
        )


def problem_response(error: ShipworthyError, request_id: str) -> Response:
    """The problem document of an error below api/."""
    return _problem(error, request_id).document()


def plain_problem(status: int, code: str, detail: str, request_id: str) -> Response:
    """The problem document of what no error class stands for."""
    return _Problem(status, code, detail, request_id).document()


def respond(error: Exception, request: Request) -> Response:
    """The answer to any exception that left a route: a problem document, or a page when a page was asked for.
    What nobody foresaw is logged in full and answered with the request id alone: an exception's text may hold
    rows, addresses or secrets."""
    problem = _foreseen(error, request, request.scope.get("state", {}).get("request_id", "none"))
    if wants_page(request):
        return error_page(request, problem.status, problem.detail, problem.request_id, problem.headers)
    return problem.document()


def _foreseen(error: Exception, request: Request, request_id: str) -> _Problem:
    match error:
        case errors.LedgerDamaged():
            _log.error("ledger damaged", request_id=request_id, detail=error.detail)
            return _problem(error, request_id)
        case ShipworthyError() if STATUS[type(error)] != HTTPStatus.INTERNAL_SERVER_ERROR:
            if isinstance(error, errors.Unavailable) and error.__cause__ is not None:
                _log.warning("unavailable", request_id=request_id, reason=str(error.__cause__)[:500])
            return _problem(error, request_id)
        case RequestValidationError():
            return _problem(_refused_parameters(error), request_id)
        case HTTPException():
            return _http_problem(error, request, request_id)
        case OperationalError() | TimeoutError():
            cause = getattr(error, "orig", None) or error
            _log.error("database unavailable", request_id=request_id, reason=str(cause)[:500])
            unavailable = errors.Unavailable("The database does not answer; nothing was stored, try again.")
            return _problem(unavailable, request_id)
        case OSError() if (full := at_file_limit(error)) is not None:
            _log.error("too many open files", request_id=request_id, reason=str(error)[:500])
            return _problem(full, request_id)
        case _:
            _log.error("unexpected error", request_id=request_id, exc_info=error)
            detail = (
                f"The service failed in a way it did not foresee; report the request id {request_id}, "
                "under which its log holds the cause."
            )
            code = error.code if isinstance(error, ShipworthyError) else ShipworthyError.code
            return _Problem(500, code, detail, request_id)


def install(app: FastAPI) -> None:
    """Answer every exception of the app's routes with a problem document, or with a page where pages are."""

    # async: Starlette runs a plain function as a handler in a thread of the pool, which may be exhausted.
    async def handler(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException) and wants_page(request):
            await find_viewer(request)
        return respond(error, request)

    for kind in (
        ShipworthyError,
        RequestValidationError,
        HTTPException,
        OperationalError,
        TimeoutError,
        Exception,
    ):
        app.add_exception_handler(kind, handler)


def _problem(error: ShipworthyError, request_id: str) -> _Problem:
    return _Problem(STATUS[type(error)], error.code, error.detail, request_id, error.problems)


def _refused_parameters(error: RequestValidationError) -> ShipworthyError:
    details = error.errors()
    if any(detail["type"] == "json_invalid" for detail in details):
        return errors.InvalidJson("The body is not JSON; check its quotes, commas and brackets.")
    return refusal(parameter_problems(details), len(details))


def _http_problem(error: HTTPException, request: Request, request_id: str) -> _Problem:
    """What the framework itself answers: no such path, no such method, a form that can't be parsed."""
    status, headers, detail = error.status_code, error.headers or {}, error.detail
    if status == HTTPStatus.NOT_FOUND:
        detail = (
            "No page has this address. The menu leads to every page; the search box finds ids, digests and names."
            if wants_page(request)
            else "No endpoint has this path; /openapi.json lists them all."
        )
    elif status == HTTPStatus.METHOD_NOT_ALLOWED:
        headers = {**headers, "Allow": _methods(request)}
        detail = f"This path does not take {request.method[:16]}; it takes {headers['Allow']}."
    return _Problem(status, _HTTP_CODES.get(status, "bad_request"), detail, request_id, headers=headers)


def _methods(request: Request) -> str:
    """All that the path takes: a route knows only its own, and reading has other routes than recording."""
    found: set[str] = set()
    for route in request.app.routes:
        match, _ = route.matches(dict(request.scope))
        if match is not Match.NONE:
            found |= route.methods
    return ", ".join(sorted(found))
