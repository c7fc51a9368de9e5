"""What routes ask of a request before they run: who calls, and that they know every query parameter."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, cast

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from api.services import services_of
from models.actor import Actor
from models.errors import FieldProblem, InvalidInput

_KNOWN: Final[dict[Callable[..., Any], frozenset[str]]] = {}


async def current_actor(request: Request) -> Actor:
    """The caller; raises TokenMissing, TokenInvalid or Unavailable."""
    return await services_of(request).authenticator.actor(request)


async def known_parameters_only(request: Request) -> None:
    """Refuses a query parameter that the route doesn't have or that is given twice: a misspelled filter would
    otherwise answer with everything."""
    known = _known_parameters(cast(APIRoute, request.scope["route"]))
    if known.issuperset(request.query_params) and len(request.query_params) == len(
        request.query_params.multi_items()
    ):
        return
    listed = f"this call takes {', '.join(sorted(known))}" if known else "this call takes none"
    problems = [
        FieldProblem(f"/query/{name[:64]}", f"is not a parameter here; {listed}")
        for name in request.query_params
        if name not in known
    ]
    problems += [
        FieldProblem(f"/query/{name}", "is given more than once; give it once")
        for name in sorted(known)
        if len(request.query_params.getlist(name)) > 1
    ]
    raise InvalidInput(f"{problems[0].field} {problems[0].message}", problems=problems[:20])


def _known_parameters(route: APIRoute) -> frozenset[str]:
    # Routes have no hash; an endpoint has the same parameters at each of its paths.
    known = _KNOWN.get(route.endpoint)
    if known is None:
        known = _KNOWN[route.endpoint] = frozenset(_query_names(route.dependant))
    return known


def _query_names(dependant: Dependant) -> Iterator[str]:
    yield from (parameter.alias for parameter in dependant.query_params)
    for below in dependant.dependencies:
        yield from _query_names(below)


CurrentActor = Annotated[Actor, Depends(current_actor)]
