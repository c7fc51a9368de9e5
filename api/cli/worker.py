"""`shipworthy-server worker`: runs contract checks and statistics for a service, beside it or near the data."""

import os
import sys
from typing import Annotated, NoReturn

import typer

from api.cli.numbers import whole_number
from api.cli.opening import fail, told_plainly
from api.workers.settings import (
    WorkerSettings,
    check_url,
    parse_roots,
    parse_seconds,
    parse_size,
    require_packages,
    with_registry,
)

RootOption = Annotated[
    list[str] | None,
    typer.Option(
        "--root",
        metavar="NAME=PATH",
        help="A folder or an fsspec URL (s3://bucket/data) that checks may read, by name; repeat it for more.",
    ),
]


def worker(
    url: Annotated[str, typer.Option(envvar="SHIPWORTHY_URL", help="Address of the service.")],
    root: RootOption = None,
    memory: Annotated[str, typer.Option(help="What one check may take, such as 512MiB or 8GiB.")] = "2GiB",
    time_limit: Annotated[
        str, typer.Option(help="How long one check may run, such as 90s, 30m or 2h.")
    ] = "1h",
    slots: Annotated[
        int,
        typer.Option(parser=whole_number(1, 64), metavar="NUMBER", help="Checks that run at the same time."),
    ] = 1,
    threads: Annotated[
        int, typer.Option(parser=whole_number(1, 64), metavar="NUMBER", help="Threads of one check.")
    ] = 1,
    allow_sql: Annotated[
        bool, typer.Option("--allow-sql", help="Also evaluate rules that are SQL, one SELECT each.")
    ] = False,
    log_level: Annotated[str, typer.Option(envvar="SHIPWORTHY_LOG_LEVEL", hidden=True)] = "info",
) -> None:
    """Run contract checks and statistics of evaluations for a service.

    Claims work over HTTP and needs no database; without --root it takes statistics alone. With SHIPWORTHY_MLFLOW_URI
    it also reconciles that registry with what was decided.

    The key comes from SHIPWORTHY_TOKEN and has the role worker; make it with: shipworthy-server keys create --role
    worker.

    Each piece of work runs in a process of its own that is ended at its limits. Stop it with Ctrl-C or SIGTERM: what
    runs gets 20 s to finish, then another worker takes it over.
    """
    with told_plainly():
        settings = WorkerSettings(
            url=check_url(url),
            roots=parse_roots(root or ()),
            memory_bytes=parse_size(memory),
            time_seconds=parse_seconds(time_limit),
            allow_sql=allow_sql,
            slots=slots,
            threads=threads,
            log_level=log_level,
        )
        settings = with_registry(settings)
        require_packages()
    if not os.environ.get("SHIPWORTHY_TOKEN", "").strip():
        fail(
            "put the worker's key into SHIPWORTHY_TOKEN; have one made with: shipworthy-server keys create "
            "--role worker"
        )
    noun = "piece" if slots == 1 else "pieces"
    checks = f"checks on the roots {', '.join(sorted(settings.roots))} and " if settings.roots else ""
    print(  # noqa: T201 - a command speaks to a person
        f"The worker takes {checks}statistics of evaluations from {settings.url}: {slots} {noun} of work at a time, "
        f"each with {memory} and {time_limit}.{_reconciled(settings)}",
        file=sys.stderr,
        flush=True,
    )
    _become(settings)


def _reconciled(settings: WorkerSettings) -> str:
    if not settings.mlflow_uri:
        return ""
    return f" It compares the registry {settings.registry} at {settings.mlflow_uri} with what was decided."


def worker_command(settings: WorkerSettings) -> list[str]:
    """The worker as a program of its own; -P keeps modules of the working folder out of it."""
    return [sys.executable, "-P", "-m", "api.workers", settings.to_json()]


def _become(settings: WorkerSettings) -> NoReturn:
    """In the place of this process, which has loaded what only the service needs."""
    command = worker_command(settings)
    os.execv(command[0], command)
