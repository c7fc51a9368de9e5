"""Which live tests share a process when several run side by side, and which begin first."""

from pathlib import Path
from typing import Final

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

_HERE: Final = Path(__file__).parent
_SHARED: Final = {
    "test_pages.py": "browser",
    "test_walks.py": "browser",
    "test_decisions.py": "browser",
    "test_checks.py": "crew",
    "test_ends.py": "crew",
    "test_verifications.py": "crew",
    "test_mlflow_guard.py": "mlflow",
    "test_mlflow_races.py": "mlflow",
}
"""Files that share a browser, a service with its workers, or MLflow servers. Any other file is a group of its own: its
tests may share what they made."""
_EACH_ALONE: Final = frozenset({"test_endurance.py", "test_schemathesis.py", "test_durability.py"})
"""Files of long tests that share nothing."""
_LAST_OF_ITS_GROUP: Final = "test_ends.py"
"""Its last test kills one of the crew."""
_LONGEST_FIRST: Final = (
    "mlflow",
    "crew",
    "browser",
    "test_kills_lose_no_acknowledged_event",
    "test_demo.py",
    "test_embedded.py",
    "test_no_request_makes_the_server_fail_and_answers_are_as_described",
    "test_telemetry.py",
    "test_made_up_batches.py",
    "test_killed_server_loses_no_acknowledged_record",
    "test_cuts_after_the_commit_record_everything_once",
    "test_five_hundred_runs_leave_nothing_behind",
    "test_service_that_hangs_for_the_whole_run_costs_no_step",
)
"""What takes more than ten seconds: one of them as the last would leave the other processes idle."""


def _group(nodeid: str) -> str:
    path, _, test = nodeid.partition("::")
    name = path.rpartition("/")[2]
    return test if name in _EACH_ALONE else _SHARED.get(name, name)


class _Groups(LoadScopeScheduling):  # type: ignore[misc]  # xdist ships no types
    """xdist's own `--dist loadgroup` reads no group with pytest 9.2, and says nothing."""

    def _split_scope(self, nodeid: str) -> str:
        return _group(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    return _Groups(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """For `--no-loadscope-reorder`. Tests of a group keep their order, but for the one that is its last."""

    def place(item: pytest.Item) -> tuple[int, bool]:
        if not item.path.is_relative_to(_HERE):
            return -1, False
        group = _group(item.nodeid).partition("[")[0]
        order = _LONGEST_FIRST.index(group) if group in _LONGEST_FIRST else len(_LONGEST_FIRST)
        return order, item.path.name == _LAST_OF_ITS_GROUP

    items.sort(key=place)
