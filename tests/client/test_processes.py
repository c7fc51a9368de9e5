"""Killed, forked, spawned, many at once: what was acknowledged is recorded, once."""

import random
import signal
import subprocess
from pathlib import Path

import pytest

from shipworthy.identity import new_run_id
from shipworthy.sync import sync_folder
from tests.support.pipelines import environment, program, run_program, token_of, told
from tests.support.service import RunningService
from tests.support.weather import hanging

ACKNOWLEDGING = """
    import os, shipworthy
    run = shipworthy.run("processes/killed", capture=False)
    print(run.id, flush=True)
    for step in range(100_000):
        if step % 10:
            run.log(step=step, loss=1 / (step + 1))
        else:
            run.note(f"step {step}")
        os.write(1, b"%d\\n" % step)
"""


def kill_at(events: int, folder: Path, variables: dict[str, str]) -> tuple[str, int]:
    """Kills the program after so many acknowledged events; its run and the last one that was acknowledged."""
    with subprocess.Popen(
        program(ACKNOWLEDGING), cwd=folder, env=environment(**variables), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        run_id = process.stdout.readline().strip()
        for _ in range(events):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        acknowledged = [line for line in process.stdout if line.endswith("\n")]
    return run_id, int(acknowledged[-1]) if acknowledged else events - 1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_kill_loses_no_acknowledged_event(seed: int, tmp_path: Path, sqlite_service: RunningService) -> None:
    client = sqlite_service.client("recorder")
    token = token_of(client)
    events = random.Random(seed).randrange(20, 400)
    variables = {"SHIPWORTHY_URL": sqlite_service.url, "SHIPWORTHY_TOKEN": token}
    run_id, last = kill_at(events, tmp_path, variables)
    sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token)
    found = told(client, run_id)
    steps = found.steps() + [int(note.removeprefix("step ")) for note in found.notes()]
    assert sorted(steps) == list(range(len(steps)))
    assert len(steps) > last
    assert found.states() == []


FORKING = """
    import os, time, shipworthy
    run = shipworthy.run("processes/forked", capture=False)
    for step in range(50):
        run.log(step=step, worker=-1)
    time.sleep({pause})
    children = []
    for worker in range(8):
        run.note(f"about to fork {{worker}}")
        child = os.fork()
        if child == 0:
            for step in range(20):
                run.log(step=1000 + worker * 100 + step, worker=worker)
            run.note(f"worker {{worker}}")
            os._exit(0)
        children.append(child)
        for step in range(20):
            run.log(step=10_000 + worker * 100 + step, worker=-1)
    codes = [os.waitpid(child, 0)[1] for child in children]
    assert codes == [0] * 8, codes
    run.finish()
    print(run.id)
"""
FORKED_STEPS = sorted(
    [*range(50)]
    + [1000 + worker * 100 + step for worker in range(8) for step in range(20)]
    + [10_000 + worker * 100 + step for worker in range(8) for step in range(20)]
)


def test_forked_workers_record_through_their_parent(tmp_path: Path, sqlite_service: RunningService) -> None:
    client = sqlite_service.client("recorder")
    variables = {"SHIPWORTHY_URL": sqlite_service.url, "SHIPWORTHY_TOKEN": token_of(client)}
    done = run_program(FORKING.format(pause=0), tmp_path, variables)
    assert (done.returncode, done.stderr) == (0, "")
    found = told(client, done.stdout.strip())
    assert sorted(found.steps()) == FORKED_STEPS
    assert sorted(note for note in found.notes() if note.startswith("worker")) == [
        f"worker {n}" for n in range(8)
    ]
    assert found.states() == ["completed"]


def test_fork_while_the_sender_waits_for_an_answer_ends(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    client = sqlite_service.client("recorder")
    with hanging() as port:
        # After the pause the sender is within a request, with whatever locks that takes.
        done = run_program(
            FORKING.format(pause=0.5), tmp_path, {"SHIPWORTHY_URL": f"http://127.0.0.1:{port}"}, 60
        )
    assert done.returncode == 0, done.stderr
    sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    found = told(client, done.stdout.strip())
    assert sorted(found.steps()) == FORKED_STEPS
    assert found.states() == ["completed"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_every_start_method_of_multiprocessing_works(
    method: str, tmp_path: Path, sqlite_service: RunningService
) -> None:
    (tmp_path / "training.py").write_text(
        f"""
import multiprocessing, shipworthy

def work(number):
    inherited = shipworthy.current_run()
    if inherited is not None:
        inherited.note(f"child {{number}}")
        return inherited.id
    with shipworthy.run("processes/child", capture=False) as run:
        run.note(f"child {{number}}")
    return run.id

if __name__ == "__main__":
    with shipworthy.run("processes/parent", capture=False) as run:
        run.log(step=1, loss=1.0)
        with multiprocessing.get_context("{method}").Pool(3) as pool:
            ids = pool.map(work, range(6), chunksize=1)
            pool.close()
            pool.join()
    print(run.id, *ids)
"""
    )
    client = sqlite_service.client("recorder")
    token = token_of(client)
    variables = {"SHIPWORTHY_URL": sqlite_service.url, "SHIPWORTHY_TOKEN": token}
    done = run_program(
        "import runpy; runpy.run_path('training.py', run_name='__main__')", tmp_path, variables
    )
    if method != "fork":
        # These import the main module by its file.
        done = subprocess.run(
            [*program("")[:1], "training.py"],
            cwd=tmp_path,
            env=environment(**variables),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token)
    parent, *children = done.stdout.split()
    assert told(client, parent).states() == ["completed"]
    notes = [note for run_id in {*children} for note in told(client, run_id).notes()]
    assert sorted(notes) == [f"child {number}" for number in range(6)]


def test_many_writers_share_a_run_and_a_folder(tmp_path: Path, sqlite_service: RunningService) -> None:
    client = sqlite_service.client("recorder")
    run_id = new_run_id()
    source = """
        import shipworthy, sys
        run = shipworthy.run("processes/many", run_id=sys.argv[1], capture=False)
        for step in range(100):
            run.log(step=int(sys.argv[2]) * 100 + step, loss=0.0)
        run.note(f"writer {sys.argv[2]}")
    """
    writers = [
        subprocess.Popen(
            [*program(source), run_id, str(number)],
            cwd=tmp_path,
            env=environment(SHIPWORTHY_DIR=str(tmp_path / "shared")),
            stderr=subprocess.DEVNULL,
        )
        for number in range(8)
    ]
    assert [writer.wait(60) for writer in writers] == [0] * 8
    sync_folder(tmp_path / "shared", sqlite_service.url, token_of(client))
    found = told(client, run_id)
    assert sorted(found.steps()) == list(range(800))
    assert len([note for note in found.notes() if note.startswith("writer")]) == 8


def test_runs_in_one_process_leave_nothing_behind(tmp_path: Path, sqlite_service: RunningService) -> None:
    token = token_of(sqlite_service.client("recorder"))
    source = """
        import os, threading, shipworthy
        def one():
            with shipworthy.run("processes/row", capture=False) as run:
                run.log(step=1, loss=1.0)
        def open_things():
            assert shipworthy.flush(60)
            return len(os.listdir("/proc/self/fd")), threading.active_count()
        for _ in range(5):
            one()
        before = open_things()
        for _ in range(50):
            one()
        print(before == open_things(), before)
    """
    done = run_program(source, tmp_path, {"SHIPWORTHY_URL": sqlite_service.url, "SHIPWORTHY_TOKEN": token})
    assert done.stdout.startswith("True"), done.stdout + done.stderr
