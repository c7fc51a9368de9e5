"""`kill -9` of the server under load on each database: no acknowledged record is lost, and the log stays whole.

SHIPWORTHY_BENCH_KILLS sets how many times, 20 unless said otherwise.
"""

import os
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.support.crashes import check_ledger, crash_repeatedly
from benchmarks.support.figures import Figure, finish
from benchmarks.support.load import explain
from benchmarks.support.processes import new_database, postgresql, require_durable, sqlite_database
from tests.support.databases import DatabaseUrls

KILLS: Final = int(os.environ.get("SHIPWORTHY_BENCH_KILLS", "20"))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = _figures(folder / "sqlite", sqlite_database(folder / "database"))
        with postgresql() as postgres:
            figures += _figures(folder / "postgresql", new_database(postgres, "shipworthy"))
    finish(figures)


def _figures(folder: Path, urls: DatabaseUrls) -> list[Figure]:
    require_durable(urls)
    outcome = crash_repeatedly(folder, urls, KILLS)
    for line in (*outcome.unexpected[:5], *outcome.lost[:5]):
        explain(f"{urls.dialect}: {line}")
    checked = check_ledger(folder, urls)
    if checked.returncode != 0:
        explain(f"fsck on {urls.dialect}:\n{checked.stdout}{checked.stderr}")
    explain(f"{urls.dialect}: {outcome.kills} kills, {outcome.acknowledged} records acknowledged")
    wrong = len(outcome.lost) + outcome.gaps + len(outcome.unexpected)
    return [
        Figure(f"durability_{urls.dialect}_lost", len(outcome.lost), "records", wrong, 0, "at most"),
        Figure(
            f"durability_{urls.dialect}_acknowledged",
            outcome.acknowledged,
            "records",
            outcome.acknowledged / KILLS,
            1,
        ),
        Figure(
            f"durability_{urls.dialect}_fsck", checked.returncode, "status", checked.returncode, 0, "at most"
        ),
    ]


if __name__ == "__main__":
    main()
