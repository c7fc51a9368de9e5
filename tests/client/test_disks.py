"""Disks that are full, read-only or missing: training goes on, and what reaches the service is complete."""

import json
import os
import stat
from pathlib import Path

from shipworthy.journal import MEMORY_BYTES, Journal
from shipworthy.state import read_state
from shipworthy.sync import sync_folder
from tests.support.pipelines import run_program, token_of, told, warnings_of
from tests.support.service import RunningService
from tests.support.weather import closed_port

FULL = """
    import resource, shipworthy
    resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY))
    with shipworthy.run("disk/full", capture=False) as run:
        for step in range(2000):
            run.log(step=step, loss=1.0)
        run.note("after")
    print(run.id)
"""


def test_full_disk_sends_from_memory_with_one_warning(tmp_path: Path, sqlite_service: RunningService) -> None:
    client = sqlite_service.client("recorder")
    variables = {"SHIPWORTHY_URL": sqlite_service.url, "SHIPWORTHY_TOKEN": token_of(client)}
    done = run_program(FULL.format(limit=40_000), tmp_path, variables)
    assert done.returncode == 0
    (warned,) = warnings_of(done)
    assert "can't be written (" in warned
    found = told(client, done.stdout.strip())
    assert sorted(found.steps()) == list(range(2000))
    assert found.notes() == ["after"]
    assert found.states() == ["completed"]


def test_disk_that_takes_nothing_sends_from_memory(tmp_path: Path, sqlite_service: RunningService) -> None:
    client = sqlite_service.client("recorder")
    variables = {"SHIPWORTHY_URL": sqlite_service.url, "SHIPWORTHY_TOKEN": token_of(client)}
    done = run_program(FULL.format(limit=0), tmp_path, variables)
    assert done.returncode == 0
    found = told(client, done.stdout.strip())
    assert found.steps() == list(range(2000))
    assert found.states() == ["completed"]


