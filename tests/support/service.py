"""The whole service as users have it: over a database, behind a real socket, with keys for any role."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import Final

import httpx

from api.app import create_app
from api.services import Services, opened_services
from api.settings import Settings
from models.keys.administration import create_key
from tests.api.socket_server import serving
from tests.support.databases import DatabaseUrls

NO_CERTIFICATES: Final = SSLContext(PROTOCOL_TLS_CLIENT)
"""For `verify=`: each client without it reads 140 certificate authorities, 25 ms for what speaks plain HTTP."""


@dataclass(frozen=True, slots=True)
class RunningService:
    """`services` are the very objects that the running application uses."""

    services: Services
    url: str
    closing: ExitStack

    def client(self, *roles: str, namespace: str = "team-a", owner: str | None = None) -> httpx.Client:
        """A client with a new key of these roles (reader when none is named), closed with the service."""
        if owner is None and "approver" in roles:
            owner = "approver@example.org"
        created = create_key(
            self.services.ledger,
            self.services.ring,
            namespace=namespace,
            roles=roles or ("reader",),
            owner=owner,
        )
        headers = {"Authorization": f"Bearer {created.token}"}
        client = httpx.Client(base_url=self.url, headers=headers, timeout=30, verify=NO_CERTIFICATES)
        return self.closing.enter_context(client)


@contextmanager
def running_service(urls: DatabaseUrls, folder: Path, *, open_mode: bool = False) -> Iterator[RunningService]:
    """Serves until the block ends; `folder` takes keys, blobs and the log head."""
    settings = Settings(
        data=folder,
        database_url=urls.service_url,
        migration_url=urls.migration_url if urls.dialect == "postgresql" else None,
        migrate=not urls.is_migrated,
    )
    with (
        opened_services(settings, open_mode=open_mode) as services,
        serving(create_app(services)) as port,
        ExitStack() as closing,
    ):
        yield RunningService(services, f"http://127.0.0.1:{port}", closing)
