"""`shipworthy-server fsck`: the whole ledger checked, for a person or as JSON."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import make_url

from api.cli.opening import DATA_DEFAULT, DataOption, fail, no_deployment, settings_from, told_plainly
from api.cli.progress import bytes_told, records_told
from api.services import head_file
from api.settings import Settings
from models.blobs import local_folder
from models.database import Database
from models.keys.key_files import key_folder, load_key_files
from models.ledger import fsck as checks
from models.ledger.findings import Report


def fsck(
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON on standard output.")] = False,
    with_blobs: Annotated[
        bool, typer.Option("--blobs/--no-blobs", help="Also hash every blob of a local store.")
    ] = True,
    data: DataOption = DATA_DEFAULT,
) -> None:
    """Check every record, leaf, root, signature, key, projection and blob. Reads only; the service may run.

    Exit code 0 when all is well, 1 when something is not or could not be checked.
    """
    with told_plainly(data):
        settings = settings_from(data)
        outside = head_file(settings)
        if not outside.path.exists() and not _has_database(settings):
            fail(no_deployment(data))
        key = load_key_files(key_folder(settings.data)).log_key
        database = Database(settings.database_url)
        try:
            if not outside.path.exists() and not checks.was_opened(database):
                fail(no_deployment(data))
            blobs = local_folder(settings.blobs or settings.data / "blobs")
            report = checks.fsck(
                database,
                key,
                outside,
                records_told("checked"),
                blobs if with_blobs else None,
                bytes_told("hashed"),
            )
        finally:
            database.dispose()
    if blobs is None or not with_blobs:
        why = "they lie in an object store" if blobs is None else "--no-blobs"
        report = replace(report, notes=(*report.notes, f"no blob was read ({why})"))
    if as_json:
        typer.echo(json.dumps({"clean": report.clean, **asdict(report)}, ensure_ascii=False))
    else:
        typer.echo(rendered(report))
    if not report.clean:
        raise typer.Exit(1)


def _has_database(settings: Settings) -> bool:
    """False for a SQLite file that is missing; a server has to be asked."""
    url = make_url(settings.database_url)
    return url.get_backend_name() != "sqlite" or url.database is None or Path(url.database).exists()


def rendered(report: Report) -> str:
    """The report as lines for a person."""
    lines = [f"{count:>14,}  {what}" for what, count in report.checked.items()]
    lines += [f"Not proved: {note}" for note in report.notes]
    if report.clean:
        return "\n".join(("Checked", *lines, "All is well."))
    shown = len(report.problems)
    heading = "One problem" if report.problem_count == 1 else f"{report.problem_count:,} problems"
    if shown < report.problem_count:
        heading += f", the first {shown}"
    return "\n".join(("Checked", *lines, f"{heading}:", *(f"  - {problem}" for problem in report.problems)))
