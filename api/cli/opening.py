"""How commands open the service's data, and how they say what went wrong."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from api.cli.progress import tell
from api.cli.troubles import database_trouble, file_trouble
from api.services import Services, opened_services
from api.settings import DEFAULT_DATA, Settings, read_settings
from models.errors import ShipworthyError, Unavailable
from models.keys.key_files import key_folder

DataOption = Annotated[
    Path,
    typer.Option(
        "--data",
        envvar="SHIPWORTHY_DATA",
        readable=False,  # Checked when it is used, which is told with what to do.
        help="Folder of database, blobs, keys and log head.",
    ),
]
DATA_DEFAULT = DEFAULT_DATA


def settings_from(data: Path) -> Settings:
    return read_settings(data)


@contextmanager
def opened_ledger(data: Path) -> Iterator[Services]:
    """The service's parts without HTTP; also while a server runs on the same data.

    Ends the command with exit code 1 and a sentence when something is refused.
    """
    with told_plainly(data), opened_services(read_settings(data)) as services:
        for concern in services.ledger.concerns:
            tell(concern.detail)
        yield services


@contextmanager
def existing_ledger(data: Path) -> Iterator[Services]:
    """The same, of a deployment that was begun: a folder that was misspelt must not become a new one."""
    with told_plainly(data):
        if not key_folder(data).is_dir():
            fail(no_deployment(data))
    with opened_ledger(data) as services:
        yield services


def no_deployment(data: Path) -> str:
    return (
        f"there is no deployment in {data} yet; start it once with: shipworthy-server serve --data "
        f"{shlex.quote(str(data))}, or name another folder with --data"
    )


@contextmanager
def told_plainly(data: Path | None = None) -> Iterator[None]:
    """Errors that a person can act on are sentences, not tracebacks. `data` is the folder that the command was given,
    for those that are about its files."""
    try:
        yield
    except Unavailable as error:
        fail(*database_trouble(error))
    except OSError as error:
        if error.filename is None:
            raise
        fail(file_trouble(error, data))
    except ShipworthyError as error:
        fail(
            error.detail,
            *(f"{each.field}: {each.message}" for each in error.problems if each.message != error.detail),
        )


def fail(*sentences: str) -> NoReturn:
    for sentence in sentences:
        print(f"shipworthy-server: {sentence}", file=sys.stderr)  # noqa: T201 - a command speaks to a person
    raise typer.Exit(1)
