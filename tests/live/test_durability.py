"""`kill -9` of the real server under load: nothing that it acknowledged is lost, and the log stays whole."""

from pathlib import Path

from benchmarks.support.crashes import check_ledger, crash_repeatedly
from tests.support.databases import DatabaseUrls

KILLS = 3
"""`make bench` kills 20 times."""


def test_killed_server_loses_no_acknowledged_record(database_urls: DatabaseUrls, tmp_path: Path) -> None:
    outcome = crash_repeatedly(tmp_path / "data", database_urls, KILLS)
    assert outcome.acknowledged > 0
    assert (outcome.lost, outcome.gaps, outcome.unexpected) == ([], 0, [])
    checked = check_ledger(tmp_path / "data", database_urls)
    assert checked.returncode == 0, checked.stdout + checked.stderr
