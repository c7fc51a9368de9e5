"""`shipworthy sync DIR`: on the core alone, so that it runs where training ran."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Final

from shipworthy.cli.exits import Exit
from shipworthy.errors import UsageError
from shipworthy.pruning import prune_folder
from shipworthy.settings import read_settings
from shipworthy.sync import SyncReport, sync_folder

DAY_SECONDS: Final = 86400.0


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
    parser.add_argument(
        "--prune", action="store_true", help="then delete journals of ended runs that were sent whole"
    )
    parser.add_argument(
        "--older-than", type=days, default="7d", metavar="AGE", help="what --prune leaves alone (7d)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    given = parser.parse_args(arguments)
    settings = read_settings(given.url)
    if settings.url is None:
        raise UsageError("no service is named; set SHIPWORTHY_URL to its address, or give --url")
    folder = given.dir or settings.folder
    report = sync_folder(folder, settings.url, settings.token, again=given.again, on_wait=_tell_wait)
    if given.prune:
        report.pruned = prune_folder(folder, given.older_than * DAY_SECONDS)
    if given.json:
        sys.stdout.write(json.dumps(asdict(report), indent=2) + "\n")
    else:
        sys.stdout.write(told(report) + "\n")
    left = report.refused + report.refused_before + report.kept + report.unhashed
    return Exit.NEGATIVE if left else Exit.OK


def told(report: SyncReport) -> str:
    """What was done, and only what is left where something is."""
    parts = [f"{report.sent} records of {_count(report.runs, 'run')} sent"]
    if report.refused:
        parts.append(f"{report.refused} refused: see {_files(report)}")
    if report.refused_before:
        parts.append(
            f"{report.refused_before} refused before: see {_files(report)}, and try them again with --again"
        )
    busy = report.kept - report.waiting - report.unregistrable
    if busy:
        parts.append(f"{busy} kept: another process is sending them")
    if report.unregistrable:
        parts.append(
            f"{report.unregistrable} kept: the registration of their run is refused ({report.why_unregistrable}); "
            "when that is mended, sync again"
        )
    if report.waiting:
        parts.append(
            f"{report.waiting} kept: their run is not registered yet, which the journal of its first process does; "
            "sync that one too"
        )
    if report.unhashed:
        parts.append(
            f"{report.unhashed} wait for their files: they lie on another machine, or the run goes on"
        )
    if report.pruned:
        parts.append(f"journals of {_count(report.pruned, 'run')} deleted")
    return "; ".join(parts)


def _files(report: SyncReport) -> str:
    first, *others = report.refused_in or ["*.refused beside the journals"]
    return f"{first} and {_count(len(others), 'more file')}" if others else first


def _tell_wait(reason: str, seconds: float) -> None:
    sys.stderr.write(f"shipworthy: {reason}; trying again in {seconds:.0f} s\n")


def days(text: str) -> int:
    """Days of "7d". Raises ArgumentTypeError for anything else."""
    if not (text.endswith("d") and text[:-1].isdecimal() and len(text) < 7):
        raise argparse.ArgumentTypeError(f"{text!r} is no age; write a number of days, such as 7d")
    return int(text[:-1])


def _count(number: int, one: str) -> str:
    return f"{number} {one}" if number == 1 else f"{number} {one}s"
