"""Routes of calls that any key may make and that take a path and a query: what they are given is read in one pass.

FastAPI solves the dependencies of a route one by one on each request, with everything a dependency might ask for. Here
it is known beforehand that there are two, who calls and that every parameter is known, and that none asks for a body,
a header or a cookie: that was a fifth of what a lineage answer took. The route is described, and refuses, as before.
"""

import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Final, cast

from anyio import to_thread
from fastapi import Depends, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute, APIRouter

from api.dependencies import current_actor, known_parameters_only

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
_DEPENDENCIES: Final = [Depends(current_actor), Depends(known_parameters_only)]


class ReadingRoute(APIRoute):
    """Raises TypeError for an endpoint that asks for more than a path, a query, the request and the actor, or that
    does not return a Response."""

    def get_route_handler(self) -> Handler:
        endpoint, dependant = self.endpoint, self.dependant
        _require_simple(endpoint, dependant)
        fields = [(field, "path") for field in dependant.path_params]
        fields += [(field, "query") for field in dependant.query_params]
        actor_names = [
            each.name for each in dependant.dependencies if each.call is current_actor and each.name
        ]
        request_name = dependant.request_param_name
        is_async = inspect.iscoroutinefunction(endpoint)

        async def handle(request: Request) -> Response:
            # The key is asked first: whoever has none learns nothing of parameters.
            actor = await current_actor(request)
            await known_parameters_only(request)
            values: dict[str, Any] = dict.fromkeys(actor_names, actor)
            if request_name is not None:
                values[request_name] = request
            problems: list[Any] = []
            for field, place in fields:
                given = (request.path_params if place == "path" else request.query_params).get(field.alias)
                if given is not None:
                    values[field.name], refused = field.validate(given, loc=(place, field.alias))
                    problems += refused
                elif field.field_info.is_required():
                    missing = {"type": "missing", "loc": (place, field.alias), "msg": "Field required"}
                    problems.append(missing | {"input": None})
                else:
                    values[field.name] = field.default
            if problems:
                raise RequestValidationError(problems)
            if is_async:
                return cast(Response, await endpoint(**values))
            return cast(Response, await to_thread.run_sync(lambda: endpoint(**values)))

        return handle


def reading_router(tag: str) -> APIRouter:
    """For calls that any key of a namespace may make."""
    return APIRouter(tags=[tag], dependencies=_DEPENDENCIES, route_class=ReadingRoute)


def _require_simple(endpoint: Callable[..., Any], dependant: Dependant) -> None:
    asked = [
        *dependant.header_params,
        *dependant.cookie_params,
        *dependant.body_params,
        dependant.response_param_name,
        dependant.background_tasks_param_name,
        dependant.http_connection_param_name,
        *(each for each in dependant.dependencies if each.call not in (current_actor, known_parameters_only)),
    ]
    returned = inspect.signature(endpoint).return_annotation
    if any(asked) or not (inspect.isclass(returned) and issubclass(returned, Response)):
        raise TypeError(
            f"{endpoint.__qualname__} can't be a ReadingRoute: it asks for more, or returns no Response"
        )