def test_lines_from_memory_are_sent_in_order_and_few_pieces(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    source = """
        import resource, shipworthy, time
        with shipworthy.run("disk/slow", capture=False) as run:
            run.log(step=0, loss=1.0)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
            for step in range(1, 3000):
                run.log(step=step, loss=1.0)
                time.sleep(0.001)
        print(run.id)
    """
    client = sqlite_service.client("recorder")
    variables = {"SHIPWORTHY_URL": sqlite_service.url, "SHIPWORTHY_TOKEN": token_of(client)}
    found = told(client, run_program(source, tmp_path, variables).stdout.strip())
    assert found.steps() == list(range(3000))
    assert len([each for each in found.bodies["run.event"] if "blob" in each]) <= 4


def test_lines_in_memory_reach_the_disk_that_takes_them_again(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    """The service is away, the disk full for a while; nothing is written after it has room again."""
    source = """
        import resource, shipworthy, time
        run = shipworthy.run("disk/heals", capture=False)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
        for step in range(100):
            run.log(step=step, loss=1.0)
        run.note("full")
        time.sleep(2)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        time.sleep({wait})
        print(run.id, run._journal.memory_count(), flush=True)
        run.finish()
    """
    client = sqlite_service.client("recorder")
    for wait in (0, 2.5):
        url = f"http://127.0.0.1:{closed_port()}"
        done = run_program(source.format(wait=wait), tmp_path, {"SHIPWORTHY_URL": url})
        assert "lost" not in done.stderr
        run_id, waits = done.stdout.split()
        sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
        found = told(client, run_id)
        assert (found.steps(), found.notes(), found.states()) == (list(range(100)), ["full"], ["completed"])
        if wait:
            assert int(waits) == 0


def test_full_disk_leaves_the_state_whole(tmp_path: Path) -> None:
    source = """
        import pathlib, resource
        from shipworthy.state import StateFile
        journal = pathlib.Path("main.jsonl")
        holder = StateFile(journal)
        state = holder.acquire()
        state.sent = 7
        holder.save(state)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
        state.sent = 9
        state.pending = {str(number): {"what": "checkpoint"} for number in range(1000)}
        holder.save(state)
        holder.release()
        print(holder.acquire().sent)
    """
    done = run_program(source, tmp_path, {})
    assert (done.stdout.strip(), done.stderr) == ("9", "")
    assert read_state(tmp_path / "main.state").sent == 7
    assert {path.name for path in tmp_path.iterdir()} == {"main.state", "main.lock"}


def test_neither_disk_nor_service_says_how_much_is_lost(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    done = run_program(FULL.format(limit=0), tmp_path, {"SHIPWORTHY_URL": url})
    assert done.returncode == 0
    assert warnings_of(done)[-1] == "2004 records are lost: neither a disk nor the service took them"


def test_journal_that_can_not_be_written_goes_to_the_temporary_folder(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "spare").mkdir()
    source = """
        import shipworthy
        with shipworthy.run("disk/read-only", capture=False) as run:
            run.log(step=1, loss=1.0)
        print(run.id)
    """
    variables = {"SHIPWORTHY_DIR": str(tmp_path / "file" / "below"), "TMPDIR": str(tmp_path / "spare")}
    done = run_program(source, tmp_path, variables)
    assert done.returncode == 0
    warned, kept = warnings_of(done)
    assert warned.startswith(f"{tmp_path}/file/below can't be written (")
    (folder,) = (tmp_path / "spare").iterdir()
    assert folder.name in kept
    client = sqlite_service.client("recorder")
    sync_folder(folder, sqlite_service.url, token_of(client))
    assert told(client, done.stdout.strip()).steps() == [1]


def test_temporary_folder_laid_out_by_others_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    trap = tmp_path / f"shipworthy-{os.getuid()}"
    trap.mkdir()
    trap.chmod(0o777)
    source = """
        import shipworthy
        run = shipworthy.run("disk/trap", capture=False)
        print(run.folder)
        run.finish()
    """
    variables = {"SHIPWORTHY_DIR": str(tmp_path / "file" / "below"), "TMPDIR": str(tmp_path)}
    done = run_program(source, tmp_path, variables)
    assert done.stdout.strip() == "None"
    assert list(trap.iterdir()) == []


def test_journal_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        journal = Journal(tmp_path / "run", "main", lambda: None)
        journal.append(b'{"kind":"x"}\n')
        journal.keep_blob(b"diff")
        journal.release()
    finally:
        os.umask(old)
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in [tmp_path / "run", *(tmp_path / "run").rglob("*")]
    }
    assert {mode for name, mode in modes.items() if (tmp_path / "run" / name).is_file()} == {0o600}
    assert modes["run"] == modes["blobs"] == 0o700


def test_lines_in_memory_go_to_the_disk_when_it_takes_them_again(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.write_text("in the way")
    waiting: list[bool] = []
    journal = Journal(folder, "main", lambda: waiting.append(True))
    for number in range(3):
        journal.append(b'{"log":%d}\n' % number)
    assert (journal.memory_count(), waiting) == (3, [True])
    folder.unlink()
    journal.release()
    assert journal.path is not None
    assert journal.path.read_bytes() == b'{"log":0}\n{"log":1}\n{"log":2}\n'
    assert journal.memory_count() == 0


def test_memory_is_bounded_and_drops_the_oldest(tmp_path: Path) -> None:
    journal = Journal(None, "main", lambda: None)
    line = b"x" * (2**20 - 1) + b"\n"
    for number in range(20):
        journal.append(b"%d" % number + line)
    kept = journal.take_memory()
    assert sum(map(len, kept)) <= MEMORY_BYTES
    assert kept[-1].startswith(b"19x")
    assert journal.lost == 20 - len(kept)


def test_journal_lines_are_what_the_batch_route_takes(tmp_path: Path) -> None:
    source = """
        import shipworthy
        with shipworthy.run("disk/lines", capture=False) as run:
            run.note("one")
            run.log(step=3, loss=float("nan"))
    """
    run_program(source, tmp_path, {})
    (path,) = (tmp_path / ".shipworthy").glob("*/*.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [each.get("kind", "log") for each in lines] == [
        "run.registered",
        "run.event",
        "run.event",
        "log",
        "run.event",
    ]
    assert all(each["key"].startswith(f"{path.parent.name}:{path.stem}:") for each in lines if "key" in each)
    assert lines[3]["log"]["values"] == {"loss": "NaN"}
