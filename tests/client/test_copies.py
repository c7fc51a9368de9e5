"""Journals sent from copies, in any order, with and without what is known of their sending, and with answers that are
lost: each line once."""

import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shipworthy
from shipworthy import chunks
from shipworthy.errors import NotDelivered
from shipworthy.sync import find_journals, sync_folder
from tests.support.pipelines import run_program, token_of, told
from tests.support.service import RunningService
from tests.support.weather import CuttingProxy

COPIES = 3
PLACES = st.integers(0, COPIES)
STEPS = st.one_of(
    st.tuples(st.just("log"), st.integers(1, 12)),
    st.tuples(st.just("note"), st.just(0)),
    st.tuples(st.just("copy"), st.integers(1, COPIES)),
    st.tuples(st.just("sync"), PLACES),
    st.tuples(st.just("cut"), PLACES),
    st.tuples(st.just("forget"), PLACES),
)


def forget(folder: Path) -> None:
    for state in folder.glob("*/*.state"):
        state.unlink()


def copy(source: Path, target: Path) -> None:
    """As rsync does it: what the target knows of its own sending stays."""
    for path in source.glob("*/*.jsonl"):
        (target / path.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / path.parent.name / path.name)


@given(steps=st.lists(STEPS, min_size=4, max_size=16))
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_every_line_arrives_once_from_whatever_copies_are_sent(
    steps: list[tuple[str, int]], own_folder: None, sqlite_service: RunningService
) -> None:
    client = sqlite_service.client("recorder")
    token = token_of(client)
    asked = count()
    port = int(sqlite_service.url.rpartition(":")[2])
    with (
        TemporaryDirectory() as place,
        pytest.MonkeyPatch.context() as patched,
        CuttingProxy(port, lambda request: next(asked) % 3 == 2) as proxy,
    ):
        patched.setattr(chunks, "STRETCH_BYTES", 400)
        folders = [Path(place) / str(number) for number in range(COPIES + 1)]
        run = shipworthy.run("sync/copies", capture=False, dir=folders[0])
        logged = notes = 0
        for what, number in steps:
            if what == "log":
                for step in range(logged, logged + number):
                    run.log(step=step, loss=1.0)
                logged += number
            elif what == "note":
                run.note(f"note {notes}")
                notes += 1
            elif what == "copy":
                copy(folders[0], folders[number])
            elif what == "forget":
                forget(folders[number])
            elif what == "cut" and list(find_journals(folders[number])):
                with suppress(NotDelivered):
                    sync_folder(folders[number], f"http://127.0.0.1:{proxy.port}", token)
            elif list(find_journals(folders[number])):
                sync_folder(folders[number], sqlite_service.url, token)
        run.finish()
        last = sync_folder(folders[0], sqlite_service.url, token)
    found = told(client, run.id)
    assert (last.refused, last.kept) == (0, 0)
    assert found.steps() == list(range(logged))
    assert found.notes() == [f"note {number}" for number in range(notes)]
    assert found.states() == ["completed"]


def test_copies_of_a_run_without_a_service_are_sent_oldest_first(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    source = """
        import shutil, shipworthy
        with shipworthy.run("sync/air", capture=False) as run:
            for step in range(1000):
                if step in (100, 600):
                    shutil.copytree(".shipworthy", f"copy{step}")
                run.log(step=step, loss=1.0)
        print(run.id)
    """
    run_id = run_program(source, tmp_path, {}).stdout.strip()
    client = sqlite_service.client("recorder")
    for name in ("copy100", "copy600", ".shipworthy"):
        sync_folder(tmp_path / name, sqlite_service.url, token_of(client))
    assert told(client, run_id).steps() == list(range(1000))
