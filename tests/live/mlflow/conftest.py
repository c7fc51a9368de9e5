"""MLflow servers for all tests of this folder: each takes ten seconds of processor time to start, so it starts once."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final

import pytest
from sqlalchemy import make_url

from tests.live.mlflow.candidates import Candidate, make_candidates
from tests.live.mlflow.driver_process import Driver, driving
from tests.live.mlflow.exhibits import ALIAS, STAGE, Exhibit, digest_of_files, prepare, release
from tests.live.mlflow.holdings import Judge, judging
from tests.live.mlflow.proxy import Proxy, proxying
from tests.live.mlflow.releasing import ReleaseScene
from tests.live.mlflow.servers import Flavour, MlflowServer, start_mlflow
from tests.support.databases import DatabaseUrls
from tests.support.postgres import SERVICE_ROLE, PostgresServer
from tests.support.service import running_service

PLAIN: Final = Flavour("sqlite", "uvicorn", authenticated=False, guarded=False)
GUARDED: Final = (
    Flavour("sqlite", "uvicorn", authenticated=False, guarded=True),
    Flavour("postgresql", "uvicorn", authenticated=True, guarded=True),
    Flavour("postgresql", "gunicorn", authenticated=False, guarded=True, named=True),
    Flavour("sqlite", "gunicorn", authenticated=True, guarded=True),
)
"""Each pair of a database, a server kind and basic-auth on or off occurs in one of them."""


@dataclass(frozen=True, slots=True)
class Registry:
    """A server with its exhibits; what the guard calls it is `name`."""

    server: MlflowServer
    exhibit: Exhibit
    judge: Judge

    @property
    def name(self) -> str:
        return str(self.server.flavour)


@dataclass
class Fleet:
    """Servers that are on their way; the first who asks for one waits for it and has its exhibits made."""

    starting: dict[Flavour, Future[MlflowServer]]
    closing: ExitStack
    ready: dict[Flavour, Registry] = field(default_factory=dict)

    def __getitem__(self, flavour: Flavour) -> Registry:
        if flavour not in self.ready:
            server = self.starting[flavour].result()
            exhibit = prepare(server)
            release(server)
            judge = self.closing.enter_context(judging(server, exhibit))
            self.ready[flavour] = Registry(server, exhibit, judge)
        return self.ready[flavour]


@pytest.fixture(scope="package")
def scene(
    postgres_server: PostgresServer, postgres_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ReleaseScene]:
    """On PostgreSQL, where another process of the service may work beside this one."""
    owner_url = postgres_server.create_database("releases", template=postgres_template)
    urls = DatabaseUrls("postgresql", postgres_server.url(SERVICE_ROLE, "releases"), owner_url)
    with running_service(urls, tmp_path_factory.mktemp("service") / "data") as running:
        scene = ReleaseScene(running)
        scene.publish_gates()
        yield scene


@pytest.fixture(scope="package")
def digests(scene: ReleaseScene, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of the exhibits' files by what becomes of them; what is to be released has passed."""
    folder = tmp_path_factory.mktemp("files")
    found = {kind: digest_of_files(kind, folder) for kind in ("released", "staged", "undecided")}
    for kind, target in (("released", ALIAS), ("staged", STAGE)):
        scene.another(found[kind])
        scene.decide(found[kind], target)
    return found


@pytest.fixture(scope="package")
def proxy(scene: ReleaseScene) -> Iterator[Proxy]:
    port = int(scene.service.url.rpartition(":")[2])
    with proxying(port) as running:
        yield running


@pytest.fixture(scope="package")
def fleet(
    scene: ReleaseScene,
    digests: dict[str, str],
    proxy: Proxy,
    postgres_server: PostgresServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("fleet")

    def database(flavour: Flavour) -> str:
        if flavour.database == "sqlite":
            return f"sqlite:///{folder / flavour.short / 'mlflow.sqlite3'}"
        url = make_url(postgres_server.create_database(f"mlflow_{flavour.kind}"))
        return url.set(drivername="postgresql+psycopg2").render_as_string(hide_password=False)

    def start(flavour: Flavour) -> MlflowServer:
        guard = {
            "SHIPWORTHY_URL": proxy.url,
            "SHIPWORTHY_TOKEN": scene.registry_token,
            "SHIPWORTHY_REGISTRY": str(flavour),
        }
        server = start_mlflow(
            flavour, folder / flavour.short, database(flavour), guard if flavour.guarded else None
        )
        stopping.callback(server.stop)
        server.wait()
        return server

    scene.registry_token  # noqa: B018  # made here, not by two threads at once
    with ExitStack() as stopping, ThreadPoolExecutor(2) as starters:
        starting = {flavour: starters.submit(start, flavour) for flavour in (PLAIN, *GUARDED)}
        try:
            yield Fleet(starting, stopping)
        finally:
            starters.shutdown(cancel_futures=True)


@pytest.fixture(scope="package")
def raced(fleet: Fleet) -> Registry:
    """On PostgreSQL under uvicorn: nothing but the guard makes one move wait for another."""
    return fleet[GUARDED[1]]


@pytest.fixture(scope="package")
def candidates(
    raced: Registry, scene: ReleaseScene, tmp_path_factory: pytest.TempPathFactory
) -> list[Candidate]:
    return make_candidates(raced, scene, lambda: tmp_path_factory.mktemp("candidate"))


@pytest.fixture(scope="package")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    with driving(tmp_path_factory.mktemp("driver")) as running:
        yield running
