"""The reconciler: a thread of the worker that compares a registry with what the service recorded, again and again.

It takes no work and holds none back: whatever becomes of MLflow or of a pass, slots go on.
"""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any, Final

import structlog

from api.workers.answers import Refused, ServiceAway
from api.workers.client import ServiceClient
from api.workers.lease import Stopping
from api.workers.reconciling_artifacts import ArtifactDigests
from api.workers.reconciling_registry import as_body, observe, registry_name
from api.workers.settings import WorkerSettings
from shipworthy.formats.times import format_instant
from shipworthy.mlflow.protections import Protections, parse_protections
from shipworthy.registries.mlflow_models import DEFAULT_WORKSPACE, workspaces
from shipworthy.registries.mlflow_server import MlflowError, MlflowServer

COMPARE_SECONDS: Final = 120.0
"""The service evaluates the gates of up to 5,000 versions for one answer."""

AGAIN_SECONDS: Final = 3
"""What is found for the first time is looked at again so soon: a name that was moved while this one looked is found as
it was before."""
_TELLING: Final = ("registry", "kind", "model", "target", "version", "artifact")

log = structlog.get_logger()


class RegistryClient(ServiceClient):
    """The two calls of the reconciler."""

    def protections(self) -> Protections:
        answer = self._exchange("GET", "/v1/protections", b"", "application/json", COMPARE_SECONDS)
        try:
            return parse_protections(answer)
        except ValueError as error:
            raise ServiceAway(f"the service's list of what is protected can't be read: {error}") from None

    def reconcile(self, body: dict[str, Any]) -> frozenset[tuple[str, ...]]:
        """The findings, by what tells them apart."""
        answer = self._post("/v1/reconciliations", body, COMPARE_SECONDS)
        if not isinstance(answer, dict) or not isinstance(answer.get("findings"), list):
            raise ServiceAway("the service's answer to a reconciliation has no findings")
        return frozenset(tuple(str(each.get(name)) for name in _TELLING) for each in answer["findings"])


class _Stopped(Exception):
    """The worker is to end in the middle of a pass."""


class Reconciler(threading.Thread):
    """One pass, a pause of `reconcile_seconds`, the next. `authorization` is what MLflow is shown, None nothing."""

    def __init__(
        self, settings: WorkerSettings, token: str, authorization: str | None, stopping: Stopping
    ) -> None:
        super().__init__(name="reconciler", daemon=True)
        self._settings = settings
        self._token = token
        self._authorization = authorization
        self._stopping = stopping
        self._digests = ArtifactDigests()
        self._told: dict[str, tuple[str, dict[str, object]]] = {}
        self._findings: frozenset[tuple[str, ...]] = frozenset()

    def run(self) -> None:
        while not self._stopping.is_asked():
            pause = self._settings.reconcile_seconds
            try:
                findings = self._pass()
                if findings - self._findings:
                    pause = min(pause, AGAIN_SECONDS)
                self._findings = findings
            except _Stopped:
                return
            except ServiceAway as error:
                self._tell("registry_not_reconciled", "", reason=str(error))
            except Refused as error:
                self._tell("registry_not_reconciled", "", reason=f"the service refused it: {error}")
            except Exception:  # the border of the thread: the next pass may find nothing wrong
                log.exception("registry_not_reconciled")
            self._stopping.wait(pause)

    def _pass(self) -> frozenset[tuple[str, ...]]:
        findings: set[tuple[str, ...]] = set()
        with closing(RegistryClient(self._settings.url, self._token)) as service:
            with self._server(DEFAULT_WORKSPACE) as server:
                found = workspaces(server)
            for workspace in found:
                name = registry_name(self._settings.registry, workspace)
                try:
                    findings |= self._reconcile(service, workspace, name)
                except MlflowError as error:
                    self._tell("registry_away", name, reason=str(error))
        self._digests.end_pass()
        return frozenset(findings)

    def _reconcile(self, service: RegistryClient, workspace: str, name: str) -> frozenset[tuple[str, ...]]:
        begun = datetime.now(UTC)
        # Asked anew for each: what was published meanwhile is looked at already.
        protections = service.protections()
        with self._server(workspace) as server:
            observed, complete = observe(server, protections, self._digests, self._go_on)
        body = {
            "registry": name,
            "started_at": format_instant(begun),
            "finished_at": format_instant(datetime.now(UTC)),
            "observed": as_body(observed),
            "complete": complete,
        }
        findings = service.reconcile(body)
        told = {"observed": len(observed), "complete": complete, "findings": len(findings)}
        self._tell("registry_reconciled", name, **told)
        return findings

    @contextmanager
    def _server(self, workspace: str) -> Iterator[MlflowServer]:
        named = None if workspace == DEFAULT_WORKSPACE else workspace
        with MlflowServer(self._settings.mlflow_uri, self._authorization, workspace=named) as server:
            yield server

    def _go_on(self) -> None:
        if self._stopping.is_asked():
            raise _Stopped

    def _tell(self, event: str, registry: str, **values: object) -> None:
        """Once, until it is different: the same line every minute would bury the others."""
        if self._told.get(registry) != (event, values):
            self._told[registry] = (event, values)
            log.info(event, registry=registry, **values)
