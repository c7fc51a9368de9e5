"""Which service a command asks."""

from typing import Annotated, Final

import typer

from shipworthy.errors import UsageError
from shipworthy.query.client import ShipworthyClient
from shipworthy.settings import read_settings

Url = Annotated[str | None, typer.Option(help="Address of the service; SHIPWORTHY_URL otherwise.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]

NO_SERVICE: Final = "no service is named; set SHIPWORTHY_URL to its address, or give --url"


def ask(url: str | None) -> ShipworthyClient:
    """A client for the service of --url or the environment. Raises UsageError when neither names one."""
    settings = read_settings(url)
    if settings.url is None:
        raise UsageError(NO_SERVICE)
    return ShipworthyClient(settings.url, settings.token)
