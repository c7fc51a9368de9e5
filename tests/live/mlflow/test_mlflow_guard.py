"""Real MLflow servers: what gets past one without a guard does not get past one that has it."""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from tests.live.mlflow.attempts.attempt import Attempt
from tests.live.mlflow.attempts.generated import Route, arguments_of, attempts_by_route, intents, routes_of
from tests.live.mlflow.attempts.names import NAMES
from tests.live.mlflow.attempts.releases import RELEASES
from tests.live.mlflow.conftest import GUARDED, PLAIN, Fleet, Registry
from tests.live.mlflow.driver_process import Driver
from tests.live.mlflow.exhibits import Exhibit
from tests.live.mlflow.holdings import safe
from tests.live.mlflow.proxy import Proxy
from tests.live.mlflow.releasing import ReleaseScene
from tests.live.mlflow.servers import ADMINISTRATOR, Flavour, MlflowServer

NAMED: Final = (*NAMES, *RELEASES)
KNOWN_ROUTES: Final = Path(__file__).with_name("known_routes.txt")
EVERYTHING: Final = GUARDED[0]
"""The server that gets attempts by all routes. One on the other database and of the other kind gets those by routes
that could touch a release, each by one of its two paths."""
GUARDED_METHODS: Final = {
    "set_registered_model_alias",
    "set_prompt_alias",
    "delete_registered_model_alias",
    "transition_model_version_stage",
    "create_model_version",
    "copy_model_version",
    "delete_model_version",
    "delete_registered_model",
    "rename_registered_model",
}
"""What does harm when nothing stands before it."""
REAL_BY_ROUTE: Final = 30
"""How many attempts made from routes get through a plain server, at least."""


def successes(registry: Registry, attempts: Iterable[Attempt]) -> dict[str, list[str]]:
    """What each attempt that got through did, on top of what was done before; it stays done."""
    found: dict[str, list[str]] = {}
    done = set(registry.judge.harm())
    for attempt in attempts:
        attempt.act(registry.server, registry.exhibit)
        harm = registry.judge.harm()
        if set(harm) - done:
            found[attempt.name] = harm
            done.update(harm)
    return found


def real_ones(registry: Registry, attempts: Sequence[Attempt]) -> set[str]:
    """The names of attempts that get through a plain server, each on a registry as it was at first."""
    kept = safe(registry.judge)
    found = set()
    for attempt in attempts:
        if successes(registry, [attempt]):
            found.add(attempt.name)
            kept.put_back()
            assert registry.judge.harm() == []
    return found


def test_attempts_get_through_a_server_without_the_guard(fleet: Fleet) -> None:
    assert real_ones(fleet[PLAIN], NAMED) == {attempt.name for attempt in NAMED if attempt.real}


@pytest.mark.parametrize("flavour", GUARDED, ids=str)
def test_no_attempt_gets_through(fleet: Fleet, flavour: Flavour) -> None:
    assert successes(fleet[flavour], NAMED) == {}


def _touches_by_api(route: Route) -> bool:
    return route.touches_releases and not route.path.startswith("/ajax-api")


@pytest.fixture(scope="module")
def routes(driver: Driver) -> list[Route]:
    return routes_of(driver.ask("routes"))


def test_mlflow_has_the_routes_that_were_looked_at(routes: list[Route]) -> None:
    """A new one is to be read: can it move, delete or overwrite a release past the store and the repositories?"""
    found = {f"{route.method} {route.path}{' (ASGI)' if route.is_asgi else ''}" for route in routes}
    assert found == set(KNOWN_ROUTES.read_text().splitlines())


def test_attempts_made_from_routes_get_through_a_server_without_the_guard(
    fleet: Fleet, routes: list[Route]
) -> None:
    plain = fleet[PLAIN]
    touching = [route for route in routes if _touches_by_api(route)]
    found = real_ones(plain, list(attempts_by_route(touching, plain.exhibit)))
    assert len(found) >= REAL_BY_ROUTE, sorted(found)


@pytest.mark.parametrize("flavour", [EVERYTHING, GUARDED[2]], ids=str)
def test_no_attempt_made_from_a_route_gets_through(
    fleet: Fleet, flavour: Flavour, routes: list[Route]
) -> None:
    registry = fleet[flavour]
    tried = [route for route in routes if flavour == EVERYTHING or _touches_by_api(route)]
    assert successes(registry, attempts_by_route(tried, registry.exhibit)) == {}


def _call_the_store(
    server: MlflowServer, exhibit: Exhibit, driver: Driver, asked: Mapping[str, object]
) -> object:
    return driver.ask("call", **asked)


def calls_of_the_store(
    driver: Driver, registry: Registry, environment: Mapping[str, str]
) -> Iterator[Attempt]:
    """Every public method of the registry store, called by a program beside the server."""
    scheme = "shipworthy+" if registry.server.flavour.guarded else ""
    methods = driver.ask("methods")
    first = ["create_registered_model", "create_model_version"]
    for method in [*first, *sorted(methods.keys() - first, key=lambda name: ("delete" in name, name))]:
        for intent, values in intents(registry.exhibit).items():
            asked = {
                "uri": scheme + registry.server.database_url,
                "method": method,
                "arguments": arguments_of(methods[method], values),
                "environment": dict(environment),
            }
            yield Attempt(f"{method}: {intent}", partial(_call_the_store, driver=driver, asked=asked))


def test_no_method_of_the_store_gets_through(
    fleet: Fleet, driver: Driver, proxy: Proxy, scene: ReleaseScene
) -> None:
    """A parameter that nothing here knows to fill is a KeyError: a new method has to be looked at."""
    plain, guarded = fleet[PLAIN], fleet[EVERYTHING]
    guard = {
        "SHIPWORTHY_URL": proxy.url,
        "SHIPWORTHY_TOKEN": scene.registry_token,
        "SHIPWORTHY_REGISTRY": guarded.name,
    }
    found = real_ones(plain, list(calls_of_the_store(driver, plain, {})))
    assert {name.partition(":")[0] for name in found} >= GUARDED_METHODS
    assert successes(guarded, calls_of_the_store(driver, guarded, guard)) == {}


def test_ordinary_calls_are_answered_as_before(fleet: Fleet, driver: Driver) -> None:
    """Also where nothing is the same but MLflow: the other database, the other kind of server."""
    plain, guarded = (
        driver.ask("ordinary", uri=fleet[flavour].server.url, user=ADMINISTRATOR, mark=secrets.token_hex(4))
        for flavour in (PLAIN, GUARDED[2])
    )
    assert len(plain) > 80
    assert guarded == plain
