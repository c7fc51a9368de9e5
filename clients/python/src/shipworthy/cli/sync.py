"""`shipworthy sync DIR`: on the core alone, so that it runs where training ran."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from shipworthy.cli.exits import Exit
from shipworthy.errors import UsageError
from shipworthy.settings import read_settings
from shipworthy.sync import SyncReport, sync_folder


def sync(arguments: list[str]) -> int:
    """Raises NotDelivered, JournalError and UsageError for main() to tell."""
    parser = argparse.ArgumentParser(
        prog="shipworthy sync",
        description="Send what journals still keep, of any machine and also of a run that goes on.",
        epilog="Doing it again is harmless. What the service refused is kept beside the journal in *.refused.",
    )
    parser.add_argument("dir", type=Path, nargs="?", help="SHIPWORTHY_DIR, or the folder of one run in it")
    parser.add_argument("--url", help="address of the service; SHIPWORTHY_URL otherwise")
    parser.add_argument("--again", action="store_true", help="try also what was refused before")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    given = parser.parse_args(arguments)
    settings = read_settings(given.url)
    if settings.url is None:
        raise UsageError("no service is named; set SHIPWORTHY_URL to its address, or give --url")
    report = sync_folder(given.dir or settings.folder, settings.url, settings.token, again=given.again)
    if given.json:
        sys.stdout.write(json.dumps(asdict(report), indent=2) + "\n")
    else:
        sys.stdout.write(told(report) + "\n")
    return Exit.NEGATIVE if report.refused or report.kept or report.unhashed else Exit.OK


def told(report: SyncReport) -> str:
    """What was done, and only what is left where something is."""
    parts = [f"{report.sent} records of {_count(report.runs, 'run')} sent"]
    if report.refused:
        parts.append(f"{report.refused} refused: see *.refused beside the journals")
    if report.kept:
        parts.append(f"{report.kept} kept: another process is sending them")
    if report.unhashed:
        parts.append(
            f"{report.unhashed} wait for their files: they lie on another machine, or the run goes on"
        )
    return "; ".join(parts)


def _count(number: int, one: str) -> str:
    return f"{number} {one}" if number == 1 else f"{number} {one}s"
