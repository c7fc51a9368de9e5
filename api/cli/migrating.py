"""Migrations before the service starts, in a process of their own where that costs nothing."""

import multiprocessing
import signal
import sys
from dataclasses import replace

import structlog
import typer

from api.cli.opening import fail, told_plainly
from api.services import migrate
from api.settings import Settings

log = structlog.get_logger()


def migrate_apart(settings: Settings) -> Settings:
    """Brings the schema up to date; the settings given back don't ask for it again. Before the first thread starts.

    In a fork, so that what Alembic imports does not stay with a service that runs for months: 7 MiB. Elsewhere than
    on Linux forking is not safe or not there, and the settings come back as they were.
    """
    if sys.platform != "linux" or not settings.migrate:
        return settings
    child = multiprocessing.get_context("fork").Process(target=_migrate, args=(settings,))
    child.start()
    child.join()
    if child.exitcode is None or child.exitcode < 0:
        fail("bringing the schema up to date was cut off and left nothing behind; start the service again")
    if child.exitcode:
        raise typer.Exit(child.exitcode)
    return replace(settings, migrate=False)


def _migrate(settings: Settings) -> None:
    """Says itself what went wrong: a cause does not travel between processes."""
    # Not the service's handlers: told to stop, this process must not end as if it had done its work.
    for sent in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sent, signal.SIG_DFL)
    try:
        with told_plainly(settings.data):
            migrate(settings)
    except typer.Exit as error:
        sys.exit(error.exit_code)
    except Exception as error:  # the border of the process: what leaves it is printed as a traceback
        log.exception("migration_failed")
        print(  # noqa: T201 - a command speaks to a person
            f"shipworthy-server: bringing the schema up to date failed ({type(error).__name__}) and left nothing "
            "behind; the line above, in the service's log, holds the cause",
            file=sys.stderr,
        )
        sys.exit(1)
